"""What was noted about a kernel's uses of NKI so far, and what it comes to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from portcheck.core.source import Span
from portcheck.ir.uses import Use

RUNS_KEPT = 64
"""Different evaluations of one place that are kept."""


@dataclass(slots=True, eq=False)
class Noted:
    """What was noted so far, in the order of evaluation; an evaluation that is given up is taken back."""

    uses: list[Use] = field(default_factory=list)
    elsewhere: list[Use] = field(default_factory=list)
    """Text that was skipped, but may have been evaluated before."""

    def mark(self) -> int:
        """Where the record stands now."""
        return len(self.uses)

    def take_back(self, mark: int) -> None:
        """Forgets what was noted since `mark`."""
        del self.uses[mark:]

    def merged(self, kernel: str) -> tuple[Use, ...]:
        """One use a place and name, in the order of the text."""
        seen = {(use.span, use.name) for use in self.uses}
        missing = [use for use in self.elsewhere if (use.span, use.name) not in seen]
        found: dict[tuple[Span, str], list[Use]] = {}
        for use in (*self.uses, *missing):
            found.setdefault((use.span, use.name), []).append(use)
        merged = [_merged(uses, kernel) for uses in found.values()]
        return tuple(sorted(merged, key=lambda use: (use.span.path, use.span.start, use.span.end, use.name)))


def _merged(uses: Sequence[Use], kernel: str) -> Use:
    obstacle = next((use for use in uses if not use.is_understood), uses[0])
    runs = tuple(dict.fromkeys(run for use in uses for run in use.runs))
    return replace(obstacle, kernel=kernel, runs=runs[:RUNS_KEPT])
