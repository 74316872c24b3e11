"""`portcheck ir`: what a file was read as, in the text form of the IR."""

from __future__ import annotations

from typing import Annotated

import typer

from portcheck.cli.arguments import definitions, folders, module_roots, named_values, sizes
from portcheck.cli.source_options import Define, Dtype, Include, NkiRoot, NkiVersion, Shape, Target, Value
from portcheck.cli.writing import write_data, write_message
from portcheck.reporting import single_line, visible


def ir(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A CUDA source, or Python with NKI or CUDA in it.", show_default=False),
    ],
    kernel: Annotated[
        list[str] | None,
        typer.Option(help="A kernel of the file; repeat it for several. Without it, all of them.", metavar="NAME"),
    ] = None,
    define: Define = None,
    include: Include = None,
    nki_root: NkiRoot = None,
    target: Target = None,
    nki_version: NkiVersion = None,
    shape: Shape = None,
    dtype: Dtype = None,
    value: Value = None,
) -> None:
    """Print what a file was read as."""
    from portcheck.frontends.nki import reader

    with reader() as read_port:
        from portcheck.ir.text import print_program
        from portcheck.pipeline import program_of

        program = program_of(
            file,
            tuple(kernel or ()),
            defines=definitions(define or ()),
            include_roots=folders(include or ()),
            nki_roots=module_roots(nki_root or ()),
            target=target,
            nki_version=nki_version,
            shapes=sizes(shape or ()),
            dtypes=named_values("--dtype", dtype or ()),
            values=named_values("--value", value or ()),
            read_port=read_port,
        )
    write_data(visible(print_program(program)).rstrip("\n") + "\n")
    if not program.kernels:
        write_message(f"portcheck: note: {single_line(file)} holds no kernel")
