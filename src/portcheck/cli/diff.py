"""`portcheck diff`: compare a kernel with its port and print the report."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from portcheck.cli.arguments import (
    assumptions,
    checked_format,
    definitions,
    destinations,
    folders,
    module_roots,
    named_values,
    sizes,
)
from portcheck.cli.nvcc_flags import ignored_flags, parse_flags
from portcheck.cli.source_options import Define, Dtype, Include, NkiRoot, NkiVersion, Shape, Target, Value
from portcheck.cli.writing import output_width, wants_color, write_data, write_files, write_message
from portcheck.reporting import format_names, prepare, render, single_line

if TYPE_CHECKING:
    from portcheck.pipeline import Analysis


class FailOn(StrEnum):
    """Where exit code 1 begins."""

    ERROR = "error"
    WARNING = "warning"
    NEVER = "never"


def complete_format(incomplete: str) -> list[str]:
    """The formats whose names start with `incomplete`, for shell completion."""
    return [name for name in format_names() if name.startswith(incomplete)]


_Cuda = Annotated[str, typer.Argument(metavar="CUDA", help="The original: a CUDA source file.", show_default=False)]
_Nki = Annotated[str, typer.Argument(metavar="NKI", help="The port: a Python file.", show_default=False)]
_CudaKernel = Annotated[
    list[str] | None,
    typer.Option(help="A kernel of the original; repeat it for several, in launch order.", metavar="NAME"),
]
_NkiKernel = Annotated[str | None, typer.Option(help="The kernel of the port.", metavar="NAME")]
_Format = Annotated[
    str,
    typer.Option(
        "--format",
        help="The format printed: terminal, markdown or json.",
        metavar="FORMAT",
        autocompletion=complete_format,
    ),
]
_Output = Annotated[
    list[str] | None,
    typer.Option(help="Also write the report to a file; may be repeated.", metavar="FORMAT=PATH"),
]
_FailOn = Annotated[
    FailOn,
    typer.Option(
        help="Exit with 1 on not-faithful and not-verified (error), also on needs-decision (warning), or never.",
        metavar="error|warning|never",
    ),
]
_NvccFlags = Annotated[
    str,
    typer.Option(
        help="How the original is compiled: -use_fast_math, -fmad=, -ftz=, -prec-div=, -prec-sqrt= count; "
        "other flags are ignored, and named.",
        metavar="FLAGS",
        show_default=False,
    ),
]
_Assume = Annotated[
    list[str] | None,
    typer.Option(
        help="How the port is compiled: stochastic-rounding or auto-cast=TYPE; may be repeated.", metavar="ASSUMPTION"
    ),
]
_NoColor = Annotated[bool, typer.Option("--no-color", help="Print without colours; so does NO_COLOR.")]
_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors; --output still writes.")]


def diff(
    cuda: _Cuda,
    nki: _Nki,
    cuda_kernel: _CudaKernel = None,
    nki_kernel: _NkiKernel = None,
    target: Target = None,
    nki_version: NkiVersion = None,
    format_name: _Format = "terminal",
    output: _Output = None,
    fail_on: _FailOn = FailOn.ERROR,
    define: Define = None,
    include: Include = None,
    nki_root: NkiRoot = None,
    shape: Shape = None,
    dtype: Dtype = None,
    value: Value = None,
    nvcc_flags: _NvccFlags = "",
    assume: _Assume = None,
    no_color: _NoColor = False,
    quiet: _Quiet = False,
) -> None:
    """Compare a CUDA kernel with its NKI port.

    The report says what was compared, how much of both files was understood, what every output is on both sides,
    and where they differ, with a verdict.
    """
    checked_format(format_name)
    files = destinations(output or (), inputs=(cuda, nki))
    flags = parse_flags(nvcc_flags)

    # Here and not with the module, so that --help is quick; and the reader first: it loads the port's parser meanwhile.
    from portcheck.frontends.nki import reader

    with reader() as read_port:
        from portcheck.pipeline import Request, check

        request = Request(
            cuda_path=cuda,
            nki_path=nki,
            cuda_kernels=tuple(cuda_kernel or ()),
            nki_kernel=nki_kernel,
            target=target,
            nki_version=nki_version,
            defines=definitions(define or ()),
            include_roots=folders(include or ()),
            nki_roots=module_roots(nki_root or ()),
            shapes=sizes(shape or ()),
            dtypes=named_values("--dtype", dtype or ()),
            values=named_values("--value", value or ()),
            nvcc_flags=" ".join((*flags.known, *flags.ignored)),
            assumptions=assumptions(assume or ()),
        )
        for statement in () if quiet else ignored_flags(flags):
            write_message(f"portcheck: note: {single_line(statement)}")
        prepare(format_name)
        analysis = check(request, read_port=read_port)
    write_files([(path, _rendered(analysis, name)) for name, path in files])
    if not quiet:
        write_data(_rendered(analysis, format_name, color=wants_color() and not no_color, width=output_width()))
    raise typer.Exit(_exit_code(analysis, fail_on))


def _exit_code(analysis: Analysis, fail_on: FailOn) -> int:
    from portcheck.rubric import exit_code

    return exit_code(analysis.report.verdict, fail_on.value)


def _rendered(analysis: Analysis, format_name: str, *, color: bool = False, width: int | None = None) -> str:
    if width is None:
        return render(analysis.report, format_name, sources=analysis.sources)
    return render(analysis.report, format_name, color=color, width=width, sources=analysis.sources)
