"""Special functions in float64, from Python's math library or a formula, one element at a time where NumPy has none."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import cast

import numpy as np

from portcheck.execution.arithmetic.formats import Value

_NORMAL = NormalDist()
_ROOT_OF_TWO = math.sqrt(2.0)
_FAR = 25.0
"""From here on the asymptotic series of exp(x * x) * erfc(x) is exact to float64."""


def each(function: Callable[..., float]) -> Callable[..., Value]:
    """`function` of single numbers for every element; NaN where it has no value, infinity where it is too large."""

    def safe(*operands: float) -> float:
        try:
            return function(*operands)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    vectorised = np.frompyfunc(safe, 1, 1)
    two = np.frompyfunc(safe, 2, 1)

    def apply(*operands: Value) -> Value:
        found = vectorised(*operands) if len(operands) == 1 else two(*operands)
        return cast(Value, np.asarray(found, dtype=np.float64)[()])

    return apply


def gamma(value: float) -> float:
    """The gamma function; of the sign of the zero at 0."""
    return math.copysign(math.inf, value) if value == 0 else math.gamma(value)


def log_gamma(value: float) -> float:
    """The logarithm of the absolute value of gamma; infinite at its poles."""
    return math.inf if value <= 0 and value == math.floor(value) else math.lgamma(value)


def normal_cdf(value: float) -> float:
    """The probability that a standard normal number is at most `value`."""
    return 0.5 * math.erfc(-value / _ROOT_OF_TWO)


def normal_cdf_inverse(value: float) -> float:
    """The inverse of `normal_cdf`, infinite at 0 and 1."""
    if value in (0.0, 1.0):
        return math.copysign(math.inf, value - 0.5)
    return _NORMAL.inv_cdf(value)


def erfc_inverse(value: float) -> float:
    """The inverse of erfc, on 0 to 2."""
    return -normal_cdf_inverse(value / 2.0) / _ROOT_OF_TWO


def erf_inverse(value: float) -> float:
    """The inverse of erf, on -1 to 1."""
    if abs(value) > 0.5:
        return math.copysign(erfc_inverse(1.0 - abs(value)), value)
    root = normal_cdf_inverse((1.0 + value) / 2.0) / _ROOT_OF_TWO
    slope = 2.0 / math.sqrt(math.pi) * math.exp(-root * root)
    return root - (math.erf(root) - value) / slope


def erfc_scaled(value: float) -> float:
    """exp(x * x) * erfc(x)."""
    if value < _FAR:
        return math.exp(value * value) * math.erfc(value)
    part = 1.0 / (2.0 * value * value)
    return (1.0 - part * (1.0 - 3.0 * part * (1.0 - 5.0 * part))) / (value * math.sqrt(math.pi))


def exponent(value: Value) -> Value:
    """The exponent of the leading bit."""
    found = np.frexp(value)[1] - 1.0
    return cast(Value, np.where(value == 0, -np.inf, np.where(np.isinf(value), np.inf, found + value * 0.0))[()])


def sine_of_turns(value: Value) -> Value:
    """The sine of pi times `value`, which is first brought near to 0."""
    near = np.fmod(value, 2.0)
    return cast(Value, np.where(near == np.trunc(near), np.copysign(0.0, value), np.sin(np.pi * near))[()])


def cosine_of_turns(value: Value) -> Value:
    """The cosine of pi times `value`."""
    near = np.abs(np.fmod(value, 2.0))
    is_zero = (near == 0.5) | (near == 1.5)
    return cast(Value, np.where(is_zero, 0.0, np.cos(np.pi * near))[()])


def scaled(value: Value, power: Value) -> Value:
    """`value` times two to the power."""
    return np.ldexp(value, np.clip(power, -5000, 5000).astype(np.int32))
