"""Sums, products, quotients and roots in float64 together with the sign of their error.

With the sign of what was lost, the result can be rounded again to a narrower format, or in another direction, as if
it had been rounded once: see Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms
using rounding to odd" (IEEE Transactions on Computers, 2008).
"""

from __future__ import annotations

from fractions import Fraction
from typing import cast

import numpy as np

from portcheck.execution.arithmetic.formats import Value

_SPLITTER = 134217729.0
"""2^27 + 1: halves a significand of 53 bits (Dekker 1971)."""
_SAFE_LOW, _SAFE_HIGH = 2.0**-480, 2.0**480
"""Magnitudes whose products and errors of products are neither subnormal nor overflow."""


def two_sum(left: Value, right: Value) -> tuple[Value, Value]:
    """The rounded sum and its exact error (Knuth)."""
    total = left + right
    rest = total - left
    return total, (left - (total - rest)) + (right - rest)


def _halves(value: Value) -> tuple[Value, Value]:
    scaled = value * _SPLITTER
    high = scaled - (scaled - value)
    return high, value - high


def two_product(left: Value, right: Value) -> tuple[Value, Value]:
    """The rounded product and its exact error (Dekker), for factors of safe magnitude."""
    product = left * right
    left_high, left_low = _halves(left)
    right_high, right_low = _halves(right)
    rest = left_high * right_high - product
    return product, ((rest + left_high * right_low) + left_low * right_high) + left_low * right_low


def to_odd(rounded: Value, error: Value) -> Value:
    """`rounded` + `error`, rounded to odd: one that is not exact has an odd last bit."""
    whole = np.atleast_1d(np.asarray(rounded, dtype=np.float64))
    lost = np.atleast_1d(np.asarray(error, dtype=np.float64))
    bits = whole.view(np.int64)
    change = (lost != 0) & ((bits & 1) == 0) & np.isfinite(whole) & np.isfinite(lost)
    if not change.any():
        return rounded
    is_outward = (lost > 0) == (whole > 0)
    odd = np.where(change, bits + np.where(is_outward, 1, -1), bits).view(np.float64)
    return cast(Value, odd if np.ndim(rounded) else odd[0])


def fused(left: Value, right: Value, addend: Value) -> tuple[Value, Value]:
    """left * right + addend in float64, rounded to nearest, and a number of the sign of its error.

    The product of operands of 26 bits or less (float32 and narrower) is exact; see `fused_double` for float64.
    """
    return two_sum(left * right, addend)


def fused_double(left: Value, right: Value, addend: Value) -> tuple[Value, Value]:
    """left * right + addend of float64 numbers, rounded once, and a number of the sign of its error."""
    left, right, addend = (np.asarray(part, dtype=np.float64) for part in np.broadcast_arrays(left, right, addend))
    high, low = two_product(left, right)
    total_high, total_low = two_sum(addend, low)
    sum_high, sum_low = two_sum(high, total_high)
    carried, left_over = two_sum(total_low, sum_low)
    rest = to_odd(carried, left_over)
    result, lost = two_sum(sum_high, rest)
    safe = _is_safe(left) & _is_safe(right) & _is_safe(addend) & (_is_safe(result) | (result == 0))
    if safe.all():
        return result, lost
    result, lost = np.array(result), np.array(lost)
    for place in zip(*np.nonzero(~safe), strict=True):
        result[place], lost[place] = _fused_slowly(left[place], right[place], addend[place])
    return result, lost


def _is_safe(value: Value) -> Value:
    size = np.abs(value)
    return cast(Value, (size == 0) | ((size > _SAFE_LOW) & (size < _SAFE_HIGH)))


def _fused_slowly(left: float, right: float, addend: float) -> tuple[float, float]:
    """One fused sum over fractions; infinities and NaN as IEEE 754 has them."""
    plain = left * right + addend
    if not (np.isfinite(left) and np.isfinite(right) and np.isfinite(addend)):
        finite_product = np.isfinite(left) and np.isfinite(right)
        return (addend if finite_product else plain), 0.0
    exact = Fraction(float(left)) * Fraction(float(right)) + Fraction(float(addend))
    if exact == 0:
        return plain, 0.0
    try:
        nearest = float(exact)
    except OverflowError:
        return (np.inf, -1.0) if exact > 0 else (-np.inf, 1.0)
    error = exact - Fraction(nearest)
    return nearest, float((error > 0) - (error < 0))


def summed(left: Value, right: Value) -> tuple[Value, Value]:
    """left + right in float64 and a number of the sign of its error."""
    total, error = two_sum(left, right)
    return total, _towards_zero(total, error, np.isfinite(left) & np.isfinite(right))


def _towards_zero(result: Value, error: Value, is_finite: Value) -> Value:
    """The error; of an infinity that finite numbers give it is all that lies beyond the largest number."""
    return cast(Value, np.where(np.isinf(result) & is_finite, -np.sign(result), error)[()])


def multiplied(left: Value, right: Value) -> tuple[Value, Value]:
    """left * right in float64 and a number of the sign of its error."""
    return fused_double(left, right, np.float64(0.0) * np.sign(left) * np.sign(right))


def divided(left: Value, right: Value) -> tuple[Value, Value]:
    """left / right in float64 and a number of the sign of its error."""
    quotient = left / right
    rest, lost = fused_double(-quotient, right, left)
    sign = np.where(rest != 0, np.sign(rest), np.sign(lost)) * np.sign(right)
    error = np.where(np.isfinite(quotient), sign, 0.0)
    return quotient, _towards_zero(quotient, error, np.isfinite(left) & (right != 0))


def root(value: Value) -> tuple[Value, Value]:
    """The square root in float64 and a number of the sign of its error."""
    result = np.sqrt(value)
    rest, lost = fused_double(-result, result, value)
    sign = np.where(rest != 0, np.sign(rest), np.sign(lost))
    return result, np.where(np.isfinite(result), sign, 0.0)
