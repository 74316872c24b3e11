"""Number formats as NumPy holds them."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from portcheck.core.dtype import FLOAT16, FLOAT32, FLOAT64, TFLOAT32, DType
from portcheck.core.errors import InputError
from portcheck.knowledge import DTypeFacts, load

Value: TypeAlias = np.ndarray[Any, np.dtype[Any]]
"""Numbers of one format: an array, or a NumPy scalar where one stands for all elements."""

NumpyType: TypeAlias = np.dtype[Any]


@cache
def storage(dtype: DType) -> NumpyType:
    """How elements of `dtype` are kept; InputError for a format that NumPy and ml_dtypes do not have.

    Units that hold several numbers are kept as their bits.
    """
    known = load().dtype(dtype.name)
    if known is not None and known.elements > 1:
        return np.dtype(f"u{known.bits // 8}")
    name = FLOAT32.name if dtype == TFLOAT32 else dtype.name
    known = load().dtype(dtype.name)
    if known is not None and known.elements > 1:
        return np.dtype(f"uint{known.bits}")
    own = getattr(ml_dtypes, name, None)
    try:
        found = np.dtype(name if own is None else own)
    except TypeError:
        found = np.dtype(np.void)
    if dtype.is_symbolic or (found.kind in "iu") != dtype.is_integer or found.itemsize == 0:
        hint = "state its type with --define" if dtype.is_symbolic else ""
        raise InputError(f"nothing is executed in the format {dtype}", hint)
    return found


@cache
def facts(dtype: DType) -> DTypeFacts:
    """What `dtype` can represent; InputError for a format that is not in the mappings."""
    found = load().dtype(dtype.name)
    if found is None:
        raise InputError(f"the format {dtype} is not in mappings/dtypes")
    return found


@cache
def limits(kept: NumpyType) -> tuple[int, int]:
    """The least and the greatest number of an integer format."""
    found = np.iinfo(kept)
    return int(found.min), int(found.max)


def is_native(dtype: DType) -> bool:
    """Whether NumPy itself rounds to `dtype` from any wider format once: float64, float32 and float16."""
    return dtype in (FLOAT64, FLOAT32, FLOAT16)


def is_uniform(value: Value) -> bool:
    """Whether `value` is one number for all threads."""
    return value.ndim == 0
