"""Conflicting accesses to shared memory: two threads, one element, a write, and nothing that orders them.

Barriers order the threads of a block; `__syncwarp`, shuffles and votes order the lanes of a warp. For every cell the
last writer and readers are kept as *stamps*: who it was, and how many barriers its block and how many exchanges its
warp had passed. A cell belongs to one block. Writes of one operation to one cell conflict only if their values differ.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from portcheck.execution.simt.formats import Value

_THREAD_BITS, _EPOCH_BITS = 24, 20
_THREAD = (1 << _THREAD_BITS) - 1
_EPOCH = (1 << _EPOCH_BITS) - 1
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

    def __init__(self, cells: int, warp_size: int) -> None:
        self._write: Value = np.zeros(cells, np.int64)
        self._is_atomic: Value = np.zeros(cells, np.bool_)
        self._read: Value = np.zeros(cells, np.int64)
        self._other_read: Value = np.zeros(cells, np.int64)
        self._warp = _THREAD & ~(warp_size - 1)

    def read(self, cells: Value, who: Value) -> tuple[Value, Value]:
        """Notes reads; the positions that conflict with a write, and the stamps of the writes."""
        write = self._write.take(cells)
        positions = np.flatnonzero(self._unordered(write, who))
        before = self._read.take(cells)
        self._read[cells] = who
        last = self._read.take(cells)
        self._offer(cells, who, last, who != last)
        self._offer(cells, before, last, _is_same_interval(before, who) & (before != last))
        return positions, write[positions]

    def write(self, cells: Value, who: Value, is_atomic: bool = False) -> tuple[Value, Value]:
        """Notes writes; the positions that conflict with what was done before, and the stamps of that."""
        write, read, other = (kept.take(cells) for kept in (self._write, self._read, self._other_read))
        by_write, by_read = self._unordered(write, who), self._unordered(read, who)
        if is_atomic:
            by_write &= ~self._is_atomic[cells]
        positions = np.flatnonzero(by_write | by_read | self._unordered(other, who))
        readers = np.where(by_read[positions], read[positions], other[positions])
        others: Value = np.where(by_write[positions], write[positions], readers)
        self._write[cells] = who
        self._is_atomic[cells] = is_atomic
        return positions, others

    def beaten(self, cells: Value, who: Value) -> tuple[Value, Value]:
        """Of the writes just noted, those that another thread's to the same cell replaced, and its stamps."""
        last = self._write.take(cells)
        positions = np.flatnonzero(last != who)
        return positions, last[positions]

    def _unordered(self, before: Value, who: Value) -> Value:
        """Where another thread did something before, and nothing ordered the two since."""
        change = before ^ who
        found: Value = (change & _THREAD != 0) & (change.view(np.uint64) < _BLOCK_EPOCH)
        if found.any():
            found &= (change & self._warp != 0) | (change <= _THREAD)
        return found

    def _offer(self, cells: Value, who: Value, last: Value, are_others: Value) -> None:
        """Keeps some of these as the other reader of their cells, those of another warp than the last one's first."""
        positions = np.flatnonzero(are_others)
        if not positions.size:
            return
        cells, who, last = cells.take(positions), who.take(positions), last.take(positions)
        kept = self._other_read.take(cells)
        differs = (who ^ last) & self._warp != 0
        is_kept = _is_same_interval(kept, who) & ((kept ^ last) & self._warp != 0)
        for wanted in (~(is_kept | differs), differs):
            chosen = np.flatnonzero(wanted)
            if chosen.size:
                self._other_read[cells.take(chosen)] = who.take(chosen)


def _is_same_interval(before: Value, who: Value) -> Value:
    """Where no barrier lies between."""
    return cast(Value, (before ^ who).view(np.uint64) < _BLOCK_EPOCH)
