"""The program `portcheck`: its commands, and what becomes of an error that reaches the top."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import traceback
from typing import Annotated

import typer

from portcheck import __version__
from portcheck.cli.corpus import corpus
from portcheck.cli.diff import diff
from portcheck.cli.explain import explain
from portcheck.cli.failures import describe, describe_bug
from portcheck.cli.ir import ir
from portcheck.cli.listing import listing
from portcheck.cli.schema import schema
from portcheck.cli.writing import write_data, write_message
from portcheck.core.errors import PortcheckError

_INTERNAL = 70
_GARBAGE = 500_000
"""Objects to make before garbage is looked for: after a comparison some 75,000 are alive, most of them code."""
_HELP = """Compare a CUDA kernel with its NKI port and say where they differ.

Both files are only read; nothing in them is executed or imported.

Exit codes: 0 done, 1 not faithful or not verified (see --fail-on), 2 usage or input, 3 mappings invalid, 70 a bug.
"""

app = typer.Typer(
    name="portcheck",
    help=_HELP,
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help: the same bytes at every width of terminal, and no import of rich
    pretty_exceptions_enable=False,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(diff)
app.command()(explain)
app.add_typer(listing, name="list")
app.command()(ir)
app.command()(schema)
app.add_typer(corpus, name="corpus")


def _show_version(wanted: bool) -> None:
    if not wanted:
        return
    write_data(f"portcheck {__version__}\n")
    raise typer.Exit


@app.callback()
def portcheck(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Compare a CUDA kernel with its NKI port and say where they differ."""


def main() -> None:
    """Run the command in `sys.argv` and end the process with its exit code."""
    gc.set_threshold(_GARBAGE)
    atexit.register(gc.freeze)  # the process is over: nothing is looked through before it ends
    try:
        app(prog_name="portcheck")
    except PortcheckError as error:
        write_message(describe(error))
        code = error.exit_code
    except Exception as error:  # noqa: BLE001  # the top: anything unexpected is a bug and gets its own exit code
        if os.environ.get("PORTCHECK_DEBUG") == "1":
            traceback.print_exc()
        write_message(describe_bug(error))
        code = _INTERNAL
    sys.exit(code)
