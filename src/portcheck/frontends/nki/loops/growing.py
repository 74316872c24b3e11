"""Lists that grow in a loop that is kept: one element a round, so that the list is a series after it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from portcheck.core.dtype import INT64
from portcheck.frontends.nki.loops.rounds import Plan, Round, length_of
from portcheck.frontends.nki.state.failure import NeedsUnrollingError, UnfollowedError
from portcheck.frontends.nki.state.mutation import State, changing
from portcheck.frontends.nki.values.arithmetic import difference, is_zero, known_int, plus, times
from portcheck.frontends.nki.values.data import allocate, as_number, as_view, is_in_sight, load, store
from portcheck.frontends.nki.values.leaves import every_leaf
from portcheck.frontends.nki.values.operands import Operand
from portcheck.frontends.nki.values.series import at, joined
from portcheck.frontends.nki.values.stacking import common_shape
from portcheck.frontends.nki.values.tiles import Result, View
from portcheck.frontends.nki.values.values import Items, Series, Value
from portcheck.ir import Apply, Const, Expr, LeaveKind, Op, Ref, Space, Symbol, integer, substitute, symbols_in

if TYPE_CHECKING:
    from portcheck.frontends.nki.state.context import Context


@dataclass(frozen=True, slots=True)
class Growth:
    """A list that was empty before the loop, with what a round adds: an element, or all those of an inner loop."""

    target: Items
    added: Value | Series


def grown(made: Round) -> list[Growth]:
    """The older lists that the round added one element to, or those of an inner loop."""
    found: list[Growth] = []
    for item in made.changes.lasting():
        state = made.changes.before[id(item)][1]
        if not isinstance(item, Items) or item.lost or not _was_empty(state) or item.read > made.changes.since:
            continue
        if item in made.plan.forgotten or any(item is other for other, _ in made.early):
            continue
        if item.series is not None:
            found.append(Growth(item, item.series))
        elif len(item.held) == 1:
            found.append(Growth(item, item.held[0]))
    return found


def _was_empty(state: State) -> bool:
    return not state.held and not state.lost and state.series is None


def settle(
    context: Context, made: Round, growth: list[Growth], left: frozenset[LeaveKind], body: list[Op]
) -> Plan | None:
    """Makes a series of each list that grew; a better plan where tiles have to last that did not.

    In a loop that may be left rounds are counted where `body` ends: those that got there added to the lists.
    """
    if not growth:
        return None
    if left - {LeaveKind.LOOP} or made.counter is None or made.variable is None:
        raise NeedsUnrollingError
    parts = [part for item in growth for part in _parts(item.added)]
    missing = {made.sites[name] for name in _buffers(parts) if name in made.sites}
    if missing:
        lasting = {site: made.made[site] for site in sorted(missing)}
        shapes = [common_shape(tile, length_of(made.counter), made.variable) for tile in lasting.values()]
        if not all(context.builder.sees(extent) for shape in shapes for extent in shape):
            raise NeedsUnrollingError
        return replace(made.plan, lasting={**made.plan.lasting, **lasting})
    if not all(_lasts(context, part) for part in parts):
        raise NeedsUnrollingError
    try:
        length = _ROUNDS if left else length_of(made.counter)
        series = [_series(context, made, item.added, length) for item in growth]
    except UnfollowedError as error:
        raise NeedsUnrollingError from error
    for item, found in zip(growth, series, strict=True):
        changing(context, item.target)
        item.target.held.clear()
        item.target.series = found
    made.counted = _counted(context, body) if left else None
    return None


_ROUNDS = Symbol("@rounds", INT64)
"""How many rounds came to their end, until that can be read behind the loop."""


def _counted(context: Context, body: list[Op]) -> View:
    """The register that counts the rounds that come to the end of `body`."""
    view = allocate(context, "rounds", INT64, (), Space.REGISTER, via="=")
    store(context, view, Operand(integer(0), INT64), via="=")
    with context.builder.continued(body):
        more = plus(load(context, view, is_tile=False).expression, integer(1))
        store(context, view, Operand(more, INT64), via="=")
    return view


def give_lengths(context: Context, made: Round, growth: list[Growth]) -> None:
    """Behind a loop that may be left: the lists that grew are as long as it had rounds that came to their end."""
    if made.counted is None:
        return
    rounds = {_ROUNDS.name: load(context, made.counted, is_tile=False).expression}
    for item in growth:
        series = item.target.series
        assert series is not None
        item.target.series = replace(series, length=substitute(series.length, rounds))


def _parts(added: Value | Series) -> list[Value]:
    value = added.element if isinstance(added, Series) else added
    return every_leaf(value)


def _buffers(parts: list[Value]) -> list[str]:
    views = [part.view if isinstance(part, Result) else part for part in parts]
    found = [view for view in views if isinstance(view, View)]
    return [item.buffer.name for view in found for item in (view, *(inner.source for inner in view.gathered))]


def _lasts(context: Context, part: Value) -> bool:
    """Whether `part` means something outside the round."""
    match part:
        case View():
            inside = (*part.index, *part.shape, *(at for item in part.gathered for at in item.at))
            is_seen = is_in_sight(context, part) and all(map(context.builder.sees, inside))
            return is_seen and all(_lasts(context, item.source) for item in part.gathered)
        case Result():
            return part.view is not None and _lasts(context, part.view)
        case Const() | Symbol() | Ref() | Apply():
            return context.builder.sees(part)
        case _:
            return True


def _series(context: Context, made: Round, added: Value | Series, length: Expr) -> Series:
    assert made.counter is not None and made.variable is not None
    place = Symbol(context.fresh_symbol("place"), INT64)
    value = _value_of(made, place)
    if isinstance(added, Series):
        if made.variable.name in symbols_in(added.length):
            raise NeedsUnrollingError
        moved = Series(added.length, added.variable, at(added.element, {made.variable.name: value}))
        return joined(length, place.name, moved, Symbol(context.fresh_symbol("place"), INT64))
    return Series(length, place.name, at(added, {made.variable.name: value}))


def _value_of(made: Round, place: Symbol) -> Expr:
    """The loop's variable in the round at `place`."""
    assert made.counter is not None
    return plus(made.counter.start, times(place, made.counter.step))


def append(context: Context, target: Items, value: Value) -> None:
    """`target.append(value)`; a tile computed in a loop that is kept gets a buffer, so that it can last."""
    if isinstance(value, Result) and value.view is None and any(made is not None for made in context.rounds):
        value = as_view(context, value) or value
    changing(context, target)
    if target.series is not None and not target.lost:
        target.values.append(value)
    target.held.append(value)  # of a list that is not known, what it may hold


def of_this_round(context: Context, target: Items, place: Value) -> Value | None:
    """The element that this round added, if `place` is its position; None if the list did not grow in this loop.

    Raises NeedsUnrollingError for another element of a list that grows.
    """
    for made in reversed(context.rounds):
        found = made.changes.before.get(id(target)) if made is not None and not made.is_traced else None
        if made is None or found is None or target.age >= made.changes.since or target.lost:
            continue
        if not _was_empty(found[1]) or len(target.held) != 1 or made.counter is None:
            continue
        number = as_number(context, place)
        if number is None:
            return None
        is_last = known_int(number) == -1
        if is_last or (made.place is not None and is_zero(difference(number, made.place))):
            return target.held[0]
        raise NeedsUnrollingError
    return None
