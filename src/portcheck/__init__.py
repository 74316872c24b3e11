"""portcheck: a CUDA-to-NKI migration diff assistant."""

__version__ = "0.1.0"
