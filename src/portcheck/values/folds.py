"""Making reductions: nested ones flatten, guarded terms become conditions, bounds become canonical."""

from __future__ import annotations

from dataclasses import replace

from portcheck.ir import Operator, Ranges
from portcheck.ir.polynomial import symbol
from portcheck.numerics import Stage
from portcheck.values.fusion import Quantified, fuse
from portcheck.values.substitution import in_term
from portcheck.values.terms import Bound, Choice, Condition, Fold, Function, Index, Literal, Rounded, Term

IDENTITIES: dict[Operator, Literal] = {
    Operator.ADD: Literal(0),
    Operator.MULTIPLY: Literal(1),
    Operator.MAXIMUM: Literal(float("-inf")),
    Operator.MINIMUM: Literal(float("inf")),
}


def is_identity(operator: Operator, term: Term) -> bool:
    """Whether `term` is the identity of `operator`."""
    match term:
        case Rounded(_, operand):
            return is_identity(operator, operand)
        case Index(value) if value.constant is not None:
            return Literal(value.constant) == IDENTITIES.get(operator)
        case _:
            return term == IDENTITIES.get(operator)


def fold(
    operator: Operator,
    bounds: tuple[Bound, ...],
    body: Term,
    stage: Stage | None,
    ranges: Ranges,
    conditions: tuple[Condition, ...] = (),
) -> Term:
    """The reduction of `body`, flattened with what it reduces and canonical in its bounds."""
    stages = (stage,) if stage is not None else ()
    while True:
        inner = body.operand if isinstance(body, Rounded) and isinstance(body.operand, Fold) else body
        if isinstance(inner, Fold) and inner.operator is operator:
            bounds, conditions = (*bounds, *inner.bounds), (*conditions, *inner.conditions)
            stages, body = (*inner.stages, *stages), inner.body
        elif isinstance(inner, Choice) and is_identity(operator, inner.on_false):
            conditions, body = (*conditions, *inner.conditions), inner.on_true
        elif operator is Operator.ADD and guard_of(inner):
            conditions, body = (*conditions, *guard_of(inner)), without_guard(inner)
        else:
            break
    scope = fuse(Quantified(bounds, conditions, (), body), ranges)
    if scope is None:
        return IDENTITIES.get(operator, Literal(0))
    if not scope.bounds and not scope.conditions:
        return scope.value
    return Fold(operator, scope.bounds, scope.conditions, scope.value, stages)


_KEEP_ZERO = frozenset({Operator.MULTIPLY, Operator.DIVIDE, Operator.NEGATE, Operator.SQUARE})


def guard_of(term: Term) -> tuple[Condition, ...]:
    """Conditions without which `term` is 0 over the reals: those of a factor that is 0 where they fail."""
    match term:
        case Choice(conditions, _, on_false) if is_identity(Operator.ADD, on_false):
            return conditions
        case Rounded(_, operand):
            return guard_of(operand)
        case Function(operator, (first, *rest)) if operator in _KEEP_ZERO:
            guard = guard_of(first)
            return guard or (guard_of(rest[0]) if rest and operator is Operator.MULTIPLY else ())
        case _:
            return ()


def without_guard(term: Term) -> Term:
    """`term` where the conditions of `guard_of` hold."""
    match term:
        case Choice(_, on_true, _):
            return on_true
        case Rounded(_, operand):
            return replace(term, operand=without_guard(operand))
        case Function(_, (first, *rest)):
            if guard_of(first):
                return replace(term, arguments=(without_guard(first), *rest))
            return replace(term, arguments=(first, without_guard(rest[0])))
        case _:
            return term


def lane_fold(operator: Operator, lane: str, first: Bound, body: Term, stage: Stage | None, ranges: Ranges) -> Term:
    """The reduction of `body` over lanes: `first` says which lanes, in place of the symbol `lane`."""
    inner = ranges.with_extent(first.variable, first.stop)
    moved = in_term(body, {lane: symbol(first.variable)}, inner)
    return fold(operator, (first,), moved, stage, ranges)
