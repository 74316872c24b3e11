"""What compiler flags and assumptions change in the meaning of a source."""

from __future__ import annotations

from portcheck.frontends.cuda import CudaOptions
from portcheck.pipeline.request import Request

_EFFECTS = {
    "-use_fast_math": "fast-math intrinsics, flush to zero, approximate division and square root",
    "-fmad=false": "no contraction of products and sums",
    "-fmad=true": "products and sums may be contracted",
    "-ftz=true": "denormals are flushed to zero",
    "-ftz=false": "denormals are kept",
    "-prec-div=false": "approximate division",
    "-prec-div=true": "correctly rounded division",
    "-prec-sqrt=false": "approximate square root",
    "-prec-sqrt=true": "correctly rounded square root",
}


def cuda_options(request: Request) -> CudaOptions:
    """The options of the CUDA frontend that follow from the request."""
    flags = request.nvcc_flags.split()
    fast = "-use_fast_math" in flags
    return CudaOptions(
        defines=request.defines,
        include_roots=request.include_roots,
        fast_math=fast,
        fmad="-fmad=false" not in flags,
        flush_to_zero=fast or "-ftz=true" in flags,
        precise_division=not fast and "-prec-div=false" not in flags,
    )


def stated_options(request: Request) -> tuple[str, ...]:
    """Flags and assumptions as the report repeats them."""
    lines = [f"nvcc {flag}: {_EFFECTS.get(flag, 'ignored')}" for flag in request.nvcc_flags.split()]
    lines += [f"define {name}={value}" for name, value in request.defines]
    lines += [f"shape {name}={value}" for name, value in request.shapes]
    lines += [f"dtype {name}={value}" for name, value in request.dtypes]
    lines += [f"value {name}={value}" for name, value in request.values]
    lines += [f"assumed: {assumption}" for assumption in request.assumptions]
    return tuple(lines)
