"""Conflicting accesses to shared memory: two threads, one element, a write, and nothing that orders them.

Barriers order the threads of a block; `__syncwarp`, shuffles and votes order the lanes of a warp. For every cell the
last writer and the readers since are kept, with the number of barriers their block, and of exchanges their warp, had
passed. Several writes of one operation to one cell conflict only if their values differ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portcheck.execution.simt.formats import Value


@dataclass(frozen=True, slots=True)
class Accessors:
    """Who touches some cells, cell by cell: threads, warps, and how many barriers and exchanges they passed."""

    threads: Value
    warps: Value
    block_epochs: Value
    warp_epochs: Value

    def at(self, positions: Value) -> Accessors:
        """Those at some positions."""
        return Accessors(
            self.threads[positions], self.warps[positions], self.block_epochs[positions], self.warp_epochs[positions]
        )


class _Last:
    """Per cell: the last thread that did something, its warp, and when."""

    __slots__ = ("block_epochs", "threads", "warp_epochs", "warps")

    def __init__(self, cells: int) -> None:
        self.threads: Value = np.full(cells, -1, np.int32)
        self.warps: Value = np.zeros(cells, np.int32)
        self.block_epochs: Value = np.zeros(cells, np.int32)
        self.warp_epochs: Value = np.zeros(cells, np.int32)

    def note(self, cells: Value, who: Accessors) -> None:
        self.threads[cells] = who.threads
        self.warps[cells] = who.warps
        self.block_epochs[cells] = who.block_epochs
        self.warp_epochs[cells] = who.warp_epochs

    def at(self, cells: Value) -> Accessors:
        return Accessors(self.threads[cells], self.warps[cells], self.block_epochs[cells], self.warp_epochs[cells])

    def unordered(self, cells: Value, who: Accessors) -> Value:
        """Where what was last done was done by another thread, and nothing ordered the two since."""
        found: Value = (self.block_epochs[cells] == who.block_epochs) & (self.threads[cells] != who.threads)
        if found.any():
            found &= (self.warps[cells] != who.warps) | (self.warp_epochs[cells] >= who.warp_epochs)
        return found


class RaceShadow:
    """What was done to each cell of a shared storage since the last barrier.

    Of the readers two are kept, of different warps if there are any: a write conflicts with one that is not its own.
    """

    def __init__(self, cells: int) -> None:
        self._write = _Last(cells)
        self._is_atomic: Value = np.zeros(cells, np.bool_)
        self._read = _Last(cells)
        self._other_read = _Last(cells)

    def read(self, cells: Value, who: Accessors) -> tuple[Value, Value]:
        """Notes reads; the positions that conflict with a write, and the threads that wrote."""
        positions = np.flatnonzero(self._write.unordered(cells, who))
        before = self._read.at(cells)
        self._read.note(cells, who)
        chosen = self._read.threads[cells]
        self._offer(cells, who, who.threads != chosen)
        self._offer(cells, before, (before.block_epochs == who.block_epochs) & (before.threads != chosen))
        return positions, self._write.threads[cells[positions]]

    def _offer(self, cells: Value, who: Accessors, are_others: Value) -> None:
        """Keeps some of these as the other reader of their cells, those of another warp than the last one's first."""
        positions = np.flatnonzero(are_others)
        if not positions.size:
            return
        cells, who = cells[positions], who.at(positions)
        last, other = self._read.warps[cells], self._other_read
        is_kept = (other.block_epochs[cells] == who.block_epochs) & (other.warps[cells] != last)
        for wanted in (~is_kept & (who.warps == last), who.warps != last):
            chosen = np.flatnonzero(wanted)
            if chosen.size:
                other.note(cells[chosen], who.at(chosen))

    def write(self, cells: Value, who: Accessors, is_atomic: bool = False) -> tuple[Value, Value]:
        """Notes writes; the positions that conflict with what was done before, and the threads that did it."""
        by_write = self._write.unordered(cells, who)
        if is_atomic:
            by_write &= ~self._is_atomic[cells]
        by_read, by_other = self._read.unordered(cells, who), self._other_read.unordered(cells, who)
        positions = np.flatnonzero(by_write | by_read | by_other)
        touched = cells[positions]
        readers = np.where(by_read[positions], self._read.threads[touched], self._other_read.threads[touched])
        others: Value = np.where(by_write[positions], self._write.threads[touched], readers)
        self._write.note(cells, who)
        self._is_atomic[cells] = is_atomic
        return positions, others

    def beaten(self, cells: Value, who: Accessors) -> tuple[Value, Value]:
        """Of the writes just noted, those that another thread's to the same cell replaced, and that thread."""
        last = self._write.threads[cells]
        positions = np.flatnonzero(last != who.threads)
        return positions, last[positions]
