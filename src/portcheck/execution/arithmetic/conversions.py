"""Changes of format: as C converts, as CUDA's instructions round and saturate, and of the bits alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias, cast

import numpy as np

from portcheck.core.dtype import BFLOAT16, BOOL, FLOAT32, FLOAT64, DType
from portcheck.core.errors import InputError
from portcheck.execution.arithmetic.formats import Value, is_native, limits, storage
from portcheck.execution.arithmetic.rounding import rounded
from portcheck.ir import Rounding

Conversion: TypeAlias = Callable[[Value], Value]

_NEAREST = frozenset({Rounding.NEAREST_EVEN, Rounding.EXACT})
_EXACT_INTEGER = 2**53
"""Up to this every integer is a float64."""


def conversion(
    source: DType, target: DType, rounding: Rounding = Rounding.NEAREST_EVEN, saturating: bool = False
) -> Conversion:
    """How values of `source` become values of `target`.

    A float beyond an integer's range gives the nearest end of it and NaN gives 0, as `cvt` of PTX does, whether or
    not `saturating` is stated: C++ leaves it undefined.
    """
    if source == target and not saturating:
        return lambda value: value
    if target == BOOL:
        return lambda value: cast(Value, value != 0)
    if target.is_integer:
        return _to_integer(source, target, rounding, saturating)
    if source.is_float:
        return _between_floats(source, target, rounding, saturating)
    return _from_integer(source, target, rounding, saturating)


def literal(value: int | float | bool, dtype: DType) -> Value:
    """A number of the program in `dtype`, wrapped or rounded to it."""
    kept = storage(dtype)
    if dtype.is_integer:
        whole = int(value) if math.isfinite(value) else 0
        wrapped = whole & ((1 << 8 * kept.itemsize) - 1)
        return cast(Value, np.array(wrapped, dtype=f"u{kept.itemsize}").view(kept)[()])
    if dtype.is_float:
        return conversion(FLOAT64, dtype)(cast(Value, np.float64(value)))
    return cast(Value, kept.type(value))


def bits(source: DType, target: DType) -> Conversion:
    """The bits of `source` read as `target`; InputError where their widths differ."""
    kept, wanted = storage(source), storage(target)
    if kept.itemsize != wanted.itemsize:
        raise InputError(f"the bits of a {source} are not those of a {target}")
    return lambda value: cast(Value, value.view(wanted))


def _between_floats(source: DType, target: DType, rounding: Rounding, saturating: bool) -> Conversion:
    wanted = storage(target)
    is_plain = rounding in _NEAREST and not saturating
    if is_plain and (is_native(target) or (target == BFLOAT16 and source == FLOAT32) or rounding is Rounding.EXACT):
        return lambda value: value.astype(wanted)
    return lambda value: rounded(value.astype(np.float64), None, target, rounding, saturating)


def _to_integer(source: DType, target: DType, rounding: Rounding, saturating: bool) -> Conversion:
    wanted = storage(target)
    least, greatest = limits(wanted)
    if not source.is_float:
        if not saturating or source == BOOL:
            return lambda value: value.astype(wanted)
        return lambda value: _clamped(value, least, greatest).astype(wanted)
    whole = _whole(rounding)

    def convert(value: Value) -> Value:
        wide = whole(value.astype(np.float64))
        is_high, is_low = wide >= float(greatest), wide <= float(least)
        inside = np.where(is_high | is_low | np.isnan(wide), 0.0, wide).astype(wanted)
        limited = np.where(is_high, wanted.type(greatest), np.where(is_low, wanted.type(least), inside))
        return cast(Value, limited[()])

    return convert


def _clamped(value: Value, least: int, greatest: int) -> Value:
    own_least, own_greatest = limits(value.dtype)
    return cast(Value, np.clip(value, max(least, own_least), min(greatest, own_greatest)))


def _whole(rounding: Rounding) -> Conversion:
    wanted = {
        Rounding.NEAREST_EVEN: np.rint, Rounding.EXACT: np.trunc, Rounding.TOWARD_ZERO: np.trunc,
        Rounding.UP: np.ceil, Rounding.DOWN: np.floor,
    }  # fmt: skip
    if rounding not in wanted:
        raise InputError(f"rounding {rounding} is not executed", "it has no one result")
    return cast(Conversion, wanted[rounding])


def _from_integer(source: DType, target: DType, rounding: Rounding, saturating: bool) -> Conversion:
    wanted = storage(target)
    is_direct = rounding in _NEAREST and not saturating
    if is_direct and (target in (FLOAT64, FLOAT32) or source == BOOL):
        return lambda value: value.astype(wanted)

    def convert(value: Value) -> Value:
        near = value.astype(np.float64)
        return rounded(near, _lost(value, near), target, rounding, saturating)

    return convert


def _lost(value: Value, near: Value) -> Value | None:
    """The sign of what a 64-bit integer lost as a float64; None where nothing did."""
    if value.dtype.itemsize < np.dtype(np.int64).itemsize or not (np.abs(near) > _EXACT_INTEGER).any():
        return None
    exact = [int(one) - int(other) for one, other in zip(np.ravel(value), np.ravel(near), strict=True)]
    return cast(Value, np.sign(np.array(exact, dtype=np.float64)).reshape(np.shape(near))[()])
