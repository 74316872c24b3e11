"""Python's own functions and methods, as far as kernels use them while they are traced."""
