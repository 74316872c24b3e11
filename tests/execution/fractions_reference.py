"""Rounding of exact fractions to a format, from the definition: the reference for what the executor rounds."""

from __future__ import annotations

import math
from fractions import Fraction

from portcheck.core.dtype import DType
from portcheck.ir import Rounding
from portcheck.knowledge import load


def nearest(
    value: Fraction, dtype: DType, rounding: Rounding = Rounding.NEAREST_EVEN, saturating: bool = False
) -> float:
    """`value` rounded to `dtype`; zero is +0."""
    facts = load().dtype(dtype.name)
    assert facts is not None
    if value == 0:
        return 0.0
    exponent = _exponent(abs(value))
    quantum = Fraction(2) ** max(exponent - facts.significand_bits + 1, facts.min_subnormal_exponent)
    rounded = _whole(value / quantum, rounding) * quantum
    if abs(rounded) > Fraction(facts.max_finite):
        return _beyond(value, facts.max_finite, facts.has_infinity, rounding, saturating)
    if rounded == 0:
        return 0.0 if value > 0 else -0.0
    return float(rounded)


def _exponent(size: Fraction) -> int:
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    return exponent if Fraction(2) ** exponent <= size else exponent - 1


def _whole(value: Fraction, rounding: Rounding) -> int:
    if rounding is Rounding.UP:
        return math.ceil(value)
    if rounding is Rounding.DOWN:
        return math.floor(value)
    if rounding is Rounding.TOWARD_ZERO:
        return math.trunc(value)
    return round(value)


def _beyond(value: Fraction, largest: float, has_infinity: bool, rounding: Rounding, saturating: bool) -> float:
    sign = 1.0 if value > 0 else -1.0
    is_away = {Rounding.NEAREST_EVEN: True, Rounding.UP: value > 0, Rounding.DOWN: value < 0}.get(rounding, False)
    if saturating or not is_away:
        return sign * largest
    return sign * math.inf if has_infinity else math.nan


def square_root(value: Fraction, dtype: DType, rounding: Rounding) -> float:
    """The root rounded to `dtype`, from a whole root with many bits more and a sticky one."""
    bits = 700
    scaled = value * Fraction(4) ** bits
    whole = math.isqrt(math.floor(scaled))
    sticky = Fraction(0) if whole * whole == scaled else Fraction(1, 2)
    return nearest((whole + sticky) / Fraction(2) ** bits, dtype, rounding)
