"""The options that several commands have: how the sources are read."""

from __future__ import annotations

from typing import Annotated

import typer

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
