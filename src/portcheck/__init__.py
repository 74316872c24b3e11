"""portcheck: a CUDA-to-NKI migration diff assistant."""
