"""Tiles that were copied into one buffer, by a branch or a loop, and whether that lost which names mean one tile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from portcheck.core.source import Span
from portcheck.frontends.nki.state.holding import reached_from
from portcheck.frontends.nki.values.tiles import Result, View
from portcheck.frontends.nki.values.values import Value
from portcheck.ir import Alloc, Op, Store
from portcheck.ir.walk import operations, reads, writes

Place = tuple[tuple[Span, ...], str]
"""How a branch or loop was reached, and the name that its arms or rounds bind."""


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    """A buffer that holds what a name is bound to in either arm, or before a loop and at the end of a round.

    `sides` are those values, each with the names there that may be read again; `since` is when the function was called.
    The buffers that are `fresh` are others in each round: what is written there before it ends is what is copied.
    """

    place: Place
    buffer: str
    sides: tuple[tuple[Value, Mapping[str, Value]], ...]
    since: int
    fresh: frozenset[str] = frozenset()


@dataclass(slots=True, eq=False)
class _Seen:
    """Of the operations of a kernel: which write a buffer, but for copies, where it begins, is copied to and read."""

    written: dict[str, list[Op]] = field(default_factory=dict)
    begun: dict[str, int] = field(default_factory=dict)
    copied: dict[str, int] = field(default_factory=dict)
    read: dict[str, int] = field(default_factory=dict)

    def add(self, op: Op, *, is_copy: bool) -> None:
        if isinstance(op, Alloc):
            self.begun[op.name] = op.id
        for name in reads(op):
            self.read[name] = max(op.id, self.read.get(name, 0))
        for name in writes(op):
            if is_copy:
                self.copied[name] = max(op.id, self.copied.get(name, 0))
            else:
                self.written.setdefault(name, []).append(op)


@dataclass(slots=True, eq=False)
class Joins:
    """The joins of one reading of a kernel, and the operations that copy into their buffers.

    `apart` are the places where one buffer was found wrong, in this reading or one before.
    """

    apart: set[Place] = field(default_factory=set)
    made: list[Join] = field(default_factory=list)
    copies: set[int] = field(default_factory=set)

    def found_wrong(self, body: Iterable[Op]) -> bool:
        """Whether a tile that other names stand for too was put into a buffer, and either is written afterwards."""
        seen = _Seen()
        for op in operations(body) if self.made else ():
            seen.add(op, is_copy=op.id in self.copies)
        wrong = {join.place for join in self.made if _is_wrong(join, seen)}
        is_new = not wrong <= self.apart
        self.apart |= wrong
        self.begin()
        return is_new

    def begin(self) -> None:
        """The text is read again."""
        self.made.clear()
        self.copies.clear()


def _is_wrong(join: Join, seen: _Seen) -> bool:
    if join.buffer not in seen.begun:
        return False
    is_written = join.buffer in seen.written
    return any(
        (is_written or _is_written_later(join, value, seen)) and _is_shared(join, value, names)
        for value, names in join.sides
    )


def _is_written_later(join: Join, value: Value, seen: _Seen) -> bool:
    """Whether the tile `value` is written by what was emitted after its copy began, and that is read then."""
    view = value.view if isinstance(value, Result) else value
    if not isinstance(view, View):
        return False
    begun = seen.begun[join.buffer]
    if view.buffer.name in join.fresh:
        begun = seen.copied.get(join.buffer, begun)
        if seen.read.get(join.buffer, 0) < begun:
            return False
    return any(op.id > begun and not _settles(op, value) for op in seen.written.get(view.buffer.name, ()))


def _settles(op: Op, value: Value) -> bool:
    """Whether `op` only puts a computed tile into the buffer that it got."""
    return isinstance(op, Store) and isinstance(value, Result) and op.value == value.expression


def _is_shared(join: Join, value: Value, names: Mapping[str, Value]) -> bool:
    """Whether `value` was there when the function was called, or something else than the name holds it."""
    if isinstance(value, Result) and value.age < join.since:
        return True
    return any(
        _is_tile(item, value) for name, held in names.items() if name != join.place[1] for item in reached_from(held)
    )


def _is_tile(item: Value, value: Value) -> bool:
    """Whether both are one tile, or parts of one buffer."""
    if item is value:
        return True
    views = [one.view if isinstance(one, Result) else one for one in (item, value)]
    first, second = views
    return isinstance(first, View) and isinstance(second, View) and first.buffer == second.buffer
