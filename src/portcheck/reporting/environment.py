"""Templated formats: Jinja in its sandbox, where everything written out is escaped unless a filter made it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from portcheck.core.errors import PortcheckError
from portcheck.core.report import Report
from portcheck.core.resources import data_folder
from portcheck.reporting import markdown
from portcheck.reporting.escape import visible
from portcheck.reporting.view import (
    CUDA_SIDE,
    NKI_SIDE,
    NO_COUNTERPART,
    covered,
    first_line,
    kernels,
    location,
    short_hash,
    snippet,
    view,
)

_INTERNAL = 70


def render_template(format_name: str, report: Report) -> str:
    """`report` by the template `report.<kind>.jinja` in the folder of `format_name`; `<kind>` chooses the escaping."""
    folder = data_folder("templates") / format_name
    file = _template(folder)
    environment = _environment(folder, kind=file.name.split(".")[1])
    shown = view(report)
    return environment.get_template(file.name).render(
        view=shown, report=report, cuda_side=CUDA_SIDE, nki_side=NKI_SIDE, no_counterpart=NO_COUNTERPART
    )


def _template(folder: Path) -> Path:
    files = sorted(folder.glob("report.*.jinja"))
    if len(files) != 1:
        raise PortcheckError(f"{folder.name}: a format has one report template, not {len(files)}", exit_code=_INTERNAL)
    return files[0]


def _environment(folder: Path, kind: str) -> ImmutableSandboxedEnvironment:
    if kind not in _ESCAPES:
        hint = f"the known kinds are {', '.join(sorted(_ESCAPES))}"
        raise PortcheckError(f'{folder.name}: no escaping is known for ".{kind}"', hint=hint, exit_code=_INTERNAL)
    environment = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        finalize=_ESCAPES[kind],
        autoescape=False,  # `finalize` escapes, for formats that Jinja does not know
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(_FILTERS)
    return environment


def _markdown(value: object) -> str:
    return value if isinstance(value, markdown.Markdown) else markdown.prose(value)


def _text(value: object) -> str:
    return visible(str(value))


_ESCAPES: Mapping[str, Callable[[object], str]] = {"md": _markdown, "txt": _text}
_FILTERS: Mapping[str, Callable[..., object]] = {
    "code": markdown.code,
    "fence": markdown.fence,
    "first_line": first_line,
    "location": location,
    "snippet": snippet,
    "covered": covered,
    "kernels": kernels,
    "short_hash": short_hash,
}
