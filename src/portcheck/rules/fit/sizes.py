"""Sizes in words."""

from __future__ import annotations

from math import prod

from portcheck.ir import Expr
from portcheck.ir.algebra import polynomial_of
from portcheck.rules.fit.port import number_of


def size_text(*sizes: Expr) -> str:
    """The product of `sizes`: its number, or the expression where it is not known."""
    numbers = [number_of(size) for size in sizes]
    known = [value for value in numbers if value is not None]
    if len(known) == len(numbers):
        return str(prod(known))
    return " * ".join(str(polynomial_of(size)) for size in sizes)
