"""What rounds hand on in a way that is not followed: it alone is lost, the loop around it is not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from portcheck.frontends.nki.loops.rounds import Plan, Round, Where
from portcheck.frontends.nki.loops.slots import Held, Slot, hint_of, put_into, value_in
from portcheck.frontends.nki.state.failure import NeedsUnrollingError
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.state.holding import reached_from
from portcheck.frontends.nki.state.mutation import Changing, State, alike, lose
from portcheck.frontends.nki.values.arithmetic import is_number
from portcheck.frontends.nki.values.callables import Accessed, Bound, BoundMethod, Class, Function, Method, Super
from portcheck.frontends.nki.values.leaves import buffers_of
from portcheck.frontends.nki.values.values import NONE, Either, Items, Table, Unknown, Value
from portcheck.ir import Expr, OpaqueKind, refs_in, symbols_in

if TYPE_CHECKING:
    from portcheck.frontends.nki.state.context import Context

_REASON = "it changes from round to round of a loop of unknown length"


@dataclass(slots=True, eq=False)
class Changed:
    """How the objects that are older than a round changed in it: numbers by their place, and what is to be lost."""

    places: set[Held] = field(default_factory=set)
    lost: dict[Slot, tuple[Value, ...]] = field(default_factory=dict)
    partly: dict[Slot, Where] = field(default_factory=dict)
    forgotten: set[Items | Table] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.places or self.lost or self.forgotten)

    def add(self, made: Round, item: Changing, now: State) -> None:
        """Adds how `item`, which holds `now` where the round ends, changed beyond what is planned for it."""
        before = made.changes.before[id(item)][1]
        if not isinstance(item, Frame):
            if item in made.plan.forgotten:
                return
            if not _keeps_its_form(item, before, now):
                self.forgotten.add(item)
                return
        for key in [*now.held, *(key for key in before.held if key not in now.held)]:
            one, other = before.held.get(key), now.held.get(key)
            place = Held(item, key)
            if place in made.plan.places or place in made.plan.lost or _are_alike(one, other):
                continue
            if one is not None and other is not None and is_number(one) and is_number(other):
                self.places.add(place)
            else:
                self.lose(place, one, other)

    def lose(self, slot: Slot, *values: Value | None) -> None:
        """Adds a place that may hold `values`, and the objects that are among them."""
        given = [value for value in values if value is not None]
        reached = [item for value in given for item in _all_in(value)]
        if any(isinstance(item, Function | Bound | BoundMethod | Accessed | Method | Super) for item in reached):
            raise NeedsUnrollingError
        self.lost[slot] = tuple(item for item in reached if not isinstance(item, Items | Table))
        self.forgotten.update(
            item for item in reached if isinstance(item, Table) or (isinstance(item, Items) and item.is_list)
        )

    def lose_partly(self, context: Context, made: Round, slot: Slot, value: Value, end: Value | None) -> bool:
        """Whether a place still holds `value` by some condition that no round changes; it is lost where it does not."""
        where = where_kept(context, made, value, end)
        if end is None or isinstance(where, bool):
            return False
        self.lose(slot, *_elsewhere(where, end))
        self.partly[slot] = where
        return True

    def better(self, plan: Plan, *, through_memory: bool) -> Plan:
        """`plan` with what was found out."""
        memory = plan.through_memory | self.places if through_memory else plan.through_memory
        return replace(
            plan, places=plan.places | self.places, lost={**plan.lost, **self.lost}, through_memory=memory,
            partly={**plan.partly, **self.partly}, forgotten=plan.forgotten | self.forgotten,
        )  # fmt: skip


def _keeps_its_form(item: Changing, before: State, now: State) -> bool:
    """Whether an object still has what it held, with other values or more of them; a list with as many."""
    if now.lost != before.lost or now.series is not before.series or now.choice is not before.choice:
        return False
    if len(now.held) < len(before.held):
        return False
    return now.held.keys() == before.held.keys() if isinstance(item, Items) else now.held.keys() >= before.held.keys()


def _are_alike(one: Value | None, other: Value | None) -> bool:
    return one is other or (one is not None and other is not None and alike(one, other))


def _all_in(value: Value) -> Iterable[Value]:
    """What `value` holds, and what both of two values do."""
    for item in reached_from(value):
        if isinstance(item, Either):
            yield from _all_in(item.first)
            yield from _all_in(item.second)
        elif not isinstance(item, Class):
            yield item


def where_kept(context: Context, made: Round, value: Value, end: Value | None) -> Where:
    """Where what is `value` before a round is still that at its `end`, by conditions that are the same in each."""
    if end is not None and alike(end, value):
        return True
    if not isinstance(end, Either) or refs_in(end.condition) or not _is_fixed(context, made, end.condition):
        return False
    first, second = (where_kept(context, made, value, side) for side in (end.first, end.second))
    return False if first is False and second is False else (end.condition, first, second)


def _is_fixed(context: Context, made: Round, condition: Expr) -> bool:
    guesses = {item.name for item in made.guesses.values()}
    return not any(name in guesses or context.is_bound(name) for name in symbols_in(condition))


def _elsewhere(where: Where, end: Value) -> list[Value]:
    """The values of `end` where it is another than before."""
    if isinstance(where, bool) or not isinstance(end, Either):
        return [] if where is True else [end]
    return [*_elsewhere(where[1], end.first), *_elsewhere(where[2], end.second)]


def _partly(where: Where, value: Value, unknown: Value) -> Value:
    """`value` where a place keeps it, and else `unknown`."""
    if isinstance(where, bool):
        return value if where else unknown
    condition, first, second = where
    return Either(condition, _partly(first, value, unknown), _partly(second, value, unknown))


def kept_otherwise(context: Context, frame: Frame, made: Round, before: Mapping[Slot, Value]) -> Plan | None:
    """A plan by which all is lost that is lost partly, where a round did not keep of it what was planned."""
    ends = {slot: value_in(frame, slot) for slot in before}
    kept = (where_kept(context, made, before[slot], end) == made.plan.partly[slot] for slot, end in ends.items())
    if not made.ends and all(kept):
        return None
    if made.plan.recalled:
        return Plan()
    changed = Changed()
    for slot, end in ends.items():
        changed.lose(slot, before[slot], end)
    return replace(changed.better(made.plan, through_memory=False), partly={})


def begin_without(context: Context, frame: Frame, plan: Plan) -> dict[Slot, Value]:
    """At the start of a round nothing is known of what is lost; one operation says what that may be.

    Gives what is lost only partly, as it was before.
    """
    partly: dict[Slot, Value] = {}
    for slot, ends in plan.lost.items():
        before = value_in(frame, slot)
        if slot in plan.partly and before is not None:
            partly[slot] = before
            _say(context, slot, ends)
            put_into(context, frame, slot, _partly(plan.partly[slot], before, _unknown(slot, ends)))
            continue
        parts = (*(_all_in(before) if before is not None else ()), *ends)
        _say(context, slot, parts)
        put_into(context, frame, slot, _unknown(slot, parts))
    for item in plan.forgotten:
        lose(context, item, _REASON)
    return partly


def _say(context: Context, slot: Slot, parts: tuple[Value, ...]) -> None:
    buffers = buffers_of(context, *parts)
    context.opaque(f"{hint_of(slot)}: {_REASON}", "=", reads=buffers, writes=buffers, kind=OpaqueKind.CONTROL)


def end_without(context: Context, frame: Frame, plan: Plan, partly: Mapping[Slot, Value]) -> None:
    """After the loop nothing is known of it either, but of what is lost `partly` where it is kept."""
    for slot, ends in plan.lost.items():
        unknown = _unknown(slot, ends)
        value = _partly(plan.partly[slot], partly[slot], unknown) if slot in partly else unknown
        put_into(context, frame, slot, value)


def _unknown(slot: Slot, parts: tuple[Value, ...]) -> Unknown:
    """Something that is another thing each time; it has parts, so that no number stands for it."""
    return Unknown("", f"{hint_of(slot)}: {_REASON}", parts or (NONE,), OpaqueKind.CONTROL)
