"""Styles and small pieces of text that the sections of the terminal format share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.box import Box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from portcheck.core.finding import Severity
from portcheck.core.report import Verdict
from portcheck.reporting.escape import single_line

QUIET = "dim"
SEVERITY_STYLES: Mapping[Severity, str] = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "bold yellow",
    Severity.NOTE: "bold blue",
    Severity.PERF: "bold magenta",
}
VERDICT_STYLES: Mapping[Verdict, str] = {
    Verdict.NOT_FAITHFUL: "bold red",
    Verdict.NOT_VERIFIED: "bold yellow",
    Verdict.NEEDS_DECISION: "bold yellow",
    Verdict.WITHIN_TOLERANCE: "bold green",
    Verdict.FAITHFUL: "bold green",
}
_CODE_STYLE = "cyan"
_LABEL_WIDTH = 8

_LINE_UNDER_TITLES = Box("    \n    \n ── \n    \n    \n ── \n    \n    \n")


def prose(text: str, style: str = "") -> Text:
    """`text` on one line, safe to print; what stands between backticks is set apart by colour."""
    shown = Text(single_line(text), style=style)
    shown.highlight_regex(r"`[^`]+`", _CODE_STYLE)
    return shown


def quiet(text: str) -> Text:
    """`text` set back, for labels and what is secondary."""
    return Text(single_line(text), style=QUIET)


def spaced(*parts: Text) -> Text:
    """`parts` on one line with two spaces between them."""
    return Text("  ").join(parts)


def labelled(rows: Iterable[tuple[str, RenderableType]]) -> Table:
    """Rows of a label and what it labels; long text wraps beside its label."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, min_width=_LABEL_WIDTH)
    table.add_column(overflow="fold")
    for label, content in rows:
        table.add_row(quiet(label), content)
    return table


def bullets(statements: Iterable[str]) -> list[RenderableType]:
    """One line a statement, with a dash before it; long ones wrap beside the dash."""
    return [_bullet(statement) for statement in statements]


def columns(*titles: str, numbers: frozenset[str] = frozenset()) -> Table:
    """An empty table with these column titles over a thin line; `numbers` names the columns set flush right."""
    table = Table(box=_LINE_UNDER_TITLES, show_edge=False, pad_edge=False, header_style=QUIET, border_style=QUIET)
    for title in titles:
        table.add_column(title, justify="right" if title in numbers else "left", overflow="fold")
    return table


def _bullet(statement: str) -> RenderableType:
    line = Table.grid(padding=(0, 1, 0, 0))
    line.add_row(quiet("-"), prose(statement))
    return line
