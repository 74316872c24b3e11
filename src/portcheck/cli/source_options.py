"""The options that several commands have: how the sources are read."""

from __future__ import annotations

from typing import Annotated

import typer


def complete_target(incomplete: str) -> list[str]:
    """The chips whose names start with `incomplete`, for shell completion."""
    from portcheck.knowledge import load

    return [name for name in sorted(load().chips) if name.startswith(incomplete)]


Define = Annotated[
    list[str] | None, typer.Option(help="A macro of the CUDA source; may be repeated.", metavar="NAME=VALUE")
]
Include = Annotated[
    list[str] | None,
    typer.Option("-I", help="A folder to read headers from, also outside the project; may be repeated.", metavar="DIR"),
]
NkiRoot = Annotated[
    list[str] | None,
    typer.Option(
        "--nki-root", help="A folder in which modules that the port imports may lie; may be repeated.", metavar="DIR"
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        help="The chip the port is meant for; see `portcheck list targets`.",
        metavar="CHIP",
        autocompletion=complete_target,
    ),
]
NkiVersion = Annotated[
    str | None,
    typer.Option(
        help="The version of NKI to read the port as; without it, it is told from the text.", metavar="VERSION"
    ),
]
Shape = Annotated[
    list[str] | None,
    typer.Option(
        help="A size of the port; without it, that of the parameter it answers is assumed.", metavar="NAME=VALUE"
    ),
]
Dtype = Annotated[
    list[str] | None,
    typer.Option(
        help="The dtype of a parameter of the port; without it, that of the parameter it answers is assumed.",
        metavar="NAME=VALUE",
    ),
]
Value = Annotated[
    list[str] | None,
    typer.Option(
        help="The value of a parameter of the port that is no tensor, or of one of its attributes; may be repeated.",
        metavar="NAME=VALUE",
    ),
]
