"""Distances in bytes as whole elements and what is left."""

from __future__ import annotations

from portcheck.core.dtype import INT64, DType
from portcheck.ir import ZERO, Apply, Const, Expr, Operator, apply

_SUMS = frozenset({Operator.ADD, Operator.SUBTRACT})


def quotient(distance: Expr, size: int) -> tuple[Expr, Expr]:
    """(`distance` / `size` of the parts that are whole multiples of `size`, the other parts in bytes)."""
    whole = _divided(distance, size)
    if whole is not None:
        return whole, ZERO
    distance = _distributed(distance)
    if not isinstance(distance, Apply) or distance.operator not in _SUMS or len(distance.arguments) != 2:
        return ZERO, distance
    wholes, lefts = zip(*(quotient(part, size) for part in distance.arguments), strict=True)
    return _joined(distance, wholes), _joined(distance, lefts)


def _distributed(distance: Expr) -> Expr:
    """A multiple of a sum of distances as a sum of multiples."""
    match distance:
        case Apply(Operator.MULTIPLY, (Apply(operator, (left, right), inner), Const() as factor), dtype):
            if operator in _SUMS and inner == INT64:
                return Apply(operator, (_times(left, factor, dtype), _times(right, factor, dtype)), dtype)
        case _:
            pass
    return distance


def _times(part: Expr, factor: Const, dtype: DType) -> Expr:
    if isinstance(part, Const) and isinstance(part.value, int):
        return Const(int(part.value) * int(factor.value), INT64)
    return Apply(Operator.MULTIPLY, (part, factor), dtype)


def _joined(distance: Apply, parts: tuple[Expr, ...]) -> Expr:
    left, right = parts
    if right == ZERO:
        return left
    if left == ZERO and distance.operator is Operator.ADD:
        return right
    return apply(distance.operator, left, right, dtype=distance.dtype)


def _divided(distance: Expr, size: int) -> Expr | None:
    """`distance` / `size` if it is surely a whole number."""
    if size == 1:
        return distance
    if isinstance(distance, Const):
        if not isinstance(distance.value, int):
            return None
        value = int(distance.value)
        return Const(value // size, distance.dtype) if value % size == 0 else None
    if not isinstance(distance, Apply) or len(distance.arguments) != 2:
        return None
    left, right = distance.arguments
    if distance.operator is Operator.MULTIPLY:
        pairs = ((right, left), (left, right)) if isinstance(right, Const) else ((left, right), (right, left))
        for one, other in pairs:
            part = _divided(one, size)
            if part is not None:
                is_one = isinstance(part, Const) and part.value == 1
                return other if is_one else apply(Operator.MULTIPLY, part, other, dtype=distance.dtype)
    if distance.operator is Operator.SHIFT_LEFT and isinstance(right, Const) and size.bit_count() == 1:
        least = size.bit_length() - 1
        if right.value >= least:
            return apply(Operator.SHIFT_LEFT, left, Const(int(right.value) - least, right.dtype), dtype=distance.dtype)
    return None
