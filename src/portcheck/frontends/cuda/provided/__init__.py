"""What CUDA provides for one thread: intrinsics, parts of words, complex numbers, textures, fragments, checks."""
