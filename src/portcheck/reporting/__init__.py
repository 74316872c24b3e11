"""The report as text: one room for every format; a format renders what stands in the report and judges nothing."""

from __future__ import annotations

from collections.abc import Mapping

from portcheck.core.report import Report
from portcheck.core.source import SourceFile
from portcheck.reporting.catalogue import Options, format_names, renderer
from portcheck.reporting.escape import single_line, visible

__all__ = ["format_names", "prepare", "render", "schema", "single_line", "visible"]

DEFAULT_WIDTH = 120


def __dir__() -> list[str]:
    return __all__


def render(
    report: Report,
    format_name: str,
    *,
    color: bool = False,
    width: int = DEFAULT_WIDTH,
    sources: Mapping[str, SourceFile] | None = None,
) -> str:
    """`report` in the format called `format_name`; the same arguments give the same text.

    `color` and `width` (in character cells) concern the terminal format. `sources` maps the paths in the report to
    their files and gives excerpts the lines around a place; a place whose file is not there shows its own text.
    Raises InputError for a name that is no format.
    """
    return renderer(format_name)(report, Options(color=color, width=width, sources=sources or {}))


def prepare(format_name: str) -> None:
    """Loads what the format `format_name` needs, ahead of `render`; raises InputError for a name that is none."""
    renderer(format_name)


def schema() -> str:
    """The JSON Schema of the `json` format, as JSON text."""
    # msgspec is needed for this alone.
    from portcheck.reporting.formats.json_report import schema as json_schema

    return json_schema()
