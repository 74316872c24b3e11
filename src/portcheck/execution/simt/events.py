"""What an execution has to say: faults with the thread and line they happened at, prints, and why it stopped."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from portcheck.core.source import Span

_MOST_EVENTS = 1000
"""Kept in all; the first of a kind at one place counts the others."""
_MOST_PRINTS = 100


class EventKind(StrEnum):
    """What happened."""

    OUT_OF_BOUNDS = "out-of-bounds"
    """An index outside its buffer: a read gave 0, a write was dropped."""
    UNINITIALISED_READ = "uninitialised-read"
    """A read of shared or global memory, or of a local array, that nothing was written to."""
    UNINITIALISED_VARIABLE = "uninitialised-variable"
    """A read of a variable that was given no value; the value may never be used."""
    RACE = "race"
    """Two threads touched one element of shared memory, one of them wrote, and nothing ordered them."""
    BARRIER_DIVERGENCE = "barrier-divergence"
    """A barrier that some threads of the block have not reached, or not all lanes it names."""
    BARRIER_AFTER_EXIT = "barrier-after-exit"
    """A barrier after some threads of the block have returned, which hardware lets pass."""
    LANE_MISSING = "lane-missing"
    """A value taken from a lane that does not take part."""
    DIVISION_BY_ZERO = "division-by-zero"
    """An integer divided by 0, whose result is undefined; here it is 0."""
    ASSUMED = "assumed"
    """Something that neither the source nor the arguments state was taken to be so."""
    ASSERTION_FAILED = "assertion-failed"
    ASSUMPTION_BROKEN = "assumption-broken"
    TRAP = "trap"
    PRINT = "print"
    NOT_EXECUTED = "not-executed"
    """Source that was not understood was reached; the run ended there."""
    BUDGET_SPENT = "budget-spent"
    """The run took more steps than it was allowed and ended there."""


STOPS = frozenset({EventKind.NOT_EXECUTED, EventKind.BUDGET_SPENT, EventKind.TRAP})
"""After these nothing more was run."""
HARMLESS = frozenset({
    EventKind.PRINT, EventKind.UNINITIALISED_VARIABLE, EventKind.BARRIER_AFTER_EXIT, EventKind.ASSUMED,
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened at `span`, first in `thread` of `block` (x, y, z), `count` times in all.

    `values` is what a print shows, in the order of its operands.
    """

    kind: EventKind
    message: str
    kernel: str
    span: Span
    block: tuple[int, int, int] = (0, 0, 0)
    thread: tuple[int, int, int] = (0, 0, 0)
    count: int = 1
    values: tuple[int | float | bool, ...] = ()

    @property
    def is_fault(self) -> bool:
        """Whether this should not happen in a correct run."""
        return self.kind not in HARMLESS


class Stop(Exception):  # noqa: N818  # ends a run as StopIteration ends a loop; no error
    """The run ends here; the event that says why is recorded."""


class EventLog:
    """Collects events: the first of each kind at a place, which counts the others; more of prints."""

    def __init__(self) -> None:
        self._events: dict[tuple[EventKind, str, Span, str], list[Event]] = {}
        self._kept = 0

    def add(self, event: Event, subject: str = "") -> None:
        """Keeps `event`, or counts it with the one of the same kind, place and `subject`."""
        key = (event.kind, event.kernel, event.span, subject)
        known = self._events.setdefault(key, [])
        most = _MOST_PRINTS if event.kind is EventKind.PRINT else 1
        if len(known) < most and self._kept < _MOST_EVENTS:
            known.append(event)
            self._kept += 1
        elif known:
            known[-1] = _counted(known[-1], event.count)

    def events(self) -> tuple[Event, ...]:
        """All that was kept, by when it first happened."""
        return tuple(event for same in self._events.values() for event in same)


def _counted(event: Event, more: int) -> Event:
    return Event(
        kind=event.kind, message=event.message, kernel=event.kernel, span=event.span, block=event.block,
        thread=event.thread, count=event.count + more, values=event.values,
    )  # fmt: skip
