"""The top of the terminal format: the verdict in one sentence, what was compared, how much of it was understood."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from portcheck.core.report import CoverageTable, Input, NotUnderstood, Report, SideCoverage
from portcheck.reporting.formats.terminal.words import VERDICT_STYLES, labelled, prose, quiet, spaced
from portcheck.reporting.view import (
    CUDA_SIDE,
    NKI_SIDE,
    covered,
    first_line,
    kernels,
    location,
    sentence,
    short_hash,
)


def headline(report: Report) -> Text:
    """The verdict and what it rests on, in one sentence."""
    verdict = Text(str(report.verdict), style=VERDICT_STYLES[report.verdict])
    return verdict.append(": ", style="bold").append_text(prose(sentence(report), style="not bold default"))


def compared(report: Report) -> Table:
    """Both files with their kernels, the target, and everything the user stated or portcheck assumed."""
    inputs = report.inputs
    rows: list[tuple[str, RenderableType]] = [
        (CUDA_SIDE, _side(inputs.cuda)),
        (NKI_SIDE, _side(inputs.nki)),
        ("target", prose(report.target)),
        ("NKI version", prose(report.nki_version)),
        ("options", prose(", ".join(inputs.options) or "none")),
    ]
    notes = [(CUDA_SIDE, note) for note in inputs.cuda.notes] + [(NKI_SIDE, note) for note in inputs.nki.notes]
    rows += [("assumed" if index == 0 else "", prose(f"{side}: {note}")) for index, (side, note) in enumerate(notes)]
    rows.append(("made by", quiet(f"{report.tool.name} {report.tool.version}")))
    return labelled(rows)


def coverage(table: CoverageTable) -> Table:
    """How many operations of each side were understood, and below them those that were not."""
    return labelled([*_covered(CUDA_SIDE, table.cuda), *_covered(NKI_SIDE, table.nki)])


def _side(side: Input) -> Text:
    shown = spaced(prose(side.path), prose(kernels(side), style="bold"))
    return spaced(shown, quiet(f"sha256 {short_hash(side)}")) if side.sha256 else shown


def _covered(name: str, side: SideCoverage) -> Iterator[tuple[str, RenderableType]]:
    complete = side.understood == side.total
    yield name, prose(covered(side), style="" if complete else "yellow")
    for gap in side.not_understood:
        yield "", _gap(gap)


def _gap(gap: NotUnderstood) -> Text:
    times = f" ({gap.count} times)" if gap.count > 1 else ""
    shown = prose(f"not understood: {gap.reason}{times}")
    return spaced(shown, quiet(location(gap.place)), quiet(first_line(gap.place))) if gap.place else shown
