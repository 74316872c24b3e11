"""Host code that rounds a quotient by way of floats, `ceil((float)n / 256)`: the whole number that is meant."""

from __future__ import annotations

from collections.abc import Sequence

from portcheck.core.dtype import INT32
from portcheck.frontends.cuda.model.values import Scalar
from portcheck.ir import Apply, Cast, Compute, Const, Expr, Op, Operator, Ref, apply

_ROUNDED = {
    Operator.CEIL: Operator.CEILING_DIVIDE, Operator.FLOOR: Operator.FLOOR_DIVIDE,
    Operator.TRUNC: Operator.TRUNCATED_DIVIDE,
}  # fmt: skip


def whole_number(emitted: Sequence[Op], value: Scalar) -> Scalar | None:
    """`value`, computed by `emitted`, as an expression of integers; None where it is none.

    A float that holds a size is taken to hold it exactly.
    """
    made = {op.id: op for op in emitted if isinstance(op, Cast | Compute)}
    if len(made) != len(emitted):
        return None
    found = _whole(made, value.expr)
    return None if found is None else Scalar(found, found.dtype)


def _whole(made: dict[int, Cast | Compute], expression: Expr) -> Expr | None:
    """An integer, or a float that holds one, as an expression of integers."""
    if isinstance(expression, Apply):
        parts = [_whole(made, argument) for argument in expression.arguments]
        known = tuple(part for part in parts if part is not None)
        return Apply(expression.operator, known, expression.dtype) if len(known) == len(parts) else None
    if isinstance(expression, Const) and isinstance(expression.value, float):
        return Const(int(expression.value), INT32) if expression.value.is_integer() else None
    if not isinstance(expression, Ref):
        return expression
    op = made.get(expression.id)
    match op:
        case Cast(operand=operand) if op.type.dtype.is_float or not operand.dtype.is_float:
            return _whole(made, operand)
        case Cast(operand=operand):
            return _whole(made, operand) or _rounded(made, Operator.TRUNC, operand)
        case Compute(operator=operator, operands=(operand,)) if operator in _ROUNDED:
            return _rounded(made, operator, operand)
        case _:
            pass
    return None


def _rounded(made: dict[int, Cast | Compute], rounding: Operator, operand: Expr) -> Expr | None:
    """A quotient of whole numbers, rounded."""
    op = made.get(operand.id) if isinstance(operand, Ref) else None
    while isinstance(op, Cast) and op.type.dtype.is_float and isinstance(op.operand, Ref):
        op = made.get(op.operand.id)
    if not isinstance(op, Compute) or op.operator is not Operator.DIVIDE:
        return None
    first, second = (_whole(made, part) for part in op.operands)
    return apply(_ROUNDED[rounding], first, second) if first is not None and second is not None else None
