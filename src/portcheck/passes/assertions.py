"""What a program asserts of its sizes."""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.ir import Apply, Assume, Const, Expr, Operator, Polynomial, Program, kernel_operations
from portcheck.ir.algebra import polynomial_of

_MODULO = (Operator.FLOOR_MODULO, Operator.TRUNCATED_MODULO)


@dataclass(frozen=True, slots=True)
class Assertion:
    """One asserted condition on sizes: `value` is a multiple of, equal to, at most, at least, or below `limit`."""

    op: Assume
    kind: str
    value: Polynomial
    limit: Polynomial

    def __str__(self) -> str:
        words = {"multiple": "is a multiple of", "equal": "equals", "most": "is at most", "least": "is at least"}
        return f"{self.value} {words[self.kind]} {self.limit}"


def assertions(program: Program) -> tuple[Assertion, ...]:
    """The asserted conditions on sizes, one for each conjunct that is understood."""
    found: list[Assertion] = []
    for op in kernel_operations(program):
        if isinstance(op, Assume):
            found.extend(_assertions(op, op.condition))
    return tuple(found)


def _assertions(op: Assume, condition: Expr) -> list[Assertion]:
    match condition:
        case Apply(Operator.LOGICAL_AND, (left, right)):
            return [*_assertions(op, left), *_assertions(op, right)]
        case Apply(Operator.EQUAL, (Apply(operator, (value, divisor)), Const(0))) if operator in _MODULO:
            return [Assertion(op, "multiple", polynomial_of(value), polynomial_of(divisor))]
        case Apply(Operator.EQUAL, (left, right)):
            return [Assertion(op, "equal", polynomial_of(left), polynomial_of(right))]
        case Apply(Operator.LESS_EQUAL, (left, right)) | Apply(Operator.GREATER_EQUAL, (right, left)):
            return [Assertion(op, "most", polynomial_of(left), polynomial_of(right))]
        case Apply(Operator.LESS, (left, right)) | Apply(Operator.GREATER, (right, left)):
            return [Assertion(op, "most", polynomial_of(left), polynomial_of(right) - 1)]
        case _:
            return []
