"""Rounding to any format, in any direction, once."""

from __future__ import annotations

from typing import cast

import numpy as np

from portcheck.core.dtype import FLOAT64, DType
from portcheck.core.errors import InputError
from portcheck.execution.arithmetic.exact import to_odd
from portcheck.execution.arithmetic.formats import Value, facts, is_native, storage
from portcheck.ir import Rounding

_NEAREST = frozenset({Rounding.NEAREST_EVEN, Rounding.EXACT})


def rounded(
    value: Value,
    error: Value | None,
    dtype: DType,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    saturating: bool = False,
) -> Value:
    """The float64 `value`, which is off by something of the sign of `error`, rounded to the float format `dtype`.

    A value that is not exact must have at least two bits more than the format, which float64 has for all others.
    """
    if dtype == FLOAT64:
        return value if error is None else _towards(value, error, rounding)
    if error is not None:
        value = to_odd(value, error)
    if is_native(dtype) and rounding in _NEAREST and not saturating:
        return value.astype(storage(dtype))
    return _quantised(value, dtype, rounding, saturating)


def _quantised(value: Value, dtype: DType, rounding: Rounding, saturating: bool) -> Value:
    known = facts(dtype)
    _, exponent = np.frexp(value)
    quantum = np.maximum(exponent - known.significand_bits, known.min_subnormal_exponent)
    steps = _to_integer(np.ldexp(value, -quantum), rounding)
    result = np.where(np.isfinite(value), np.ldexp(steps, quantum), value)
    limit = _beyond(result, dtype, rounding, saturating)
    return cast(Value, np.where(np.abs(result) > known.max_finite, limit, result).astype(storage(dtype))[()])


def _to_integer(value: Value, rounding: Rounding) -> Value:
    if rounding in _NEAREST:
        return cast(Value, np.rint(value))
    if rounding is Rounding.TOWARD_ZERO:
        return cast(Value, np.trunc(value))
    if rounding is Rounding.UP:
        return cast(Value, np.ceil(value))
    if rounding is Rounding.DOWN:
        return cast(Value, np.floor(value))
    raise InputError(f"rounding {rounding} is not executed", "it has no one result")


def _beyond(value: Value, dtype: DType, rounding: Rounding, saturating: bool) -> Value:
    """What becomes of a value beyond the finite range."""
    known = facts(dtype)
    largest = np.copysign(known.max_finite, value)
    if saturating:
        return cast(Value, largest)
    infinite = np.copysign(np.inf if known.has_infinity else np.nan, value)
    if rounding in _NEAREST:
        return cast(Value, infinite)
    is_away = ((rounding is Rounding.UP) & (value > 0)) | ((rounding is Rounding.DOWN) & (value < 0))
    return cast(Value, np.where(is_away | ~np.isfinite(value), infinite, largest))


def _towards(value: Value, error: Value, rounding: Rounding) -> Value:
    """A float64 result moved to its neighbour where the direction asks for it."""
    if rounding in _NEAREST:
        return value
    up = np.nextafter(value, np.inf)
    down = np.nextafter(value, -np.inf)
    if rounding is Rounding.UP:
        return cast(Value, np.where(error > 0, up, value)[()])
    if rounding is Rounding.DOWN:
        return cast(Value, np.where(error < 0, down, value)[()])
    if rounding is Rounding.TOWARD_ZERO:
        moved = np.where((value > 0) & (error < 0), down, value)
        return cast(Value, np.where((value < 0) & (error > 0), up, moved)[()])
    raise InputError(f"rounding {rounding} is not executed", "it has no one result")
