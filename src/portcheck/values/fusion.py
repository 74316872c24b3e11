"""Bringing bound indices to a canonical form: tiles merge, strided partial ranges join, guards become limits.

`for t < ceil(n/128), p < min(128, n - 128*t)` with everything written in 128*t + p is one index below n; threads that
each take every 256th element from their own on are together one index over all elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import permutations

from portcheck.ir import Operator, Polynomial, Ranges, number
from portcheck.ir.algebra import ceiling_divide, floor_divide, minimum, replace_symbols, use_divisibility
from portcheck.ir.polynomial import symbol
from portcheck.values.conditions import simplified
from portcheck.values.substitution import in_bound, in_condition, in_term
from portcheck.values.terms import (
    AtLeast,
    Bound,
    Condition,
    IsZero,
    Literal,
    Term,
    bound_symbols,
    condition_symbols,
    symbols_of,
)

_MOST_STEPS = 64
NOTHING = Literal(0)


@dataclass(frozen=True, slots=True)
class Quantified:
    """`value` at `index`, for all values of the bounds for which the conditions hold."""

    bounds: tuple[Bound, ...]
    conditions: tuple[Condition, ...]
    index: tuple[Polynomial, ...] = ()
    value: Term = NOTHING

    def bound(self, name: str) -> Bound | None:
        """The bound index called `name`."""
        return next((bound for bound in self.bounds if bound.variable == name), None)

    def payload_symbols(self) -> frozenset[str]:
        """The symbols that index, value and conditions depend on; not those of the limits."""
        parts = [part.symbols for part in self.index]
        parts.extend(condition_symbols(condition) for condition in self.conditions)
        return symbols_of(self.value).union(*parts)


def unit(bound: Bound) -> bool:
    """Whether a bound index starts at 0 and takes every integer."""
    return bound.start == number(0) and bound.step == number(1)


def ranges_of(bounds: Iterable[Bound], ranges: Ranges) -> Ranges:
    """`ranges` and what the bounds say of their variables (their least value must be known not to be negative)."""
    for bound in bounds:
        if ranges.is_nonnegative(bound.start):
            ranges = ranges.with_extent(bound.variable, bound.stop)
    return ranges


def replaced(scope: Quantified, symbols: dict[str, Polynomial], ranges: Ranges) -> Quantified:
    """`scope` with symbols replaced everywhere, limits included."""
    return Quantified(
        tuple(in_bound(bound, symbols, ranges) for bound in scope.bounds),
        tuple(in_condition(condition, symbols, ranges) for condition in scope.conditions),
        tuple(replace_symbols(part, symbols, ranges) for part in scope.index),
        in_term(scope.value, symbols, ranges),
    )


def fuse(scope: Quantified, ranges: Ranges) -> Quantified | None:
    """The canonical form of `scope`; None if the conditions never hold."""
    for _ in range(_MOST_STEPS):
        inner = ranges_of(scope.bounds, ranges)
        conditions = simplified(scope.conditions, inner)
        if conditions is None:
            return None
        scope = replace(scope, conditions=conditions, bounds=tuple(map(_with_plain_stop, scope.bounds)))
        changed = next((result for step in _STEPS if (result := step(scope, inner)) is not None), None)
        if changed is None:
            return scope
        scope = changed
    return scope


def _with_plain_stop(bound: Bound) -> Bound:
    return replace(bound, stop=plain_minimum(bound.stop))


def plain_minimum(value: Polynomial) -> Polynomial:
    """`value` with a term k*min(a, b) moved outside: min(k*a + rest, k*b + rest)."""
    for monomial, factor in value.terms:
        clipped = next((atom for atom in monomial if atom.operator is Operator.MINIMUM), None)
        if clipped is None or factor < 0:
            continue
        others = list(monomial)
        others.remove(clipped)
        if any(atom.operator is not None for atom in others):
            continue
        scale = Polynomial(((tuple(others), factor),))
        rest = value - Polynomial(((monomial, factor),))
        return minimum([argument * scale + rest for argument in clipped.arguments])
    return value


def _single(scope: Quantified, ranges: Ranges) -> Quantified | None:
    """Replaces an index that takes only the value 0."""
    for bound in scope.bounds:
        if unit(bound) and bound.stop == number(1):
            rest = replace(scope, bounds=_without(scope, [bound.variable]))
            return replaced(rest, {bound.variable: number(0)}, ranges)
    return None


def _without(scope: Quantified, names: Iterable[str]) -> tuple[Bound, ...]:
    return tuple(bound for bound in scope.bounds if bound.variable not in set(names))


def _pinned(scope: Quantified, ranges: Ranges) -> Quantified | None:
    """Uses an equality to replace the index it determines."""
    for condition in scope.conditions:
        if not isinstance(condition, IsZero) or condition.negated:
            continue
        others = tuple(other for other in scope.conditions if other is not condition)
        solution = _zeros(condition.value, scope, ranges) or _solution(condition.value, scope)
        if not solution:
            continue
        limits = [limit for name, value in solution.items() for limit in _inside(scope.bound(name), value)]
        rest = Quantified(_without(scope, solution), (*others, *limits), scope.index, scope.value)
        return replaced(rest, solution, ranges)
    return None


def _zeros(value: Polynomial, scope: Quantified, ranges: Ranges) -> dict[str, Polynomial]:
    """Sum of non-negative terms == 0: every index in it is 0."""
    names = {bound.variable for bound in scope.bounds if unit(bound)}
    found: dict[str, Polynomial] = {}
    for monomial, factor in value.terms:
        if factor < 0 or not monomial or not ranges.is_nonnegative(Polynomial(((monomial, 1),))):
            return {}
        if len(monomial) != 1 or monomial[0].text not in names:
            return {}
        found[monomial[0].text] = number(0)
    return found


def _solution(value: Polynomial, scope: Quantified) -> dict[str, Polynomial]:
    for bound in scope.bounds:
        coefficient = value.coefficient(bound.variable)
        if not unit(bound) or coefficient is None or coefficient.constant not in (1, -1):
            continue
        rest = value - coefficient * symbol(bound.variable)
        return {bound.variable: rest if coefficient.constant == -1 else -rest}
    return {}


def _inside(bound: Bound | None, value: Polynomial) -> tuple[Condition, ...]:
    assert bound is not None
    return (AtLeast(value), AtLeast(bound.stop - value - 1))


def _limited(scope: Quantified, ranges: Ranges) -> Quantified | None:
    """Turns the condition `index <= limit` into the end of the index."""
    names = {bound.variable for bound in scope.bounds}
    for condition in scope.conditions:
        if not isinstance(condition, AtLeast):
            continue
        for bound in scope.bounds:
            coefficient = condition.value.coefficient(bound.variable)
            factor = coefficient.constant if coefficient is not None else None
            if factor is None or factor >= 0 or not unit(bound):
                continue
            limit = condition.value + symbol(bound.variable) * -factor
            if (limit.symbols & names) - {bound.variable} or bound.variable in limit.symbols:
                continue
            end = floor_divide(limit, number(-factor), ranges) + 1
            shorter = replace(bound, stop=minimum([bound.stop, end], ranges))
            others = tuple(other for other in scope.conditions if other is not condition)
            bounds = tuple(shorter if other is bound else other for other in scope.bounds)
            return replace(scope, bounds=bounds, conditions=others)
    return None


def _joined(scope: Quantified, ranges: Ranges) -> Quantified | None:
    """Joins `start, start + S, ...` over starts that together are 0 .. S-1 into every integer."""
    for bound in scope.bounds:
        names = {other.variable for other in scope.bounds if other is not bound and unit(other)}
        starts = bound.start.symbols & names
        if not starts or bound.step == number(1):
            continue
        users = scope.payload_symbols().union(*(bound_symbols(other) for other in scope.bounds if other is not bound))
        if starts & (users | bound.stop.symbols | bound.step.symbols):
            continue
        mixed = sum((_part(bound.start, name) for name in sorted(starts)), number(0))
        if not _covers(mixed, [other for other in scope.bounds if other.variable in starts], bound.step):
            continue
        whole = Bound(bound.variable, bound.start - mixed, bound.stop, number(1))
        bounds = tuple(whole if other is bound else other for other in scope.bounds if other.variable not in starts)
        return replace(scope, bounds=bounds)
    return None


def _part(value: Polynomial, name: str) -> Polynomial:
    coefficient = value.coefficient(name)
    return number(0) if coefficient is None else coefficient * symbol(name)


def _covers(value: Polynomial, bounds: list[Bound], total: Polynomial) -> bool:
    """Whether `value`, a mixed-radix number with the bounds as digits, takes every value below `total` once."""
    reached = number(1)
    left = list(bounds)
    while left:
        digit = next((bound for bound in left if value.coefficient(bound.variable) == reached), None)
        if digit is None:
            return False
        left.remove(digit)
        reached = reached * digit.stop
    whole = sum((_part(value, bound.variable) for bound in bounds), number(0))
    return whole == value and reached == total


def _merged(scope: Quantified, ranges: Ranges) -> Quantified | None:
    """Merges two indices that occur only as outer*R + inner into one."""
    used = scope.payload_symbols()
    candidates = [bound for bound in scope.bounds if unit(bound) and bound.variable in used]
    for outer, inner in permutations(candidates, 2):
        for radix, stop in _radices(outer, inner, ranges):
            merged = _merge(scope, outer, inner, radix, stop, ranges)
            if merged is not None:
                return merged
    return None


def _radices(outer: Bound, inner: Bound, ranges: Ranges) -> Iterator[tuple[Polynomial, Polynomial]]:
    """Radix and joint extent under which `inner` fills the gaps of `outer`."""
    choices = arguments_of_minimum(inner.stop)
    for radix in choices:
        if outer.variable in radix.symbols:
            continue
        ends = [choice + radix * symbol(outer.variable) for choice in choices if choice is not radix]
        if any(outer.variable in end.symbols for end in ends):
            continue
        wholes = [_joint_extent(part, radix, inner, ranges) for part in arguments_of_minimum(outer.stop)]
        known = [whole for whole in wholes if whole is not None]
        if len(known) == len(wholes):
            yield radix, minimum([*known, *ends], ranges)


def _joint_extent(stop: Polynomial, radix: Polynomial, inner: Bound, ranges: Ranges) -> Polynomial | None:
    """How far outer*radix + inner reaches: radix*stop, or N where outer ends at ceil((N - inner)/radix)."""
    if inner.variable not in stop.symbols:
        return use_divisibility(radix * stop, ranges)
    if len(stop.terms) != 1 or stop.terms[0][1] != 1 or len(stop.terms[0][0]) != 1:
        return None
    atom = stop.terms[0][0][0]
    if atom.operator is not Operator.CEILING_DIVIDE or atom.arguments[1] != radix:
        return None
    whole = atom.arguments[0] + symbol(inner.variable)
    return None if inner.variable in whole.symbols or inner.stop != radix else whole


def arguments_of_minimum(value: Polynomial) -> tuple[Polynomial, ...]:
    """The arguments if `value` is a minimum, else `value` alone."""
    value = plain_minimum(value)
    if len(value.terms) == 1 and value.terms[0][1] == 1 and len(value.terms[0][0]) == 1:
        atom = value.terms[0][0][0]
        if atom.operator is Operator.MINIMUM:
            return atom.arguments
    return (value,)


def _merge(
    scope: Quantified, outer: Bound, inner: Bound, radix: Polynomial, stop: Polynomial, ranges: Ranges
) -> Quantified | None:
    name = f"{outer.variable}&{inner.variable}"
    together = ranges.with_extent(name, stop)
    solution = {inner.variable: symbol(name) - radix * symbol(outer.variable)}
    whole = Bound(name, number(0), stop, number(1))
    others = Quantified(_without(scope, (outer.variable, inner.variable)), scope.conditions, scope.index, scope.value)
    result = replaced(others, solution, together)
    left = result.payload_symbols().union(*(bound_symbols(bound) for bound in result.bounds), stop.symbols)
    if {outer.variable, inner.variable} & left:
        return None
    return replace(result, bounds=(*result.bounds, whole))


def without_unused(scope: Quantified, own: frozenset[str]) -> Quantified:
    """`scope` without the indices that nothing depends on.

    A loop that may run no iteration leaves the condition that it runs; threads and tile positions (`own`, and those
    named by a number) always exist.
    """
    kept: list[Bound] = []
    conditions = list(scope.conditions)
    limits = frozenset().union(*(bound_symbols(bound) for bound in scope.bounds))
    for bound in scope.bounds:
        if bound.variable in scope.payload_symbols() | limits:
            kept.append(bound)
        elif bound.variable not in own and not bound.variable[1:].isdigit():
            conditions.append(AtLeast(bound.stop - bound.start - 1))
    return replace(scope, bounds=tuple(kept), conditions=tuple(conditions))


_STEPS = (_single, _pinned, _limited, _joined, _merged)


def counted_from_zero(scope: Quantified, ranges: Ranges) -> Quantified:
    """`scope` with every index whose limits are fixed counted 0, 1, 2, ..."""
    names = [bound.variable for bound in scope.bounds]
    for name in names:
        bound = scope.bound(name)
        if bound is None or unit(bound) or bound.start.symbols & set(names):
            continue
        stop = ceiling_divide(bound.stop - bound.start, bound.step, ranges)
        fresh = Bound(bound.variable, number(0), stop, number(1))
        value = bound.start + bound.step * symbol(bound.variable)
        inner = ranges.with_extent(bound.variable, stop)
        others = replaced(replace(scope, bounds=_without(scope, [bound.variable])), {bound.variable: value}, inner)
        scope = replace(others, bounds=(*others.bounds, fresh))
    return scope
