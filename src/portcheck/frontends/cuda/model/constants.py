"""The number a constant expression is."""

from __future__ import annotations

import operator as python
from collections.abc import Callable

from portcheck.core.dtype import BOOL, DType
from portcheck.frontends.cuda.model.conversions import wrapped
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Scalar
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import Apply, Const, Expr, Operator, is_within

_DEEPEST = 60
_LARGEST_SHIFT = 63


def _quotient(left: int, right: int) -> int:
    size = abs(left) // abs(right)
    return size if (left < 0) == (right < 0) else -size


def _remainder(left: int, right: int) -> int:
    return left - right * _quotient(left, right)


_BINARY: dict[Operator, Callable[[int, int], int]] = {
    Operator.ADD: python.add, Operator.SUBTRACT: python.sub, Operator.MULTIPLY: python.mul,
    Operator.TRUNCATED_DIVIDE: _quotient, Operator.TRUNCATED_MODULO: _remainder,
    Operator.MINIMUM: min, Operator.MAXIMUM: max, Operator.SHIFT_LEFT: python.lshift,
    Operator.SHIFT_RIGHT_ARITHMETIC: python.rshift, Operator.SHIFT_RIGHT_LOGICAL: python.rshift,
    Operator.BITWISE_AND: python.and_, Operator.BITWISE_OR: python.or_, Operator.BITWISE_XOR: python.xor,
    Operator.EQUAL: python.eq, Operator.NOT_EQUAL: python.ne, Operator.LESS: python.lt,
    Operator.LESS_EQUAL: python.le, Operator.GREATER: python.gt, Operator.GREATER_EQUAL: python.ge,
    Operator.LOGICAL_AND: lambda left, right: bool(left) and bool(right),
    Operator.LOGICAL_OR: lambda left, right: bool(left) or bool(right),
}  # fmt: skip
_UNARY: dict[Operator, Callable[[int], int]] = {
    Operator.NEGATE: python.neg, Operator.BITWISE_NOT: python.invert, Operator.LOGICAL_NOT: python.not_,
    Operator.ABSOLUTE: abs,
}  # fmt: skip
_DIVISIONS = frozenset({Operator.TRUNCATED_DIVIDE, Operator.TRUNCATED_MODULO})
_SHIFTS = frozenset({Operator.SHIFT_LEFT, Operator.SHIFT_RIGHT_ARITHMETIC, Operator.SHIFT_RIGHT_LOGICAL})


def constant_value(expression: Expr) -> int | None:
    """The whole number that `expression` is; None where it is no constant, or none that is read."""
    return _value(expression) if is_within(expression, _DEEPEST) else None


def folded(value: Scalar) -> Scalar:
    """`value` as a literal where it is a whole number made of literals alone; else itself."""
    number = None if isinstance(value.expr, Const) or value.dtype.is_float else constant_value(value.expr)
    if number is None:
        return value
    constant = bool(number) if value.dtype == BOOL else wrapped(number, value.dtype)
    return Scalar(Const(constant, value.dtype), value.dtype)


def _value(expression: Expr) -> int | None:
    if isinstance(expression, Const):
        return None if isinstance(expression.value, float) else int(expression.value)
    if not isinstance(expression, Apply):
        return None
    arguments = [_value(argument) for argument in expression.arguments]
    if expression.operator is Operator.SELECT and arguments[0] is not None:
        return arguments[1 if arguments[0] else 2]
    known = [argument for argument in arguments if argument is not None]
    if len(known) != len(arguments):
        return None
    return _applied(expression.operator, known, expression.dtype)


def _applied(operator: Operator, values: list[int], dtype: DType) -> int | None:
    if len(values) == 1 and operator in _UNARY:
        return _in(int(_UNARY[operator](values[0])), dtype)
    if len(values) != 2 or operator not in _BINARY:
        return None
    if operator in _DIVISIONS and values[1] == 0:
        return None
    if operator in _SHIFTS and not 0 <= values[1] <= _LARGEST_SHIFT:
        return None
    return _in(int(_BINARY[operator](*values)), dtype)


def _in(value: int, dtype: DType) -> int:
    return wrapped(value, dtype) if dtype.is_integer else value


def constant_of(state: State, node: Node) -> int | None:
    """The whole number that a constant expression is; None where it is none."""
    with state.builder.region():
        value = state.evaluate(node)
    return constant_value(value.expr) if isinstance(value, Scalar) else None
