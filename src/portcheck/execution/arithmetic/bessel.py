"""Bessel functions of a whole order in float64, one number at a time.

Near 0 by their power series, with more digits than they cancel; further out by Hankel's expansion for the orders 0 and
1 and the recurrence over orders, in the direction in which it is stable (NIST Digital Library of Mathematical
Functions, 10.2.2, 10.8.1, 10.17.3 and 10.17.4, 10.74(iv)).
"""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext

import numpy as np

from portcheck.core.errors import InputError

_NEAR = 25.0
"""From here on Hankel's expansion is exact to float64: its error is about exp(-2 x)."""
_DIGITS = 80
_TINY = Decimal(10) ** -60
_EULER = Decimal("0.57721566490153286060651209008240243104215933593992359880576723488")
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459231")
_MOST_ORDER = 1 << 12
_POINTS = 64
"""Points of a rule for an integral over a period, besides as many as the argument and the order are large."""
_OVERFLOWING = 1000.0


def bessel_j(order: float, value: float) -> float:
    """Of the first kind; NaN for a negative order, as CUDA has it."""
    if math.isnan(value) or order < 0:
        return math.nan
    if math.isinf(value):
        return 0.0
    whole = _whole(order)
    sign = -1.0 if value < 0 and whole % 2 else 1.0
    size = abs(value)
    if size <= _NEAR:
        return sign * _series_j(whole, size)
    if whole < size:
        return sign * _upwards(whole, size, [_hankel(start, size)[0] for start in (0, 1)])
    return sign * _downwards(whole, size)


def bessel_y(order: float, value: float) -> float:
    """Of the second kind; minus infinity at 0, NaN below it and for a negative order, as CUDA has it."""
    if math.isnan(value) or order < 0 or value < 0:
        return math.nan
    if value == 0:
        return -math.inf
    if math.isinf(value):
        return 0.0
    starts = [_series_y(start, value) if value <= _NEAR else _hankel(start, value)[1] for start in (0, 1)]
    return _upwards(_whole(order), value, starts)


def bessel_i(order: float, value: float) -> float:
    """The modified function, as the mean of exp(x cos t) cos(n t) over a period."""
    if abs(value) > _OVERFLOWING:
        return -math.inf if value < 0 and order % 2 else math.inf
    points = _POINTS + 2 * int(abs(order) + abs(value))
    turn = np.arange(points) * (2.0 * math.pi / points)
    return float((np.exp(value * np.cos(turn)) * np.cos(order * turn)).mean())


def _whole(order: float) -> int:
    if order > _MOST_ORDER:
        raise InputError(f"a Bessel function of the order {order:g} is not executed", f"at most {_MOST_ORDER}")
    return int(order)


def _series_j(order: int, value: float) -> float:
    with localcontext(Context(prec=_DIGITS)):
        half = Decimal(value) / 2
        term = half**order / math.factorial(order) if value else Decimal(order == 0)
        total, count = Decimal(0), 0
        while abs(term) > abs(total) * _TINY:
            total += term
            count += 1
            term *= -half * half / (count * (count + order))
        return float(total)


def _series_y(order: int, value: float) -> float:
    """For the orders 0 and 1."""
    with localcontext(Context(prec=_DIGITS)):
        half = Decimal(value) / 2
        term, harmonic = (half if order else Decimal(1)), Decimal(0)
        total, count = -1 / half / 2 * order, 0
        logarithm = half.ln() + _EULER
        while count < 2 or abs(term) > _TINY:
            both = harmonic + Decimal(order) / (2 * (count + 1))
            total += term * (logarithm - both)
            count += 1
            harmonic += Decimal(1) / count
            term *= -half * half / (count * (count + order))
        return float(2 * total / _PI)


def _hankel(order: int, value: float) -> tuple[float, float]:
    """Both kinds, far out, for the orders 0 and 1."""
    even, odd, term, count = 0.0, 0.0, 1.0, 0
    while abs(term) > 1e-18:
        if count % 2:
            odd += term * (-1.0) ** (count // 2)
        else:
            even += term * (-1.0) ** (count // 2)
        count += 1
        term *= (4.0 * order * order - (2 * count - 1) ** 2) / (count * 8.0 * value)
    sine, cosine = math.sin(value), math.cos(value)
    if order:
        sine, cosine = -cosine, sine
    at_sine, at_cosine = (sine - cosine) / math.sqrt(2.0), (cosine + sine) / math.sqrt(2.0)
    scale = math.sqrt(2.0 / (math.pi * value))
    return scale * (even * at_cosine - odd * at_sine), scale * (even * at_sine + odd * at_cosine)


def _upwards(order: int, value: float, starts: list[float]) -> float:
    before, current = starts
    if order == 0:
        return before
    for step in range(1, order):
        before, current = current, 2.0 * step / value * current - before
    return current


def _downwards(order: int, value: float) -> float:
    """Miller's algorithm: from far above, with the sum of all even orders as the scale."""
    above, current, found, total = 0.0, 1e-300, 0.0, 0.0
    start = 2 * (order // 2 + 40 + int(math.sqrt(40.0 * order)))
    for step in range(start, 0, -1):
        above, current = current, 2.0 * step / value * current - above
        if abs(current) > 1e200:
            above, current, found, total = above * 1e-200, current * 1e-200, found * 1e-200, total * 1e-200
        if step - 1 == order:
            found = current
        if (step - 1) % 2 == 0 and step > 1:
            total += 2.0 * current
    return found / (total + current)
