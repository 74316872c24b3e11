"""The report for a reader at a terminal, top down: the verdict, what was compared, what each side is, the findings."""

from __future__ import annotations

from io import StringIO

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from portcheck.core.report import Report
from portcheck.reporting.catalogue import Options
from portcheck.reporting.formats.terminal.findings import finding_blocks, suppressed_lines
from portcheck.reporting.formats.terminal.overview import compared, coverage, headline
from portcheck.reporting.formats.terminal.tables import mapping_table, output_table, precision_table, reduction_tables
from portcheck.reporting.formats.terminal.words import bullets
from portcheck.reporting.view import counts

_NARROWEST = 40


def render(report: Report, options: Options) -> str:
    """`report` as text of at most `options.width` cells a line, with ANSI colours when `options.color`."""
    console = _console(options)
    for block in _blocks(report, options, console.width):
        console.print(block)
    return "\n".join(line.rstrip(" ") for line in _written(console).split("\n"))


def _console(options: Options) -> Console:
    """A console that writes to memory and asks the environment nothing, so that the same report gives the same text."""
    return Console(
        file=StringIO(),
        width=max(options.width, _NARROWEST),
        force_terminal=options.color,
        color_system="standard" if options.color else None,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
        _environ={},
    )


def _written(console: Console) -> str:
    file = console.file
    assert isinstance(file, StringIO)
    return file.getvalue()


def _blocks(report: Report, options: Options, width: int) -> list[RenderableType]:
    sections: list[tuple[str, list[RenderableType]]] = [
        ("Compared", [compared(report)]),
        ("Coverage", [coverage(report.coverage)]),
        ("How the sides answer each other", bullets(report.alignment)),
        ("Outputs", output_table(report.outputs)),
        ("CUDA constructs and their counterparts", mapping_table(report.mapping)),
        ("Reductions", reduction_tables(report.reductions, report.inputs)),
        ("Precision", precision_table(report.precision)),
        (f"Findings: {counts(report.findings)}", finding_blocks(report.findings, options.sources, width - 2)),
        ("Suppressed findings", suppressed_lines(report.suppressed)),
        ("Not checked", bullets(report.not_checked)),
    ]
    blocks: list[RenderableType] = [headline(report)]
    for title, content in sections:
        if content:
            blocks += [Text(f"\n{title}", style="bold"), Padding(Group(*content), (0, 0, 0, 2))]
    return blocks
