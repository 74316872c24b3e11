"""Brute force over small sizes: what polynomials and quantified scopes are, by trying every assignment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from portcheck.ir import Operator, Polynomial
from portcheck.values.fusion import Quantified
from portcheck.values.terms import AtLeast, Bound, Condition, Element, IsZero, NotAll


def _toward_zero(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def applied(operator: Operator, *values: int) -> int:
    """`operator` on Python integers, which never wrap."""
    match operator, values:
        case Operator.ADD, (left, right):
            return left + right
        case Operator.SUBTRACT, (left, right):
            return left - right
        case Operator.MULTIPLY, (left, right):
            return left * right
        case Operator.NEGATE, (value,):
            return -value
        case Operator.FLOOR_DIVIDE, (left, right):
            return left // right
        case Operator.CEILING_DIVIDE, (left, right):
            return -(-left // right)
        case Operator.FLOOR_MODULO, (left, right):
            return left % right
        case Operator.TRUNCATED_DIVIDE, (left, right):
            return _toward_zero(left, right)
        case Operator.TRUNCATED_MODULO, (left, right):
            return left - right * _toward_zero(left, right)
        case Operator.MINIMUM, _:
            return min(values)
        case Operator.MAXIMUM, _:
            return max(values)
        case Operator.SHIFT_LEFT, (left, right):
            return left << right
        case ((Operator.SHIFT_RIGHT_ARITHMETIC | Operator.SHIFT_RIGHT_LOGICAL), (left, right)):
            return left >> right
        case Operator.BITWISE_AND, (left, right):
            return left & right
        case Operator.BITWISE_XOR, (left, right):
            return left ^ right
        case _:
            raise AssertionError(f"{operator} is not part of these tests")


def number_of(value: Polynomial, symbols: Mapping[str, int]) -> int:
    """The value of `value` where every symbol has one."""
    total = 0
    for monomial, factor in value.terms:
        for atom in monomial:
            arguments = (number_of(argument, symbols) for argument in atom.arguments)
            factor *= symbols[atom.text] if atom.operator is None else applied(atom.operator, *arguments)
        total += factor
    return total


def is_true(condition: Condition, symbols: Mapping[str, int]) -> bool:
    match condition:
        case AtLeast(value):
            return number_of(value, symbols) >= 0
        case IsZero(value, negated):
            return (number_of(value, symbols) == 0) is not negated
        case NotAll(conditions):
            return not all(is_true(inner, symbols) for inner in conditions)
        case _:
            raise AssertionError(f"{condition} is not part of these tests")


def assignments(bounds: tuple[Bound, ...], symbols: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Every assignment of the bounds' indices, limits that depend on other indices taken after those."""
    if not bounds:
        yield dict(symbols)
        return
    names = {bound.variable for bound in bounds}
    first = next(b for b in bounds if not names & (b.start.symbols | b.stop.symbols | b.step.symbols))
    rest = tuple(bound for bound in bounds if bound is not first)
    start, stop, step = (number_of(limit, symbols) for limit in (first.start, first.stop, first.step))
    for value in range(start, stop, step):
        yield from assignments(rest, {**symbols, first.variable: value})


def instances(scope: Quantified, symbols: Mapping[str, int]) -> Counter[tuple[int, ...]]:
    """How often the scope gives each (index, address of the value)."""
    found: Counter[tuple[int, ...]] = Counter()
    assert isinstance(scope.value, Element)
    for assigned in assignments(scope.bounds, symbols):
        if all(is_true(condition, assigned) for condition in scope.conditions):
            found[*(number_of(part, assigned) for part in scope.index), number_of(scope.value.address, assigned)] += 1
    return found
