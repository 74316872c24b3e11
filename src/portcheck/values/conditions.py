"""Integer conditions: what follows from what is known, negation, conjunction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from portcheck.ir import Operator, Polynomial, Ranges, number
from portcheck.values.terms import AtLeast, Condition, Holds, IsZero, NotAll, Unknown, has_kind

ALWAYS: tuple[Condition, ...] = ()
NEVER: tuple[Condition, ...] = (AtLeast(number(-1)),)


def compare(operator: Operator, left: Polynomial, right: Polynomial) -> Condition | None:
    """The condition `left operator right` for an integer comparison; None for another operator."""
    match operator:
        case Operator.LESS:
            return AtLeast(right - left - 1)
        case Operator.LESS_EQUAL:
            return AtLeast(right - left)
        case Operator.GREATER:
            return AtLeast(left - right - 1)
        case Operator.GREATER_EQUAL:
            return AtLeast(left - right)
        case Operator.EQUAL:
            return IsZero(_positive(left - right))
        case Operator.NOT_EQUAL:
            return IsZero(_positive(left - right), negated=True)
        case _:
            return None


def _positive(value: Polynomial) -> Polynomial:
    return -value if value.terms and value.terms[-1][1] < 0 else value


def negated(conditions: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """The negation of a conjunction."""
    if len(conditions) != 1:
        return (NotAll(conditions),) if conditions else NEVER
    match conditions[0]:
        case AtLeast(value):
            return (AtLeast(-value - 1),)
        case IsZero(value, negated=is_negated):
            return (IsZero(value, not is_negated),)
        case Holds(term, is_negated):
            return (Holds(term, not is_negated),)
        case NotAll(inner):
            return inner


def truth(condition: Condition, ranges: Ranges, given: Iterable[Condition] = ()) -> bool | None:
    """Whether `condition` holds always (True), never (False), or neither is known (None)."""
    if _is_unknown(condition):
        return None
    known = tuple(given)
    if condition in known:
        return True
    (opposite, *others) = negated((condition,))
    if not others and opposite in known:
        return False
    match condition:
        case AtLeast(value):
            return _sign(value, ranges, known)
        case IsZero(value, is_negated):
            zero = _is_zero(value, ranges, known)
            return zero if zero is None else zero is not is_negated
        case NotAll(inner):
            return _not_all(inner, ranges, known)
        case _:
            return None


def _is_unknown(condition: Condition) -> bool:
    """Whether a condition is about a value that was not understood: two such values are never known to be the same."""
    return isinstance(condition, Holds) and has_kind(condition.term, Unknown)


def _sign(value: Polynomial, ranges: Ranges, given: tuple[Condition, ...]) -> bool | None:
    if ranges.is_nonnegative(value):
        return True
    if ranges.is_nonnegative(-value - 1):
        return False
    for fact in given:
        match fact:
            case AtLeast(known) if ranges.is_nonnegative(value - known):
                return True
            case AtLeast(known) if ranges.is_nonnegative(-value - 1 - known):
                return False
            case _:
                continue
    return None


def _is_zero(value: Polynomial, ranges: Ranges, given: tuple[Condition, ...]) -> bool | None:
    if value.constant is not None:
        return value.constant == 0
    if ranges.is_nonnegative(value - 1) or ranges.is_nonnegative(-value - 1):
        return False
    above, below = _sign(value - 1, ranges, given), _sign(-value - 1, ranges, given)
    if above or below:
        return False
    return True if above is False and below is False else None


def _not_all(conditions: tuple[Condition, ...], ranges: Ranges, given: tuple[Condition, ...]) -> bool | None:
    truths = [truth(condition, ranges, given) for condition in conditions]
    if any(value is False for value in truths):
        return True
    return False if all(truths) else None


def simplified(
    conditions: Iterable[Condition], ranges: Ranges, given: tuple[Condition, ...] = ()
) -> tuple[Condition, ...] | None:
    """The conjunction without what is known to hold; None if it never holds."""
    kept: list[Condition] = []
    for condition in _parts(conditions):
        value = truth(condition, ranges, (*given, *kept))
        if value is False:
            return None
        if value is None:
            kept.append(condition)
    return tuple(kept)


def _parts(conditions: Iterable[Condition]) -> Iterator[Condition]:
    """The conditions, min(a, b) + rest >= 0 taken apart into a + rest >= 0 and b + rest >= 0."""
    for condition in conditions:
        bounds = _unclipped(condition.value) if isinstance(condition, AtLeast) else ()
        if bounds:
            yield from _parts(AtLeast(value) for value in bounds)
        else:
            yield condition


def _unclipped(value: Polynomial) -> tuple[Polynomial, ...]:
    for monomial, factor in value.terms:
        if factor == 1 and len(monomial) == 1 and monomial[0].operator is Operator.MINIMUM:
            rest = value - Polynomial(((monomial, factor),))
            return tuple(argument + rest for argument in monomial[0].arguments)
    return ()
