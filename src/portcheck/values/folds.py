"""Making reductions: nested ones flatten, guarded terms become conditions, bounds become canonical."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from portcheck.ir import Operator, Ranges
from portcheck.ir.polynomial import symbol
from portcheck.knowledge import load
from portcheck.numerics import Stage
from portcheck.values.fusion import Quantified, fuse
from portcheck.values.normalise import single_precision
from portcheck.values.substitution import in_term
from portcheck.values.terms import (
    Bound,
    Choice,
    Condition,
    Fold,
    Function,
    Index,
    Literal,
    Rounded,
    Term,
    Unknown,
    symbols_of,
)

IDENTITIES: dict[Operator, Literal] = {
    Operator.ADD: Literal(0),
    Operator.MULTIPLY: Literal(1),
    Operator.MAXIMUM: Literal(float("-inf")),
    Operator.MINIMUM: Literal(float("inf")),
}


_LARGEST = load().dtypes.by_name["float32"].max_finite
"""The largest finite float32: its negative is no greater than any finite element of a maximum."""


def _stored(value: Fraction | float) -> Fraction | float:
    """A literal as the float32 it is."""
    return single_precision(value) if isinstance(value, Fraction) else value


def is_identity(operator: Operator, term: Term) -> bool:
    """Whether `term` is the identity of `operator`."""
    match term:
        case Rounded(_, operand):
            return is_identity(operator, operand)
        case Index(value) if value.constant is not None:
            return Literal(value.constant) == IDENTITIES.get(operator)
        case Literal(value) if operator is Operator.MAXIMUM:
            return _stored(value) <= -_LARGEST
        case Literal(value) if operator is Operator.MINIMUM:
            return _stored(value) >= _LARGEST
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
    outside: list[Term] = []
    while True:
        inner = body.operand if isinstance(body, Rounded) and isinstance(body.operand, Fold) else body
        if isinstance(inner, Fold) and inner.operator is operator:
            bounds, conditions = (*bounds, *inner.bounds), (*conditions, *inner.conditions)
            stages, body = (*inner.stages, *stages), inner.body
        elif isinstance(inner, Choice) and is_identity(operator, inner.on_false):
            conditions, body = (*conditions, *inner.conditions), inner.on_true
        elif parts := _parted(operator, bounds, conditions, inner, ranges):
            outside, body = [*outside, parts[0]], parts[1]
        elif operator is Operator.ADD and guard_of(inner):
            conditions, body = (*conditions, *guard_of(inner)), without_guard(inner)
        else:
            break
    scope = fuse(Quantified(bounds, conditions, (), body), ranges)
    result: Term
    if scope is None:
        result = IDENTITIES.get(operator, Literal(0))
    elif not scope.bounds and not scope.conditions:
        result = scope.value
    else:
        result = Fold(operator, scope.bounds, scope.conditions, scope.value, stages)
    for fixed in dict.fromkeys(outside):
        result = Function(operator, (fixed, result))
    return result


_IDEMPOTENT = frozenset({Operator.MAXIMUM, Operator.MINIMUM})


def _parted(
    operator: Operator, bounds: tuple[Bound, ...], conditions: tuple[Condition, ...], body: Term, ranges: Ranges
) -> tuple[Term, Term] | None:
    """A maximum or minimum in a reduction that has terms: the argument that is the same in all of them, the other."""
    has_terms = not conditions and all(ranges.is_nonnegative(bound.stop - bound.start - 1) for bound in bounds)
    if operator not in _IDEMPOTENT or not has_terms or not isinstance(body, Function) or body.operator is not operator:
        return None
    names = {bound.variable for bound in bounds}
    for fixed, rest in (body.arguments, body.arguments[::-1]):
        if not symbols_of(fixed) & names and not isinstance(fixed, Fold | Unknown):
            return fixed, rest
    return None


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
