"""From what one iteration of a loop did to what all of them did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

from portcheck.core.source import Span
from portcheck.ir import (
    AxisKind,
    Loop,
    Operator,
    Order,
    Polynomial,
    Ranges,
    Store,
    WriteMode,
    number,
    operations,
    writes,
)
from portcheck.ir.algebra import ceiling_divide, minimum, replace_symbols
from portcheck.ir.polynomial import symbol
from portcheck.numerics import Stage
from portcheck.values import lanes
from portcheck.values.accumulation import accumulated, conditions_have_carried, has_carried
from portcheck.values.conditions import negated, truth
from portcheck.values.evaluation import State
from portcheck.values.folds import IDENTITIES, fold, is_identity
from portcheck.values.fusion import Quantified, arguments_of_minimum, ranges_of, unit
from portcheck.values.memory import Buffer, Event, Havoc, Write
from portcheck.values.normalise import normal_form
from portcheck.values.substitution import in_condition, in_term
from portcheck.values.terms import (
    AtLeast,
    Bound,
    Carried,
    Choice,
    Condition,
    Function,
    Literal,
    Term,
    Unknown,
    children,
    condition_symbols,
    has_kind,
    map_children,
    symbols_of,
)
from portcheck.values.walking import from_below

_ONE = Quantified((), ())


class Iterations:
    """A finished range loop: turns what one iteration did into what all of them did."""

    def __init__(self, state: State, loop: Loop, bound: Bound) -> None:
        self.state, self.loop, self.bound = state, loop, bound
        self.variable = bound.variable

    def after(self, before: Buffer, buffer: Buffer, events: list[Event]) -> Buffer:
        """`before` and what the loop did to it."""
        if buffer.per_thread and not buffer.shape:
            return self._register(before, buffer)
        started = self._first_overwrites(events, before)
        if started is not None:
            return before.then(started)
        if self._interfere(events):
            return before.then(Havoc(f"iterations of a loop overwrite each other's elements of {before.name}"))
        finished = [self._finished(event, before) for event in events]
        for event in finished:
            before = before.then(event)
        return before

    def _interfere(self, events: list[Event]) -> bool:
        """Whether what one store of the body leaves may be changed by another one in a later iteration."""
        writes_made = [event for event in events if isinstance(event, Write)]
        if len(writes_made) < 2:
            return False
        if any(has_carried(event.scope.value) for event in writes_made):
            return True
        return any(self._may_meet(left, right) for left, right in combinations(writes_made, 2))

    def _may_meet(self, left: Write, right: Write) -> bool:
        """Whether two stores may reach one element in different iterations.

        The same index is no matter if each iteration has its own elements, or if both stores run in every iteration.
        """
        pairs = list(zip(left.scope.index, right.scope.index, strict=False))
        if all(one == other for one, other in pairs):
            return not any(self._moves_on(one) for one, _ in pairs) and any(map(self._is_conditional, (left, right)))
        return not any(self._are_apart(one, other) for one, other in pairs)

    def _moves_on(self, index: Polynomial) -> bool:
        stride = index.coefficient(self.variable)
        return stride is not None and bool(stride.terms)

    def _is_conditional(self, write: Write) -> bool:
        return any(self.variable in condition_symbols(part) for part in write.scope.conditions)

    def _are_apart(self, left: Polynomial, right: Polynomial) -> bool:
        gap = (left - right).constant
        stride = left.coefficient(self.variable)
        if not gap or stride is None or stride.constant is None or left.symbols - {self.variable}:
            return False
        return bool(stride.constant == 0 or gap % stride.constant)

    def _first_overwrites(self, events: list[Event], before: Buffer) -> Event | None:
        """A reduction whose first iteration stores what the later ones add."""
        if len(events) != 2:
            return None
        for later, first in (events, events[::-1]):
            if not (isinstance(later, Write) and isinstance(first, Write)) or later.scope.index != first.scope.index:
                continue
            found = accumulated(later.scope.value, Carried(before.name, later.scope.index))
            if found is None or found[1] != first.scope.value or has_carried(first.scope.value):
                continue
            common = tuple(part for part in first.scope.conditions if part in later.scope.conditions)
            own = tuple(part for part in first.scope.conditions if part not in common)
            others = tuple(part for part in later.scope.conditions if part not in common)
            if own and others == negated(own) and self._holds_only_first(own):
                scope = self._with_fixed_bounds(replace(later.scope, conditions=common))
                return self._reduced(later, replace(scope, value=first.scope.value), before, found[0])
        return None

    def _holds_only_first(self, conditions: tuple[Condition, ...]) -> bool:
        later = f"{self.variable}.later"
        ranges = self.state.ranges.with_extent(later, self.bound.stop)
        first = {self.variable: self.bound.start}
        after = {self.variable: self.bound.start + self.bound.step * (symbol(later) + 1)}
        at_first = [truth(in_condition(part, first, ranges), ranges) for part in conditions]
        at_later = [truth(in_condition(part, after, ranges), ranges) for part in conditions]
        return all(at_first) and False in at_later

    def _reduced(self, event: Write, scope: Quantified, before: Buffer, operator: Operator) -> Event:
        """The reduction of `scope.value` over the loop, with nothing before it."""
        fixed = tuple(part for part in scope.conditions if self.variable not in condition_symbols(part))
        varying = tuple(part for part in scope.conditions if part not in fixed)
        identity = IDENTITIES.get(operator)
        if varying and identity is None:
            return Havoc(f"{before.name} is combined under a condition")
        body = Choice(varying, scope.value, identity) if varying and identity is not None else scope.value
        ranges = ranges_of(scope.bounds, self.state.ranges)
        value = fold(operator, (self.bound,), body, self._stage(before), ranges)
        return replace(event, scope=replace(scope, conditions=fixed, value=value))

    def _register(self, before: Buffer, buffer: Buffer) -> Buffer:
        value = self.state.reader().read(buffer, ())
        carried = Carried(buffer.name, ())
        if value == carried:
            return before
        found = accumulated(lanes.settled(value, self.state.ranges), carried)
        if found is not None:
            return before.then(self._write(self._sum(before, _ONE, *found)))
        if has_carried(value) or self.variable in symbols_of(value):
            return before.then(Havoc(f"what the loop leaves in {buffer.name} is not a reduction"))
        runs = AtLeast(self.bound.stop - self.bound.start - 1)
        known = truth(runs, self.state.ranges) is True
        return before.then(self._write(value if known else Choice((runs,), value, self._initial(before, _ONE))))

    def _write(self, value: Term) -> Write:
        given = tuple(self.state.given() or ())
        return Write(Quantified((), given, (), value), WriteMode.OVERWRITE, self.loop.id)

    def _initial(self, before: Buffer, scope: Quantified) -> Term:
        """What an element held before the loop."""
        value = self.state.reader_in(ranges_of(scope.bounds, self.state.ranges)).read(before, scope.index)
        is_fresh = isinstance(value, Unknown) and not before.events
        return Literal(0) if is_fresh and self._is_group(before.name) else value

    def _is_group(self, name: str) -> bool:
        modes = [op.mode for op in operations(self.loop.body) if isinstance(op, Store) and op.access.buffer == name]
        return WriteMode.GROUP in modes

    def _sum(self, before: Buffer, scope: Quantified, operator: Operator, body: Term) -> Term:
        start = self._initial(before, scope)
        ranges = ranges_of(scope.bounds, self.state.ranges)
        if is_identity(operator, start):
            return fold(operator, (self.bound,), body, self._stage(before), ranges)
        extended = self._with_first(start, body, ranges)
        if extended is not None:
            return fold(operator, (extended[0],), extended[1], self._stage(before), ranges)
        return Function(operator, (start, fold(operator, (self.bound,), body, self._stage(before), ranges)))

    def _with_first(self, start: Term, body: Term, ranges: Ranges) -> tuple[Bound, Term] | None:
        """Bound and body that include `start`, if it is the term before the first one of the loop."""
        bound = self.bound
        if not unit(bound):
            return None
        before = in_term(body, {self.variable: number(-1)}, ranges)
        if normal_form(before, {}) != normal_form(start, {}):
            return None
        longer = replace(bound, stop=bound.stop + 1)
        shifted = in_term(
            body, {self.variable: symbol(self.variable) - 1}, ranges.with_extent(self.variable, longer.stop)
        )
        return longer, shifted

    def _stage(self, buffer: Buffer) -> Stage:
        """The loop as a stage; where threads take different numbers of terms, those of the first, which has most."""
        first = {bound.variable: number(0) for bound in self.state.threads.block}
        count = ceiling_divide(self.bound.stop - self.bound.start, self.bound.step, self.state.ranges)
        terms = replace_symbols(count, first, self.state.ranges)
        free = self.loop.kind is AxisKind.PARALLEL_ASSERTED
        return Stage(
            name=f"loop over {self.loop.variable}",
            terms=terms,
            order=Order.UNDOCUMENTED if free else Order.SEQUENTIAL,
            dtype=buffer.dtype,
            span=self._place(buffer.name),
            operations=frozenset({self.loop.id}),
            buffer=buffer.name,
        )

    def _place(self, name: str) -> Span:
        for op in operations(self.loop.body):
            if name in writes(op):
                return op.span
        return self.loop.span

    def _finished(self, event: Event, before: Buffer) -> Event:
        if not isinstance(event, Write):
            return event
        scope = event.scope
        if conditions_have_carried(scope.conditions):
            return Havoc("a store in a loop depends on what an earlier iteration left")
        if not has_carried(scope.value):
            return replace(event, scope=replace(scope, bounds=(*scope.bounds, self.bound)))
        index_varies = any(self.variable in part.symbols for part in scope.index)
        carried = Carried(before.name, scope.index)
        if index_varies:
            return self._updated_in_place(event, before)
        found = accumulated(scope.value, carried)
        if found is None:
            return Havoc(f"what the loop leaves in {before.name} is not a reduction")
        operator, body = found
        scope = self._with_fixed_bounds(scope)
        fixed = tuple(part for part in scope.conditions if self.variable not in condition_symbols(part))
        varying = tuple(part for part in scope.conditions if part not in fixed)
        identity = IDENTITIES.get(operator)
        if varying and identity is None:
            return Havoc(f"{before.name} is combined under a condition")
        term = Choice(varying, body, identity) if varying and identity is not None else body
        value = self._sum(before, scope, operator, term)
        return replace(event, scope=replace(scope, conditions=fixed, value=value))

    def _with_fixed_bounds(self, scope: Quantified) -> Quantified:
        """`scope` with limits that vary between iterations made conditions, where a wider limit is known."""
        bounds: list[Bound] = []
        conditions = list(scope.conditions)
        for bound in scope.bounds:
            parts = arguments_of_minimum(bound.stop)
            fixed = [part for part in parts if self.variable not in part.symbols]
            if not fixed or len(fixed) == len(parts):
                bounds.append(bound)
                continue
            varying = [part for part in parts if part not in fixed]
            bounds.append(replace(bound, stop=minimum(fixed, self.state.ranges)))
            conditions.extend(AtLeast(part - symbol(bound.variable) - 1) for part in varying)
        return replace(scope, bounds=tuple(bounds), conditions=tuple(conditions))

    def _updated_in_place(self, event: Write, before: Buffer) -> Event:
        """Each iteration changes its own element: what it finds there is what stood there before the loop."""
        value = self._without_carried(event.scope.value, before, event.scope)
        if has_carried(value):
            return Havoc(f"an iteration reads what another left in {before.name}")
        scope = event.scope
        return replace(event, scope=replace(scope, bounds=(*scope.bounds, self.bound), value=value))

    def _without_carried(self, value: Term, before: Buffer, scope: Quantified) -> Term:
        def make(node: Term, of: Callable[[Term], Term]) -> Term:
            if node == Carried(before.name, scope.index):
                return self._initial(before, scope)
            return map_children(node, of) if has_kind(node, Carried) else node

        return from_below(value, lambda node: children(node) if has_kind(node, Carried) else (), make)
