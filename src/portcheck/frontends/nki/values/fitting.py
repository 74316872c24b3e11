"""Whether a tile fits where it is put, and which shape several have together."""

from __future__ import annotations

from collections.abc import Sequence

from portcheck.frontends.nki.values.arithmetic import is_one, known_int, same
from portcheck.ir import Const, Expr, integer


def misfit(shape: Sequence[Expr], wanted: Sequence[Expr]) -> str:
    """Why a tile of extents `shape` certainly does not fill `wanted`, extents of 1 repeated; "" where it may."""
    if not shape:
        return ""
    if len(shape) != len(wanted):
        return f"{len(shape)} dimensions where there are {len(wanted)}"
    for own, other in zip(shape, wanted, strict=True):
        if not may_equal(own, other) and known_int(own) != 1:
            return f"{known_int(own)} elements where there are {known_int(other)}"
    return ""


def may_equal(one: Expr, other: Expr) -> bool:
    """Whether two extents are not known to differ."""
    first, second = known_int(one), known_int(other)
    return first is None or second is None or first == second


def same_shape(left: Sequence[Expr], right: Sequence[Expr]) -> bool:
    """Whether both shapes are certainly equal."""
    return len(left) == len(right) and all(same(one, other) for one, other in zip(left, right, strict=True))


def broadcast_shape(shapes: Sequence[tuple[Expr, ...]]) -> tuple[Expr, ...]:
    """The shape of an element-by-element result: aligned at the last dimension, extents of 1 give way.

    Of a number and an extent that is not known the number holds: the other is it, or 1.
    """
    rank = max((len(shape) for shape in shapes), default=0)
    result: list[Expr] = [integer(1)] * rank
    for shape in shapes:
        for position, extent in enumerate(shape, rank - len(shape)):
            is_number = isinstance(extent, Const) and not is_one(extent)
            if is_one(result[position]) or (is_number and not isinstance(result[position], Const)):
                result[position] = extent
    return tuple(result)
