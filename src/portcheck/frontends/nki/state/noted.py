"""What was noted about a kernel's uses of NKI so far, and what it comes to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from portcheck.core.source import Position
from portcheck.ir.uses import TileUse, Use, UseKind

if TYPE_CHECKING:
    import libcst as cst

    from portcheck.frontends.nki.source.parse import Segment
    from portcheck.frontends.nki.values.callables import Function
    from portcheck.frontends.nki.values.tiles import View

RUNS_KEPT = 64
"""Different evaluations of one place that are kept."""


@dataclass(slots=True, eq=False)
class Noted:
    """What was noted so far, in the order of evaluation; an evaluation that is given up is taken back.

    `elsewhere` is text that was skipped but may have been evaluated before. `names` are the dotted names that were
    read, each with the text it stands in, `functions` those that were
    evaluated, `sliced` the places where a tensor is indexed, `tiles` the records of views by their identity.
    """

    uses: list[Use] = field(default_factory=list)
    elsewhere: list[Use] = field(default_factory=list)
    names: dict[cst.CSTNode, tuple[str, Segment]] = field(default_factory=dict)
    functions: dict[cst.CSTNode, Function] = field(default_factory=dict)
    sliced: set[cst.CSTNode] = field(default_factory=set)
    tiles: dict[int, tuple[View, TileUse]] = field(default_factory=dict)

    def mark(self) -> int:
        """Where the record stands now."""
        return len(self.uses)

    def take_back(self, mark: int) -> None:
        """Forgets what was noted since `mark`."""
        del self.uses[mark:]

    def merged(self, kernel: str) -> tuple[Use, ...]:
        """One use a place and name, in the order of the text."""
        found: dict[_Place, list[Use]] = {}
        for use in self.uses:
            found.setdefault(_place(use), []).append(use)
        missing = [use for use in self.elsewhere if _place(use) not in found]
        for use in (*missing, *self._only_read()):
            found.setdefault(_place(use), []).append(use)
        return tuple(_merged(found[place], kernel) for place in sorted(found))

    def _only_read(self) -> Iterator[Use]:
        """The names that were read and not called, each as long as it is written."""
        longest: dict[tuple[str, Position], Use] = {}
        for node, (name, segment) in self.names.items():
            span = segment.span(node)
            before = longest.get((span.path, span.start))
            if before is None or len(before.name) < len(name):
                longest[span.path, span.start] = Use(kind=UseKind.NAME, name=name, span=span)
        called = {(use.span.path, use.span.start, use.name) for use in (*self.uses, *self.elsewhere)}
        yield from (use for place, use in longest.items() if (*place, use.name) not in called)


_Place = tuple[str, int, int, int, int, str]


def _place(use: Use) -> _Place:
    """Where `use` stands, and its name: as numbers, which are compared quickly."""
    span = use.span
    return span.path, span.start.line, span.start.column, span.end.line, span.end.column, use.name


def _merged(uses: Sequence[Use], kernel: str) -> Use:
    obstacle = next((use for use in uses if not use.is_understood), uses[0])
    runs = tuple(dict.fromkeys(run for use in uses for run in use.runs))
    return replace(obstacle, kernel=kernel, runs=runs[:RUNS_KEPT])
