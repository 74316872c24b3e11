"""Which formats there are: every module of `formats` and every folder of `templates`, found and never listed."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol

from portcheck.core.errors import InputError, did_you_mean
from portcheck.core.report import Report
from portcheck.core.resources import data_folder
from portcheck.core.source import SourceFile

# A module may not be called `json`, because that is the standard library's; so a suffix may tell them apart.
_SUFFIX = "_report"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a format may want to know beside the report; most need nothing of it."""

    color: bool
    width: int
    sources: Mapping[str, SourceFile]


class Renderer(Protocol):
    """A format: a report and options to text."""

    def __call__(self, report: Report, options: Options) -> str:
        """The report as text."""
        ...


def format_names() -> tuple[str, ...]:
    """The names of all formats, sorted."""
    return tuple(sorted({*_modules(), *_templates()}))


def renderer(name: str) -> Renderer:
    """The format called `name`; raises InputError when there is none."""
    modules = _modules()
    if name in modules:
        render: Renderer = import_module(f"portcheck.reporting.formats.{modules[name]}").render
        return render
    if name in _templates():
        # Jinja is needed for templated formats alone.
        from portcheck.reporting.environment import render_template

        return lambda report, options: render_template(name, report)
    names = format_names()
    hint = did_you_mean(name, names) or f"choose one of {', '.join(names)}"
    raise InputError(f'there is no format called "{name}"', hint=hint)


def _modules() -> Mapping[str, str]:
    folder = Path(__file__).parent / "formats"
    return {module.name.removesuffix(_SUFFIX): module.name for module in pkgutil.iter_modules([str(folder)])}


def _templates() -> tuple[str, ...]:
    return tuple(folder.name for folder in data_folder("templates").iterdir() if any(folder.glob("report.*.jinja")))
