"""Python's arithmetic on sizes and flags, as IR expressions: built as written, evaluated only to be asked questions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeGuard

from portcheck.core.dtype import BOOL, FLOAT64, INT64, DType
from portcheck.ir import (
    PREDICATES,
    Apply,
    Const,
    Expr,
    Operator,
    Ref,
    Symbol,
    apply,
    integer,
)

SIZE_LIMIT = 512
LARGEST = 8 * SIZE_LIMIT
"""Nodes of an index that is kept."""
DEPTH_LIMIT = 80
"""Levels of an expression that is kept; the text form and the walks over an expression reach a little further."""
_SHIFT_LIMIT = 512
_EXACT_LIMIT = 1 << 128

Number = int | float | bool


def literal(value: Number) -> Const:
    """The Python number `value` as an expression."""
    if isinstance(value, bool):
        return Const(value, BOOL)
    return Const(value, INT64) if isinstance(value, int) else Const(value, FLOAT64)


WRITTEN_FALSE = literal(False)
"""The word `False` of a text, which nothing that is worked out is."""


def is_number(value: object) -> TypeGuard[Expr]:
    """Whether `value` is a size, flag or immediate."""
    return isinstance(value, Const | Symbol | Ref | Apply)


def known(expression: Expr) -> Number | None:
    """The value of `expression` if it holds no symbol and no result, else None."""
    if isinstance(expression, Const):
        return expression.value
    if not isinstance(expression, Apply):
        return None
    values: list[Number] = []
    for argument in expression.arguments:
        value = known(argument)
        if value is None:
            return None
        values.append(value)
    return _apply(expression.operator, values)


def known_int(expression: Expr | None) -> int | None:
    """The value of `expression` if it is a known integer."""
    value = known(expression) if expression is not None else None
    return int(value) if isinstance(value, int) else None


def is_small(expression: Expr) -> bool:
    """Whether `expression` has at most SIZE_LIMIT nodes and is not too deep; more is not worth carrying along."""
    return is_bounded(expression, SIZE_LIMIT)


def is_bounded(expression: Expr, size: int = LARGEST) -> bool:
    """Whether `expression` has at most `size` nodes and DEPTH_LIMIT levels."""
    return not isinstance(expression, Apply) or (expression.nodes <= size and expression.levels <= DEPTH_LIMIT)


def binary(operator: Operator, left: Expr, right: Expr) -> Expr | None:
    """`left operator right` as Python means it; None when it grows beyond what is kept."""
    dtype = _result(operator, left.dtype, right.dtype)
    made = Apply(operator, (left, right), dtype)
    if is_small(made):
        return made
    value = known(made)
    return None if value is None else literal(value)


def unary(operator: Operator, operand: Expr) -> Expr:
    """`operator operand`; a negated literal is a literal."""
    if operator is Operator.NEGATE and isinstance(operand, Const) and not isinstance(operand.value, bool):
        return Const(-operand.value, operand.dtype)
    return Apply(operator, (operand,), BOOL if operator in PREDICATES else operand.dtype)


def is_one(expression: Expr) -> bool:
    """Whether `expression` is certainly 1."""
    return constant_part(expression) == 1


def is_zero(expression: Expr) -> bool:
    """Whether `expression` is certainly 0."""
    return constant_part(expression) == 0


def constant_part(expression: Expr) -> int | None:
    """The value of `expression` if all its symbols cancel, else None."""
    if isinstance(expression, Const):
        return int(expression.value) if isinstance(expression.value, int) else None
    if not isinstance(expression, Apply) or expression.levels > DEPTH_LIMIT:
        return None
    return _constant_part(expression)


@lru_cache(maxsize=1 << 14)
def _constant_part(expression: Apply) -> int | None:
    terms = polynomial(expression)
    if terms is None or any(term for term in terms):
        return None
    return terms.get((), 0)


def same(left: Expr, right: Expr) -> bool:
    """Whether both are certainly equal."""
    if left == right:
        return True
    if not isinstance(left, Apply) and not isinstance(right, Apply):
        return isinstance(left, Const) and isinstance(right, Const) and left.value == right.value
    return constant_part(Apply(Operator.SUBTRACT, (left, right), INT64)) == 0


def difference(stop: Expr, start: Expr) -> Expr:
    """`stop - start` in the plainest form that is certainly equal."""
    if is_zero(start):
        return stop
    if isinstance(stop, Apply) and stop.operator is Operator.ADD:
        first, second = stop.arguments
        if first == start:
            return second
        if second == start:
            return first
    made = Apply(Operator.SUBTRACT, (stop, start), INT64)
    value = constant_part(made)
    return made if value is None else integer(value)


def plus(left: Expr, right: Expr) -> Expr:
    """`left + right` without a zero."""
    if is_zero(left):
        return right
    return left if is_zero(right) else Apply(Operator.ADD, (left, right), INT64)


def times(left: Expr, right: Expr) -> Expr:
    """`left * right` without a one."""
    if is_one(left):
        return right
    return left if is_one(right) else Apply(Operator.MULTIPLY, (left, right), INT64)


def product(factors: tuple[Expr, ...]) -> Expr:
    """The product of `factors`, 1 for none."""
    result: Expr = integer(1)
    for factor in factors:
        result = times(result, factor)
    return result


Polynomial = dict[tuple[Expr, ...], int]


def divided(number: Expr, divisor: int) -> Expr:
    """`number` over `divisor`, which divides it."""
    exact = _quotient(number, divisor)
    return exact if exact is not None else apply(Operator.FLOOR_DIVIDE, number, integer(divisor), dtype=INT64)


def _quotient(number: Expr, divisor: int) -> Expr | None:
    """`number` over `divisor` where every term of it shows that it can be divided."""
    known = known_int(number)
    if known is not None:
        return integer(known // divisor) if known % divisor == 0 else None
    if not isinstance(number, Apply) or number.operator not in (Operator.ADD, Operator.MULTIPLY):
        return None
    left, right = (_quotient(part, divisor) for part in number.arguments)
    if number.operator is Operator.ADD:
        return plus(left, right) if left is not None and right is not None else None
    if left is not None:
        return times(left, number.arguments[1])
    return times(number.arguments[0], right) if right is not None else None


def folded(expression: Expr) -> Expr:
    """`expression`, as one number if it is a known integer."""
    value = known_int(expression)
    return expression if value is None else integer(value)


def polynomial(expression: Expr) -> Polynomial | None:
    """`expression` as a sum of integer multiples of products of atoms; None when it is too large or no integer."""
    if not is_small(expression):
        return None
    return _polynomial(expression)


def _polynomial(expression: Expr) -> Polynomial | None:
    if isinstance(expression, Const):
        value = known_int(expression)
        return None if value is None else ({(): value} if value else {})
    if isinstance(expression, Apply):
        combined = _combined(expression)
        if combined is not None:
            return combined
        value = known_int(expression)
        if value is not None:
            return {(): value}
    return {(expression,): 1}


def _combined(expression: Apply) -> Polynomial | None:
    if expression.operator not in (Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY, Operator.NEGATE):
        return None
    parts = [_polynomial(argument) for argument in expression.arguments]
    left = parts[0]
    if left is None:
        return None
    if expression.operator is Operator.NEGATE:
        return {term: -factor for term, factor in left.items()}
    right = parts[1]
    if right is None or len(left) * len(right) > SIZE_LIMIT:
        return None
    if expression.operator is Operator.MULTIPLY:
        return _multiplied(left, right)
    sign = 1 if expression.operator is Operator.ADD else -1
    return _without_zeros({term: left.get(term, 0) + sign * right.get(term, 0) for term in {**left, **right}})


def _multiplied(left: Polynomial, right: Polynomial) -> Polynomial:
    total: Polynomial = {}
    for first, factor in left.items():
        for second, other in right.items():
            term = (*first, *second)
            term = tuple(sorted(term, key=_text)) if len(term) > 1 else term
            total[term] = total.get(term, 0) + factor * other
    return _without_zeros(total)


@lru_cache(maxsize=1 << 12)
def _text(factor: Expr) -> str:
    """What orders the factors of a product."""
    return repr(factor)


def _without_zeros(terms: Mapping[tuple[Expr, ...], int]) -> Polynomial:
    return {term: factor for term, factor in terms.items() if factor}


def _result(operator: Operator, left: DType, right: DType) -> DType:
    if operator in PREDICATES:
        return BOOL
    if operator is Operator.DIVIDE:
        return FLOAT64
    if operator is Operator.CEILING_DIVIDE:
        return INT64
    if left == right and left != BOOL:
        return left
    for dtype in (left, right):
        if dtype.is_float:
            return dtype
    for dtype in (left, right):
        if dtype.is_symbolic:
            return dtype
    return INT64


def _apply(operator: Operator, values: list[Number]) -> Number | None:
    try:
        result = _evaluate(operator, values)
    except (ArithmeticError, ValueError, TypeError):
        return None
    if isinstance(result, int) and not -_EXACT_LIMIT < result < _EXACT_LIMIT:
        return None
    return result


def _evaluate(operator: Operator, values: list[Number]) -> Number | None:
    if operator is Operator.SELECT:
        return values[1] if values[0] else values[2]
    if len(values) == 1:
        function = _UNARY.get(operator)
        return function(values[0]) if function else None
    if operator in (Operator.SHIFT_LEFT, Operator.POWER) and abs(values[1]) > _SHIFT_LIMIT:
        return None
    pair = _BINARY.get(operator)
    return pair(values[0], values[1]) if pair and len(values) == 2 else None


_UNARY: Mapping[Operator, Callable[[Any], Number]] = {
    Operator.NEGATE: lambda a: -a,
    Operator.LOGICAL_NOT: lambda a: not a,
    Operator.BITWISE_NOT: lambda a: ~a,
    Operator.ABSOLUTE: abs,
    Operator.CEIL: math.ceil,
    Operator.FLOOR: math.floor,
    Operator.TRUNC: int,
    Operator.SQRT: math.sqrt,
    Operator.EXP: math.exp,
    Operator.LOG: math.log,
    Operator.LOG2: math.log2,
}
_BINARY: Mapping[Operator, Callable[[Any, Any], Number]] = {
    Operator.ADD: lambda a, b: a + b,
    Operator.SUBTRACT: lambda a, b: a - b,
    Operator.MULTIPLY: lambda a, b: a * b,
    Operator.DIVIDE: lambda a, b: a / b,
    Operator.FLOOR_DIVIDE: lambda a, b: a // b,
    Operator.FLOOR_MODULO: lambda a, b: a % b,
    Operator.CEILING_DIVIDE: lambda a, b: -(-a // b),
    Operator.POWER: lambda a, b: a**b,
    Operator.MINIMUM: min,
    Operator.MAXIMUM: max,
    Operator.SHIFT_LEFT: lambda a, b: a << b,
    Operator.SHIFT_RIGHT_ARITHMETIC: lambda a, b: a >> b,
    Operator.BITWISE_AND: lambda a, b: a & b,
    Operator.BITWISE_OR: lambda a, b: a | b,
    Operator.BITWISE_XOR: lambda a, b: a ^ b,
    Operator.EQUAL: lambda a, b: a == b,
    Operator.NOT_EQUAL: lambda a, b: a != b,
    Operator.LESS: lambda a, b: a < b,
    Operator.LESS_EQUAL: lambda a, b: a <= b,
    Operator.GREATER: lambda a, b: a > b,
    Operator.GREATER_EQUAL: lambda a, b: a >= b,
    Operator.LOGICAL_AND: lambda a, b: bool(a and b),
    Operator.LOGICAL_OR: lambda a, b: bool(a or b),
}


def implied(condition: Expr, holds: bool) -> dict[Expr, bool]:
    """What is known of conditions where `condition` holds, or does not."""
    found = {condition: holds}
    if isinstance(condition, Apply):
        if condition.operator is Operator.LOGICAL_NOT:
            found.update(implied(condition.arguments[0], not holds))
        elif condition.operator is (Operator.LOGICAL_AND if holds else Operator.LOGICAL_OR):
            for part in condition.arguments:
                found.update(implied(part, holds))
        elif condition.operator is Operator.SELECT:
            test, first, second = condition.arguments
            for side, other, chosen in ((first, second, False), (second, first, True)):
                if known(side) is (not holds):  # so it is the other one
                    found.update({**implied(test, chosen), **implied(other, holds)})
    return found
