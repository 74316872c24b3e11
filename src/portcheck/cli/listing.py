"""`portcheck list`: the rules, the chips, the kernels of a file; one a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from portcheck.cli.arguments import definitions, folders, module_roots
from portcheck.cli.columns import in_columns
from portcheck.cli.source_options import Define, Include, NkiRoot
from portcheck.cli.writing import write_data, write_message
from portcheck.reporting import single_line

if TYPE_CHECKING:
    from portcheck.knowledge import Chip

listing = typer.Typer(no_args_is_help=True, help="List the rules, the chips, or the kernels of a file.")


@listing.command()
def rules() -> None:
    """List the rules: code, name, severity, certainty at most, what they flag."""
    from portcheck.rules import all_rules

    rows = [(rule.code, rule.name, rule.severity, rule.certainty, rule.summary) for rule in all_rules()]
    write_data(in_columns(rows))


@listing.command()
def targets() -> None:
    """List the chips: name, other names, core, size of the on-chip memories."""
    from portcheck.knowledge import load

    write_data(in_columns([_chip(chip) for _, chip in sorted(load().chips.items())]))


@listing.command()
def kernels(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A CUDA source, or Python with NKI or CUDA in it.", show_default=False),
    ],
    define: Define = None,
    include: Include = None,
    nki_root: NkiRoot = None,
) -> None:
    """List the kernels of a file: name, line, parameters."""
    from portcheck.pipeline import program_of

    found = program_of(
        file,
        defines=definitions(define or ()),
        include_roots=folders(include or ()),
        nki_roots=module_roots(nki_root or ()),
    ).kernels
    rows = [
        (kernel.name, str(kernel.span.start.line), ", ".join(parameter.name for parameter in kernel.parameters))
        for kernel in found
    ]
    write_data(in_columns(rows))
    if not found:
        write_message(f"portcheck: note: {single_line(file)} holds no kernel")


def _chip(chip: Chip) -> tuple[str, ...]:
    others = dict.fromkeys(name for name in (chip.generation, *chip.targets) if name != chip.name)
    return (
        chip.name,
        ", ".join(others),
        chip.core,
        f"{chip.partitions} partitions",
        f"SBUF {chip.sbuf_bytes_per_partition} bytes each",
        f"PSUM {chip.psum_bytes_per_partition} bytes each",
    )
