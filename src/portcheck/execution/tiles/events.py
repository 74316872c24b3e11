"""What a run of a port has to say: faults with the place and element they happened at, and choices it came to use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from portcheck.core.source import Span

_MOST_EVENTS = 1000
"""Kept in all; the first of a kind at one place counts the others."""
_MOST_PRINTS = 100


class EventKind(StrEnum):
    """What happened."""

    OUT_OF_BOUNDS = "out-of-bounds"
    """An index outside its buffer: nothing was written, and what was read is undefined."""
    UNINITIALISED_READ = "uninitialised-read"
    """A read of elements that nothing was written to; harmless as long as nothing comes of the values."""
    UNDEFINED_RESULT = "undefined-result"
    """A value that is not defined (never written, masked out, out of bounds) reached a tensor in HBM."""
    UNDEFINED_CONDITION = "undefined-condition"
    """A value that is not defined decides what is run or which element is meant."""
    UNWRITTEN_RESULT = "unwritten-result"
    """Elements of what the kernel returns hold nothing."""
    LIMIT_EXCEEDED = "limit-exceeded"
    """More partitions, or more bytes of a partition, than the chip has; the run goes on."""
    SHARED_INDEX = "shared-index"
    """Elements that share an index where the program promises that none do."""
    OUTSIDE_RANGE = "outside-range"
    """An activation was given an input outside its documented range."""
    ASSUMED = "assumed"
    """Something that neither the source nor the arguments state was taken to be so."""
    PRINT = "print"
    SHAPE_MISMATCH = "shape-mismatch"
    """Tiles whose shapes do not fit each other; the run ended there."""
    ASSUMPTION_BROKEN = "assumption-broken"
    """What the kernel asserts does not hold; the run ended there."""
    WAITS_FOREVER = "waits-forever"
    """A program instance waits for another, which ended or waits elsewhere; the run ended there."""
    NOT_EXECUTED = "not-executed"
    """Something that was not understood, or is not run, was reached; the run ended there."""
    BUDGET_SPENT = "budget-spent"
    """The run took more steps or memory than it was allowed and ended there."""


STOPS = frozenset({
    EventKind.SHAPE_MISMATCH, EventKind.ASSUMPTION_BROKEN, EventKind.WAITS_FOREVER, EventKind.NOT_EXECUTED,
    EventKind.BUDGET_SPENT,
})  # fmt: skip
"""After these nothing more was run."""
HARMLESS = frozenset({EventKind.UNINITIALISED_READ, EventKind.ASSUMED, EventKind.PRINT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened at `span`, first at `element` in the program instance `program`, `count` times in all.

    `element` is an index into the buffer or value that the message speaks of; `values` is what a print shows.
    """

    kind: EventKind
    message: str
    kernel: str
    span: Span
    program: tuple[int, ...] = ()
    element: tuple[int, ...] = ()
    count: int = 1
    values: tuple[int | float | bool, ...] = ()

    @property
    def is_fault(self) -> bool:
        """Whether this should not happen in a correct run."""
        return self.kind not in HARMLESS


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Something the vendor leaves open that the run decided `count` times, first at `span`, as an option says.

    `name` is the field of `Options`, `value` what it holds, `subject` what was decided.
    """

    name: str
    value: str
    subject: str
    kernel: str
    span: Span
    count: int = 1


class Stop(Exception):  # noqa: N818  # ends a run as StopIteration ends a loop; no error
    """The run ends here; the event that says why is recorded."""


class EventLog:
    """Collects events and choices: the first of each kind at a place, which counts the others; more of prints."""

    def __init__(self) -> None:
        self._events: dict[tuple[EventKind, str, Span, str], list[Event]] = {}
        self._choices: dict[tuple[str, str], Choice] = {}
        self._kept = 0

    def add(self, event: Event, subject: str = "") -> None:
        """Keeps `event`, or counts it with the one of the same kind, place and `subject`."""
        known = self._events.setdefault((event.kind, event.kernel, event.span, subject), [])
        most = _MOST_PRINTS if event.kind is EventKind.PRINT else 1
        if len(known) < most and self._kept < _MOST_EVENTS:
            known.append(event)
            self._kept += 1
        elif known:
            known[-1] = replace(known[-1], count=known[-1].count + event.count)

    def choose(self, choice: Choice) -> None:
        """Notes a choice, or counts it with the same one made before."""
        key = (choice.name, choice.subject)
        known = self._choices.get(key)
        self._choices[key] = choice if known is None else replace(known, count=known.count + choice.count)

    def events(self) -> tuple[Event, ...]:
        """All that was kept, by when it first happened."""
        return tuple(event for same in self._events.values() for event in same)

    def choices(self) -> tuple[Choice, ...]:
        """The choices that were used, by when each was first."""
        return tuple(self._choices.values())
