"""The threads of some blocks in flight: which of them are active, and what they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from portcheck.core.errors import InputError
from portcheck.core.source import Span
from portcheck.execution.arithmetic.formats import Value
from portcheck.execution.checking import check_whole
from portcheck.execution.simt.draws import Draws
from portcheck.execution.simt.events import Event, EventKind, EventLog, Stop
from portcheck.execution.simt.ordering import LaneOrder, Meeting
from portcheck.execution.simt.races import RaceShadow, stamps
from portcheck.execution.simt.registers import Register
from portcheck.execution.simt.storage import View

_AXES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """How a kernel is launched: blocks and threads along x, y and z, and bytes of dynamic shared memory.

    Raises InputError where these are not whole numbers.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int = 0

    def __post_init__(self) -> None:
        for name, extents in (("grid", self.grid), ("block", self.block)):
            for axis, extent in zip("xyz", extents, strict=True):
                check_whole(f"{name}.{axis}", extent)
        check_whole("shared_bytes", self.shared_bytes)

    @staticmethod
    def of(grid: int | Sequence[int], block: int | Sequence[int], shared_bytes: int = 0) -> Geometry:
        """A geometry from numbers, or up to three of them for x, y and z."""
        return Geometry(grid=_three("grid", grid), block=_three("block", block), shared_bytes=shared_bytes)

    @property
    def threads(self) -> int:
        """Threads of one block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]


def _three(name: str, extents: int | Sequence[int]) -> tuple[int, int, int]:
    given = tuple(extents) if isinstance(extents, Iterable) else (extents,)
    if len(given) > _AXES:
        raise InputError(f"{name} is {extents!r}", f"{name} takes a number, or up to {_AXES} of them for x, y and z")
    x_extent, y_extent, z_extent = (*given, 1, 1, 1)[:_AXES]
    return x_extent, y_extent, z_extent


class Active:
    """A set of threads of a batch: their numbers in ascending order, or None for all of them.

    `cache` keeps what depends on nothing but the set, such as the threads' indices.
    """

    __slots__ = ("cache", "count", "index", "meetings", "stamps")

    def __init__(self, index: Value | None, count: int) -> None:
        self.index = index
        self.count = count
        self.cache: dict[object, Value] = {}
        self.meetings: dict[object, Meeting] = {}
        self.stamps: tuple[int, Value] | None = None

    def narrowed(self, positions: Value) -> Active:
        """The threads at these positions of this set, which are in ascending order."""
        index = positions if self.index is None else self.index[positions]
        return Active(index, len(positions))

    def positions_of(self, part: Active) -> Value:
        """Where the threads of `part` stand in this set."""
        assert part.index is not None
        if self.index is None:
            return part.index
        return cast(Value, np.searchsorted(self.index, part.index))


@dataclass
class Leaving:
    """The threads of a batch that left the loop around, or this iteration of it."""

    loop: Value
    iteration: Value
    has_left: bool = False
    has_skipped: bool = False


@dataclass
class Budget:
    """Steps that may still be taken: thread operations, and a fixed price for each operation."""

    left: int
    spent: int = 0

    def spend(self, operations: int, threads: int) -> bool:
        """Takes the price of operations on so many threads; False once nothing is left."""
        self.spent += operations * threads
        self.left -= operations * (threads + _PRICE)
        return self.left >= 0


_PRICE = 256
"""What an operation costs besides its threads: about what NumPy needs to start one."""


@dataclass
class Batch:
    """Everything that changes while some blocks of a kernel run; `first` is the number of the first block."""

    kernel: str
    geometry: Geometry
    first: int
    blocks: int
    warp_size: int
    log: EventLog
    budget: Budget
    random: np.random.Generator | None
    draws: Draws | None
    slots: list[Value]
    registers: dict[str, Register] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    shadows: list[RaceShadow] = field(default_factory=list)
    leaving: Leaving | None = None
    returned: Value | None = None

    def __post_init__(self) -> None:
        self.threads = self.blocks * self.geometry.threads
        self.whole = Active(None, self.threads)
        self.active = self.whole
        self.living = self.threads
        self.warps_of_block = -(-self.geometry.threads // self.warp_size)
        self.order = LaneOrder(self.warp_count, self.warp_size)
        self._epoch = 0

    def of_threads(self, key: object, make: Callable[[], Value]) -> Value:
        """A number for each active thread that is `make`'s for all threads; kept with the active set."""
        cache = self.active.cache
        value = cache.get(key)
        if value is None:
            index = self.active.index
            value = make() if index is None else self._of_all(key, make)[index]
            cache[key] = value
        return value

    def _of_all(self, key: object, make: Callable[[], Value]) -> Value:
        value = self.whole.cache.get(key)
        if value is None:
            value = self.whole.cache[key] = make()
        return value

    def numbers(self) -> Value:
        """The active threads' numbers in the batch."""
        return self.of_threads("number", lambda: np.arange(self.threads))

    def block_numbers(self) -> Value:
        """The active threads' blocks, counted in the batch."""
        return self.of_threads("block", lambda: np.repeat(np.arange(self.blocks), self.geometry.threads))

    def ranks(self) -> Value:
        """The active threads' numbers in their blocks, x fastest."""
        return self.of_threads("rank", lambda: np.tile(np.arange(self.geometry.threads), self.blocks))

    def warps(self) -> Value:
        """The active threads' warps, counted in the batch."""
        return self.of_threads("warp", self._all_warps)

    def warps_of(self, threads: Value) -> Value:
        """The warps of the threads with these numbers."""
        return self._of_all("warp", self._all_warps).take(threads)

    def _all_warps(self) -> Value:
        ranks = np.arange(self.geometry.threads) // self.warp_size
        starts = np.arange(self.blocks) * self.warps_of_block
        return (starts[:, None] + ranks[None, :]).reshape(-1)

    def lanes(self) -> Value:
        """The active threads' places in their warps."""
        return self.of_threads("lane", self._all_lanes)

    def _all_lanes(self) -> Value:
        return np.tile(np.arange(self.geometry.threads) % self.warp_size, self.blocks)

    def places(self) -> Value:
        """The active threads' numbers by warp and lane."""
        return self.of_threads("place", lambda: self._all_warps() * self.warp_size + self._all_lanes())

    def pass_barrier(self, is_partial: bool = False) -> None:
        """What the active blocks, or only the active threads, did so far happens before what they do next."""
        self._epoch += 1
        if is_partial and not self.is_everyone:
            self.order.pass_apart(self.places())
            return
        present = np.zeros(self.blocks, np.bool_)
        present[self.block_numbers()] = True
        self.order.pass_together(present)
        if self.is_everyone:
            for shadow in self.shadows:
                shadow.settle()

    def meet(self, meeting: Meeting) -> None:
        """What lanes that wait for each other did so far happens before what they do next."""
        self._epoch += 1
        self.order.meet(meeting)

    def stamps(self) -> Value:
        """The active threads, with the barriers and exchanges they passed (see `races`)."""
        known = self.active.stamps
        if known is None or known[0] != self._epoch:
            places = self.places()
            known = (self._epoch, stamps(places, self.order.times[places], self.order.barriers[places]))
            self.active.stamps = known
        return known[1]

    @property
    def is_everyone(self) -> bool:
        """Whether all threads that have not returned are active."""
        return self.active.count == self.living

    @property
    def warp_count(self) -> int:
        """Warps of all blocks."""
        return self.blocks * self.warps_of_block

    def report(
        self, kind: EventKind, span: Span, message: str, thread: int, count: int = 1,
        values: tuple[int | float | bool, ...] = (), subject: str = "",
    ) -> None:  # fmt: skip
        """Records what happened first to the thread with this number in the batch."""
        block, rank = divmod(int(thread), self.geometry.threads)
        self.log.add(
            Event(
                kind=kind, message=message, kernel=self.kernel, span=span, count=count, values=values,
                block=coordinates(self.first + block, self.geometry.grid),
                thread=coordinates(rank, self.geometry.block),
            ),
            subject,
        )  # fmt: skip

    def stop(self, kind: EventKind, span: Span, message: str) -> Stop:
        """The end of the run, recorded; to be raised."""
        thread = 0 if self.active.index is None or not self.active.count else int(self.active.index[0])
        self.report(kind, span, message, thread, self.active.count)
        return Stop(message)


def coordinates(number: int, extents: tuple[int, int, int]) -> tuple[int, int, int]:
    """The x, y and z of a linear number, x fastest."""
    x_extent, y_extent, _ = extents
    return number % x_extent, number // x_extent % y_extent, number // (x_extent * y_extent)
