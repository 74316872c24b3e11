"""One kernel as a whole: its body from first statement to results, and what its file does outside of kernels."""
