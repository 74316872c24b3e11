"""What is left of one of several values where more is known than when they came together."""

from __future__ import annotations

from collections.abc import Mapping

from portcheck.frontends.nki.state.answers import answer
from portcheck.frontends.nki.state.clauses import Clauses
from portcheck.frontends.nki.state.mutation import alike
from portcheck.frontends.nki.values.values import Either, Value
from portcheck.ir import Expr, Operator, apply


def either(condition: Expr, one: Value, other: Value) -> Either:
    """`one` where `condition` holds, else `other`, which may begin with `one` by another condition."""
    if isinstance(other, Either) and alike(one, other.first):
        return either(apply(Operator.LOGICAL_OR, condition, other.condition), one, other.second)
    return Either(condition, one, other)


def narrowed(clauses: Clauses, value: Value, facts: Mapping[Expr, bool]) -> Value:
    """`value` without the choices that cannot be where the answers to conditions are as in `facts`."""
    if not isinstance(value, Either):
        return value
    holds = answer(value.condition, facts)
    if holds is not None:
        return narrowed(clauses, value.first if holds else value.second, facts)
    sides = [clauses.with_consequences(facts, value.condition, side) for side in (True, False)]
    if sides[0] is None or sides[1] is None:
        return narrowed(clauses, value.first if sides[1] is None else value.second, sides[0] or sides[1] or facts)
    first, second = narrowed(clauses, value.first, sides[0]), narrowed(clauses, value.second, sides[1])
    return value if first is value.first and second is value.second else Either(value.condition, first, second)
