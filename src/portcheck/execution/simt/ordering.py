"""Which lanes of a warp have waited for which: what a lane did before happens before what the other does next.

Time is counted in exchanges of the batch. As long as all living lanes of a warp take part in each, the last one that a
lane took part in says everything. Once some of them wait for each other alone, a clock is kept of what each lane knows
of every other (vector clocks: Fidge 1988, Mattern 1989).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portcheck.execution.arithmetic.formats import Value


@dataclass(frozen=True, slots=True)
class Meeting:
    """Lanes that wait for each other, as numbers of warp and lane, those of one group side by side.

    `starts` says where each group begins and `groups` which one a lane is in; None where whole warps meet.
    """

    threads: Value
    starts: Value | None = None
    groups: Value | None = None


class LaneOrder:
    """The last exchange of each lane; `clocks` has a row for each lane and in it a time for each lane of its warp."""

    def __init__(self, warps: int, warp_size: int) -> None:
        self._lanes = warp_size
        self._clocks: Value | None = None
        self._time = 0
        self.times: Value = np.zeros(warps * warp_size, np.int64)
        self._barriers = 1
        self._is_apart = False
        self.barriers: Value = np.ones(warps * warp_size, np.int64)
        """The last barrier of each thread."""

    def pass_together(self, blocks: Value) -> None:
        """All threads of these blocks, true for each, have waited for each other."""
        self._barriers += 1
        self.barriers.reshape(len(blocks), -1)[blocks] = self._barriers

    def pass_apart(self, threads: Value) -> None:
        """Some threads of their blocks have waited for each other."""
        self._barriers += 1
        self._is_apart = True
        self.barriers[threads] = self._barriers

    def have_not_passed(self, threads: Value, barriers: Value, modulus: int) -> Value | None:
        """Whether threads have passed no barrier since one (modulo); None where all threads pass the same ones."""
        if not self._is_apart:
            return None
        found: Value = self.barriers[threads] % modulus == barriers
        return found

    def meet(self, meeting: Meeting) -> None:
        """These lanes have waited for each other."""
        self._time += 1
        if meeting.starts is None or meeting.groups is None:
            if self._clocks is not None:
                self._clocks[meeting.threads] = self._time
        else:
            if self._clocks is None:
                self._clocks = np.repeat(self.times[:, None], self._lanes, axis=1)
            known = np.maximum.reduceat(self._clocks[meeting.threads], meeting.starts)
            known[meeting.groups, meeting.threads % self._lanes] = self._time
            self._clocks[meeting.threads] = known[meeting.groups]
        self.times[meeting.threads] = self._time

    def knows(self, threads: Value, others: Value, times: Value, modulus: int) -> Value | None:
        """Whether lanes have met others of their warp since those were at `times` (modulo); None: all who ever met."""
        if self._clocks is None:
            return None
        since = (self._clocks[threads, others % self._lanes] - times) % modulus
        met: Value = (since > 0) & (since < modulus // 2)
        return met


def meeting(threads: Value, bits: Value, living: Value, lanes: int) -> Meeting:
    """The groups of lanes, given by the bit mask that each of `threads` waits for, of those that are here and live."""
    if (bits == living).all():
        return Meeting(threads)
    _, groups = np.unique(np.stack([threads // lanes, bits], axis=1), axis=0, return_inverse=True)
    order = np.argsort(groups, kind="stable")
    sorted_groups = groups[order]
    starts = np.flatnonzero(np.concatenate([[True], sorted_groups[1:] != sorted_groups[:-1]]))
    return Meeting(threads[order], starts, sorted_groups)
