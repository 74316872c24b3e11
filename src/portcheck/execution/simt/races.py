"""Conflicting accesses to shared memory: two threads, one element, a write, and nothing that orders them.

Barriers order the threads of a block; `__syncwarp`, shuffles and votes order the lanes of a warp. For every cell the
last writer and readers are kept as *stamps*: who it was, and how many barriers its block and how many exchanges its
warp had passed. A cell belongs to one block. Writes of the same value do not conflict.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from portcheck.execution.arithmetic.formats import Value
from portcheck.execution.simt.ordering import LaneOrder

_THREAD_BITS, _EPOCH_BITS = 24, 20
_THREAD = (1 << _THREAD_BITS) - 1
_EPOCH = (1 << _EPOCH_BITS) - 1
_MOST_PENDING = 1 << 22
"""Reads that are kept until a write comes or a barrier makes them irrelevant."""
_NOWHERE = cast(Value, np.zeros(0, np.int64))
_BLOCK_EPOCH = 1 << (_THREAD_BITS + _EPOCH_BITS)


def stamps(threads: Value, warp_epochs: Value, block_epochs: Value) -> Value:
    """Accesses by these threads, each with the exchanges and barriers before it (modulo a number no race spans)."""
    epochs = ((block_epochs.astype(np.int64) & _EPOCH) << _EPOCH_BITS) | (warp_epochs.astype(np.int64) & _EPOCH)
    return cast(Value, (epochs << _THREAD_BITS) | threads)


def thread_of(stamp: Value) -> Value:
    """The thread that a stamp names."""
    return cast(Value, stamp & _THREAD)


class RaceShadow:
    """What was done to each cell of a shared storage since the last barrier.

    Threads are numbered so that `warp_size` of them in a row, a power of two, are a warp. Two readers are kept, of
    different warps if there are any: a write conflicts with one that is not its own.
    """

    def __init__(self, cells: int, warp_size: int, order: LaneOrder) -> None:
        self._pending: list[tuple[Value, Value]] = []
        self._pending_reads = 0
        self._has_writes = self._has_reads = False
        self._write: Value = np.zeros(cells, np.int64)
        self._is_atomic: Value = np.zeros(cells, np.bool_)
        self._read: Value = np.zeros(cells, np.int64)
        self._other_read: Value = np.zeros(cells, np.int64)
        self._warp = _THREAD & ~(warp_size - 1)
        self._order = order

    def settle(self) -> None:
        """Everything that was done so far happens before everything that follows."""
        self._pending.clear()
        self._pending_reads = 0
        self._has_writes = self._has_reads = False

    def read(self, cells: Value, who: Value) -> tuple[Value, Value]:
        """Notes reads; the positions that conflict with a write, and the stamps of the writes.

        What is read matters to the next write alone, and often a barrier comes before it.
        """
        self._pending.append((cells, who))
        self._pending_reads += len(cells)
        if self._pending_reads > _MOST_PENDING:
            self._note_reads()
        if not self._has_writes:
            return _NOWHERE, _NOWHERE
        write = self._write.take(cells)
        positions = self._unordered(write, who).nonzero()[0]
        return positions, write.take(positions)

    def _note_reads(self) -> None:
        """Keeps the readers of each cell for the next write."""
        if not self._pending:
            return
        cells, who = (np.concatenate(parts) for parts in zip(*self._pending, strict=True))
        self._pending.clear()
        self._pending_reads = 0
        self._has_reads = True
        before = self._read.take(cells)
        self._read[cells] = who
        last = self._read.take(cells)
        self._offer(cells, who, last, who != last)
        self._offer(cells, before, last, _is_same_interval(before, who) & (before != last))

    def write(
        self, cells: Value, who: Value, changes: Callable[[], Value] | None = None, is_atomic: bool = False
    ) -> tuple[Value, Value]:
        """Notes writes; the positions that conflict with what was done before, and the stamps of that.

        `changes` says where a write gives a cell another value: one that does not conflicts with no other write.
        """
        self._note_reads()
        positions, others = self._conflicts(cells, who, changes, is_atomic)
        self._write[cells] = who
        self._is_atomic[cells] = is_atomic
        self._has_writes = True
        return positions, others

    def _conflicts(
        self, cells: Value, who: Value, changes: Callable[[], Value] | None, is_atomic: bool
    ) -> tuple[Value, Value]:
        """Where writes conflict with what was done before, and the stamps of that."""
        found: Value = np.zeros(len(cells), np.bool_)
        others: Value = np.zeros(len(cells), np.int64)
        for kept in (self._other_read, self._read) if self._has_reads else ():
            self._add_conflicts(found, others, kept.take(cells), self._unordered(kept.take(cells), who))
        if self._has_writes:
            write = self._write.take(cells)
            by_write = self._unordered(write, who)
            if is_atomic:
                by_write &= ~self._is_atomic[cells]
            elif changes is not None and by_write.any():
                by_write &= changes() | self._is_atomic[cells]
            self._add_conflicts(found, others, write, by_write)
        positions = found.nonzero()[0]
        return positions, others.take(positions)

    @staticmethod
    def _add_conflicts(found: Value, others: Value, stamps: Value, where: Value) -> None:
        if where.any():
            found |= where
            others[where] = stamps[where]

    def beaten(self, cells: Value, who: Value) -> tuple[Value, Value]:
        """Of the writes just noted, those that another thread's to the same cell replaced, and its stamps."""
        last = self._write.take(cells)
        positions = (last != who).nonzero()[0]
        return positions, last.take(positions)

    def _unordered(self, before: Value, who: Value) -> Value:
        """Where another thread did something before, and nothing ordered the two since."""
        change = before ^ who
        found: Value = (change & _THREAD != 0) & (change.view(np.uint64) < _BLOCK_EPOCH)
        if found.any():
            found &= (change & self._warp != 0) | (change <= _THREAD) | self._have_not_met(before, who)
        waiting = self._order.have_not_passed(before & _THREAD, before >> (_THREAD_BITS + _EPOCH_BITS), _EPOCH + 1)
        return found if waiting is None else found | (waiting & (change & self._warp != 0))

    def _have_not_met(self, before: Value, who: Value) -> Value | bool:
        """Where lanes of one warp have not waited for each other since the first did something."""
        times = (before >> _THREAD_BITS) & _EPOCH
        met = self._order.knows(who & _THREAD, before & _THREAD, times, _EPOCH + 1)
        return False if met is None else ~met

    def _offer(self, cells: Value, who: Value, last: Value, are_others: Value) -> None:
        """Keeps some of these as the other reader of their cells, those of another warp than the last one's first."""
        positions = are_others.nonzero()[0]
        if not positions.size:
            return
        cells, who, last = cells.take(positions), who.take(positions), last.take(positions)
        kept = self._other_read.take(cells)
        differs = (who ^ last) & self._warp != 0
        is_kept = _is_same_interval(kept, who) & ((kept ^ last) & self._warp != 0)
        for wanted in (~(is_kept | differs), differs):
            chosen = wanted.nonzero()[0]
            if chosen.size:
                self._other_read[cells.take(chosen)] = who.take(chosen)


def _is_same_interval(before: Value, who: Value) -> Value:
    """Where no barrier lies between."""
    return cast(Value, (before ^ who).view(np.uint64) < _BLOCK_EPOCH)
