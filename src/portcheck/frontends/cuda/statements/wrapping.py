"""Loop counters that wrap: where C counts modulo a power of two, or compares as unsigned, a range does not."""

from __future__ import annotations

from portcheck.core.dtype import DType, DTypeKind
from portcheck.frontends.cuda.model.conversions import common, integer_bits, is_never_negative
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Scalar
from portcheck.ir import Const, Expr


def may_wrap(state: State, dtype: DType, values: tuple[Expr, Scalar, Scalar], comparison: tuple[str, bool]) -> bool:
    """Whether a counter of `dtype` may take other values than the range from its start to its stop in steps.

    A signed counter may not overflow, and a loop is taken to end. What is left are counters below 0 that are compared
    as unsigned, `!=` that is only reached once round, and steps over the last value that wrap.
    """
    (start, stop, step), (operator, upwards) = values, comparison
    first, last, stride = _constant(start), _constant(stop.expr), _constant(step.expr)
    is_unsigned = dtype.kind is DTypeKind.UNSIGNED
    is_small = integer_bits(dtype) < integer_bits(common(dtype, dtype))
    if operator == "!=":
        lower, upper = (first, last) if upwards else (last, first)
        is_reached = lower is not None and (lower <= upper if upper is not None else is_unsigned and lower == 0)
        return (is_unsigned or is_small) and not is_reached
    as_unsigned = common(dtype, stop.dtype).kind is DTypeKind.UNSIGNED
    if as_unsigned and not is_unsigned and not is_never_negative(state, start):
        return True
    if operator in (">", ">="):
        return is_unsigned and _passes_zero(operator, last, stride)
    most = 2 ** (integer_bits(dtype) - (not is_unsigned)) - 1
    reached = last is not None and stride is not None and last + (operator == "<=") + stride - 1 > most
    return is_small and reached


def _passes_zero(operator: str, last: int | None, stride: int | None) -> bool:
    """Whether a step down from the last value above an unsigned stop may go below 0."""
    if stride is None:
        return True
    return (last or 0) + (operator == ">") < stride


def _constant(expression: Expr) -> int | None:
    return int(expression.value) if isinstance(expression, Const) else None
