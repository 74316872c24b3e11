"""The CUDA reader: source text and the headers in reach, lowered into the IR."""

from __future__ import annotations

from portcheck.frontends.cuda.module import CudaModule, read_cuda
from portcheck.frontends.cuda.options import CudaOptions

__all__ = ["CudaModule", "CudaOptions", "read_cuda"]
