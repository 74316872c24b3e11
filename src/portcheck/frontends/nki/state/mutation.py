"""Changes of Python objects: noted before they happen, so that they can be taken back, compared and merged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from portcheck.core.dtype import INT64
from portcheck.frontends.nki.state.failure import ForkError, UnfollowedError
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.state.holding import reached_from
from portcheck.frontends.nki.values.ages import new_age
from portcheck.frontends.nki.values.arithmetic import same
from portcheck.frontends.nki.values.tiles import Grid, View
from portcheck.frontends.nki.values.values import Either, Items, Key, Series, Table, Value
from portcheck.ir import Apply, Const, Expr, Ref, Symbol, substitute

if TYPE_CHECKING:
    from portcheck.frontends.nki.state.context import Context

Changing = Items | Table | Frame


@dataclass(frozen=True, slots=True)
class State:
    """What an object holds by key or position, why it is not known, if so; its series or choice, if it has one."""

    held: dict[Key, Value]
    lost: str = ""
    series: Series | None = None
    choice: Either | None = None


def changing(context: Context, item: Changing) -> None:
    """Notes what `item` holds; to be called before each change of it. Raises ForkError where it may be one of two."""
    if isinstance(item, Items | Table) and item.choice is not None:
        raise ForkError(item.choice.condition)
    context.journal.note(item)


def take_first(context: Context, item: Items) -> Value:
    """Takes the first element of an iterator that has one."""
    _check_in_time(context, item)
    changing(context, item)
    return item.values.pop(0)


def _check_in_time(context: Context, item: Items) -> None:
    """Raises UnfollowedError where what `item` gives is worked out now, and something was done since it was made."""
    _, made = context.lazy.get(id(item), (item, context.builder.next_id))
    if made != context.builder.next_id:
        raise UnfollowedError("a generator that computes takes turns with what uses it")
    if any(watch.has_changed(context) for watch in item.watches):
        raise UnfollowedError("what a generator reads changed between where it is made and where it is used")


@contextmanager
def made_lazily(context: Context) -> Iterator[list[Items]]:
    """The `with` block makes iterators, and puts them in the list it gives: what it does belongs to who takes them."""
    first, made = context.builder.next_id, list[Items]()
    with context.journal.changes() as changes:
        yield made
    if context.builder.next_id != first or changes.lasting():
        context.lazy.update((id(item), (item, context.builder.next_id)) for item in made)


def left_over(context: Context, mark: int) -> bool:
    """Whether an iterator whose elements are computed was not used up; those noted since `mark` are forgotten."""
    noted = [context.lazy.popitem()[1][0] for _ in range(len(context.lazy) - mark)]
    return any(item.held or item.series is not None for item in noted)


def use_up(context: Context, item: Items) -> None:
    """All elements of `item` were taken: an iterator has none left."""
    if item.once and (item.held or item.series is not None):
        _check_in_time(context, item)
        changing(context, item)
        item.held.clear()
        item.series = None


def lose(context: Context, item: Items | Table, reason: str) -> None:
    """From now on what `item` holds is not known, nor what it is a copy of."""
    if item.origin is None:
        context.journal.note(item)
    else:
        lose(context, item.origin, reason)
    item.choice = None
    item.lost = item.lost or reason


def lose_all(context: Context, reason: str, *values: Value | None) -> None:
    """From now on no list, table or object in `values` is known; a tuple stays what it is."""
    for value in values:
        for item in reached_from(value):
            if isinstance(item, Table) or (isinstance(item, Items) and item.is_list):
                lose(context, item, reason)


def state_of(item: Changing) -> State:
    """What `item` holds now."""
    match item:
        case Frame():
            return State(dict(item.names.items()))
        case Items():
            return State(dict(enumerate(item.held)), item.lost, item.series, item.choice)
        case Table():
            return State(dict(item.held), item.lost, None, item.choice)


def put_back(item: Changing, state: State) -> None:
    """Makes `item` hold `state`."""
    match item:
        case Frame():
            item.names.clear()
            item.names.update({str(name): value for name, value in state.held.items()})
        case Items():
            item.held[:] = state.held.values()
            item.lost, item.series, item.choice = state.lost, state.series, state.choice
        case Table():
            item.held.clear()
            item.held.update(state.held)
            item.lost, item.choice = state.lost, state.choice


@dataclass(slots=True, eq=False)
class Changes:
    """The objects that changed since it was made, each with what it held before."""

    since: int = field(default_factory=new_age)
    before: dict[int, tuple[Changing, State]] = field(default_factory=dict)

    def undo(self) -> None:
        """Takes the changes back."""
        for item, state in self.before.values():
            put_back(item, state)

    def now(self) -> dict[int, State]:
        """What the objects that changed hold now."""
        return {key: state_of(item) for key, (item, _) in self.before.items()}

    def lasting(self) -> list[Changing]:
        """The objects made before that hold something else now."""
        return [item for item, state in self.before.values() if item.age < self.since and not _equal(item, state)]


def _equal(item: Changing, state: State) -> bool:
    now = state_of(item)
    if now.lost != state.lost or now.series is not state.series or now.choice is not state.choice:
        return False
    if list(now.held) != list(state.held):
        return False
    return all(alike(value, state.held[key]) for key, value in now.held.items())


def alike(one: Value, other: Value) -> bool:
    """Whether both are the same object, or certainly equal numbers, tiles, or a choice of those by one condition."""
    if one is other:
        return True
    if isinstance(one, Const | Symbol | Ref | Apply) and isinstance(other, Const | Symbol | Ref | Apply):
        return one.dtype == other.dtype and same(one, other)
    if isinstance(one, Grid) and isinstance(other, Grid):
        return _are_one_grid(one, other)
    if isinstance(one, View) and isinstance(other, View):
        return one == other or _are_one_view(one, other)
    if isinstance(one, Either) and isinstance(other, Either):
        is_one = one.condition == other.condition
        return is_one and alike(one.first, other.first) and alike(one.second, other.second)
    return not isinstance(one, Items) and one == other


def _are_one_view(one: View, other: View) -> bool:
    """Whether both are the same elements in the same places, whatever the positions are called."""
    counts = len(one.dimensions), len(one.index)
    if one.buffer != other.buffer or one.gathered or other.gathered:
        return False
    if counts != (len(other.dimensions), len(other.index)):
        return False
    names: dict[str, Expr] = {}
    for left, right in zip(one.dimensions, other.dimensions, strict=True):
        if left.spread != right.spread or not same(left.extent, right.extent):
            return False
        names[left.symbol] = Symbol(right.symbol, INT64)
    return all(same(substitute(left, names), right) for left, right in zip(one.index, other.index, strict=True))


def _are_one_grid(one: Grid, other: Grid) -> bool:
    """Whether both are the same function of the position, whatever the positions are called."""
    if one.dtype != other.dtype or len(one.dimensions) != len(other.dimensions):
        return False
    names: dict[str, Expr] = {}
    for left, right in zip(one.dimensions, other.dimensions, strict=True):
        if left is None or right is None:
            if left is not right:
                return False
            continue
        if left.spread != right.spread or not same(left.extent, right.extent):
            return False
        names[left.symbol] = Symbol(right.symbol, INT64)
    return same(substitute(one.expression, names), other.expression)


@dataclass(slots=True, eq=False)
class Journal:
    """The changes since each point that something may want to go back to, the innermost last."""

    open: list[Changes] = field(default_factory=list)
    log: list[Changing] = field(default_factory=list)
    """What changed, in order."""

    def going_on(self) -> tuple[int, ...]:
        """When what may be taken back began, the outermost first."""
        return tuple(changes.since for changes in self.open)

    def note(self, item: Changing) -> None:
        """Notes what `item` holds wherever it did not change yet; raises UnfollowedError for a copy of an element."""
        if not isinstance(item, Frame) and item.origin is not None:
            raise UnfollowedError("an element of a list of unknown length is changed")
        if not self.log or self.log[-1] is not item:
            self.log.append(item)
        for changes in self.open:
            if id(item) not in changes.before:
                changes.before[id(item)] = (item, state_of(item))

    @contextmanager
    def changes(self) -> Iterator[Changes]:
        """The changes made inside the `with` block."""
        made = Changes()
        self.open.append(made)
        try:
            yield made
        finally:
            self.open.pop()
