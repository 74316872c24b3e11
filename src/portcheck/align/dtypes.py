"""The dtypes that a port leaves open, once its parameters are matched."""

from __future__ import annotations

from collections.abc import Mapping

from portcheck.core.dtype import DType

_PROMOTED = "dtype(promote("


def promoted_from(dtype: DType, known: Mapping[str, DType]) -> DType | None:
    """What `dtype(promote(x, y))` is where x and y have one dtype: that dtype. None for anything else."""
    if not dtype.name.startswith(_PROMOTED):
        return None
    names = dtype.name[len(_PROMOTED) :].rstrip(")").split(", ")
    found = {known.get(f"dtype({name})") for name in names}
    return next(iter(found)) if len(found) == 1 else None
