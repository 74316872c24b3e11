"""Changes of format as the engines make them."""

from __future__ import annotations

import numpy as np

from portcheck.core.dtype import DType
from portcheck.execution.arithmetic.conversions import conversion
from portcheck.execution.arithmetic.formats import Value, facts
from portcheck.execution.tiles.machine import Instance
from portcheck.execution.tiles.options import Overflow, Subnormals, WholeNan
from portcheck.ir import Op, Rounding

_NAN = "nan"
"""What a format is documented to hold for a number beyond its range (`DTypeFacts.overflow`)."""


def converted(
    instance: Instance, op: Op, data: Value, source: DType, target: DType,
    rounding: Rounding = Rounding.NEAREST_EVEN, saturating: bool = False, undefined: Value | None = None,
) -> Value:  # fmt: skip
    """`data` as `target`: floats become integers by rounding to the nearest even one, at most the ends of the range.

    What becomes of `undefined` elements is no choice.
    """
    if source == target:
        return data
    if source.is_float and target.is_float:
        data = settled(instance, op, data, target)
    result = conversion(source, target, rounding, saturating)(data)
    if source.is_float and target.is_integer:
        return _from_nan(instance, op, data, result, undefined)
    if not (source.is_float and target.is_float) or saturating:
        return result
    if facts(target).max_finite >= facts(source).max_finite:
        return result
    return _overflowed(instance, op, data, result, target)


def _from_nan(instance: Instance, op: Op, data: Value, result: Value, undefined: Value | None) -> Value:
    """`result` with what NaN becomes, as the option says."""
    is_nan = np.isnan(data)
    told = is_nan if undefined is None else is_nan & ~undefined
    if not told.any():
        return result
    instance.choose("whole_nan", op, "NaN as a whole number")
    if instance.options.whole_nan is WholeNan.ZERO:
        return result
    return np.where(is_nan, np.iinfo(result.dtype).min, result)


def settled(instance: Instance, op: Op, data: Value, dtype: DType) -> Value:
    """Results on their way into `dtype`, with those too small for a normal number of it as the option says."""
    is_small = (np.abs(data) < 2.0 ** facts(dtype).min_normal_exponent) & (data != 0)
    if not is_small.any():
        return data
    instance.choose("subnormals", op, f"numbers too small for a normal {dtype}")
    if instance.options.subnormals is Subnormals.KEPT:
        return data
    return np.where(is_small, np.copysign(data.dtype.type(0), data), data)


def _overflowed(instance: Instance, op: Op, data: Value, result: Value, target: DType) -> Value:
    """`result` with what lies beyond the range as it is documented, else as the option says."""
    if facts(target).overflow == _NAN:
        return np.where(np.isinf(result), result.dtype.type(np.nan), result)
    is_beyond = np.isfinite(data) & ~np.isfinite(result)
    if not is_beyond.any():
        return result
    instance.choose("overflow", op, f"numbers beyond the range of {target}")
    if instance.options.overflow is Overflow.INFINITY:
        return result
    largest = np.copysign(np.float64(facts(target).max_finite), data.astype(np.float64)).astype(result.dtype)
    return np.where(is_beyond, largest, result)
