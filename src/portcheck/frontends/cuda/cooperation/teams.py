"""Threads that work together through an object of a library: who they are, and how they see each other's values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from portcheck.core.dtype import INT32, DType
from portcheck.frontends.cuda.cooperation.combining import numbers_of, rebuilt
from portcheck.frontends.cuda.cooperation.groups import block_group, lane_of, warp_size
from portcheck.frontends.cuda.expressions.numbers import calculate
from portcheck.frontends.cuda.model.conversions import materialised
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import scalar_type
from portcheck.frontends.cuda.model.values import Aggregate, Buffer, Facility, Place, Scalar, Value
from portcheck.ir import (
    Alloc,
    AxisKind,
    Barrier,
    Const,
    Exchange,
    ExchangeKind,
    Expr,
    Loop,
    Range,
    Scope,
    Space,
    Symbol,
    ValueType,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Team:
    """Whose threads work together, how many they are, and which one this is."""

    scope: Scope
    size: Scalar
    rank: Scalar
    name: str
    """What reports call what they do."""
    first: Scalar | None = None
    """The number in the block of the first of them, where that is not 0."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Values that threads of a block can look at: one buffer for each number they are made of."""

    sample: Value
    buffers: tuple[Buffer, ...]
    start: Scalar | None = None
    """Where the team's own part begins."""

    def _element(self, state: State, buffer: Buffer, index: Expr) -> Place:
        if self.start is not None:
            index = calculate(state, "+", self.start, Scalar(index, self.start.dtype)).expr
        return Place(buffer.name, (index,), scalar_type(buffer.dtype))

    def at(self, state: State, index: Expr) -> Value:
        """The value at `index`."""
        numbers = [state.load(self._element(state, buffer, index), buffer.dtype) for buffer in self.buffers]
        return rebuilt(self.sample, numbers)

    def put(self, state: State, index: Expr, value: Value) -> None:
        """Puts a value like the others at `index`."""
        for buffer, number in zip(self.buffers, numbers_of(value) or (), strict=True):
            state.store(self._element(state, buffer, index), materialised(state, number))


def team_of(state: State, facility: Facility, via: str) -> Team:
    """The threads that an object is for."""
    if facility.scope == Scope.BLOCK:
        group = block_group(state)
        return Team(Scope.BLOCK, group.size, group.rank, via)
    lanes = warp_size(state)
    if facility.lanes:
        lanes = Scalar(Const(facility.lanes, lanes.dtype), lanes.dtype)
    rank = calculate(state, "%", lane_of(state), lanes)
    return Team(Scope.WARP, lanes, rank, via, calculate(state, "-", block_group(state).rank, rank))


def shown(state: State, team: Team, key: tuple[object, ...], sample: Value, count: int) -> Shown | None:
    """Room for `count` values like `sample` of each thread; None for what is made of anything but numbers.

    Everybody is done with what was there before.
    """
    numbers = numbers_of(sample)
    if numbers is None:
        return None
    meet(state, team)
    threads = block_group(state).size
    extent = threads.expr if count == 1 else calculate(state, "*", threads, count).expr
    buffers = tuple(_room(state, (*key, place), number.dtype, extent) for place, number in enumerate(numbers))
    start = calculate(state, "*", team.first, count) if team.first is not None else None
    return Shown(sample, buffers, start)


def meet(state: State, team: Team) -> None:
    """The threads wait for each other."""
    state.builder.emit(Barrier, scope=team.scope, via=team.name)


def shuffled(state: State, team: Team, value: Value, kind: ExchangeKind, lane: Expr) -> Value:
    """`value` as another lane of a warp has it."""
    if isinstance(value, Aggregate):
        members = ((name, shuffled(state, team, member, kind, lane)) for name, member in value.members)
        return Aggregate(value.type, tuple(members))
    if not isinstance(value, Scalar):
        return value
    return state.result(
        Exchange, value.dtype, kind=kind, operand=materialised(state, value), lane=lane, width=team.size.expr,
        via=team.name,
    )  # fmt: skip


@contextmanager
def over(state: State, start: Expr, stop: Expr, via: str) -> Iterator[Symbol]:
    """What is emitted inside the `with` block is done for each number from `start` up to `stop`."""
    variable = state.unique("thread")
    with state.builder.region() as body:
        yield Symbol(variable, INT32)
    values = Range(start=start, stop=stop, step=Const(1, INT32))
    state.builder.emit(Loop, variable=variable, values=values, body=tuple(body), kind=AxisKind.SEQUENTIAL, via=via)


def _room(state: State, key: tuple[object, ...], dtype: DType, extent: Expr) -> Buffer:
    """A shared array, the same one whenever the same call is made."""
    kept = ("room", *key, dtype, extent, state.instance)
    if kept not in state.shared_once:
        name = state.unique("exchanged")
        state.shared_once[kept] = name
        state.buffers[name] = Buffer(name, dtype, (extent,), space=Space.SHARED)
        with state.builder.region() as hoisted:
            state.builder.emit(Alloc, name=name, type=ValueType(dtype, (extent,), Space.SHARED))
        state.hoisted.extend(hoisted)
    return state.buffers[state.shared_once[kept]]
