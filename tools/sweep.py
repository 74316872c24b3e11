"""Reads every source file under the given folders and says how much was understood; ends with 1 on any exception."""

import argparse
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from portcheck.ir import Call, Opaque, Program, coverage, kernel_operations
from portcheck.ir.text import print_program
from portcheck.ir.verify import verify
from portcheck.pipeline import program_of

SUFFIXES = (".cu", ".cuh", ".py")
REASONS_SHOWN = 10
HEADER_FOLDERS = ("", "include", "inc", "utils", "common", "Common")
MEGABYTE = 1e6


@dataclass
class Sweep:
    """What was found under one folder."""

    folder: str
    files: int = 0
    files_with_kernels: int = 0
    kernels: int = 0
    operations: int = 0
    understood: int = 0
    inconsistent: int = 0
    size: int = 0
    seconds: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)
    first_place: dict[str, str] = field(default_factory=dict)
    exceptions: list[str] = field(default_factory=list)


def main() -> int:
    arguments = read_arguments()
    sweeps = [swept(folder, arguments.traceback) for folder in arguments.folders]
    print("\n".join(line for sweep in sweeps for line in report(sweep)))
    return 1 if any(sweep.exceptions for sweep in sweeps) else 0


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--traceback", action="store_true", help="print the traceback of every exception")
    return parser.parse_args()


def swept(folder: str, show_traceback: bool) -> Sweep:
    """Every source file under `folder`, lowered with all of its kernels; no file stops the others."""
    sweep = Sweep(folder)
    for path in sources(Path(folder)):
        sweep.files += 1
        sweep.size += path.stat().st_size
        start = time.perf_counter()
        try:
            add(sweep, program_of(str(path), include_roots=include_roots(path, Path(folder))))
        except Exception as error:  # noqa: BLE001  # what a frontend raises is what a sweep looks for
            sweep.exceptions.append(f"{path}: {type(error).__name__}: {error}")
            if show_traceback:
                traceback.print_exc()
        sweep.seconds += time.perf_counter() - start
    return sweep


def include_roots(path: Path, folder: Path) -> tuple[str, ...]:
    """Where headers of the project may lie that its build names: beside the file and its folders, in usual places."""
    around = [parent for parent in path.parents if parent == folder or folder in parent.parents]
    return tuple(str(found) for parent in around for name in HEADER_FOLDERS if (found := parent / name).is_dir())


def sources(folder: Path) -> Iterator[Path]:
    """The files that may hold kernels, in order."""
    if not folder.is_dir():
        sys.exit(f"{folder} is not a folder")
    return (path for path in sorted(folder.rglob("*")) if path.suffix in SUFFIXES and path.is_file())


def add(sweep: Sweep, program: Program) -> None:
    print_program(program)
    sweep.inconsistent += bool(verify(program))
    sweep.files_with_kernels += bool(program.kernels)
    sweep.kernels += len(program.kernels)
    for kernel in program.kernels:
        counted = coverage(kernel.body)
        sweep.operations += counted.total
        sweep.understood += counted.understood
    for op in kernel_operations(program):
        if isinstance(op, Opaque | Call):
            reason = op.reason if isinstance(op, Opaque) else f"helper not found: {op.callee}"
            sweep.reasons[reason] += 1
            sweep.first_place.setdefault(reason, f"{op.span.path}:{op.span.start.line}")


def report(sweep: Sweep) -> Iterator[str]:
    opaque = sweep.operations - sweep.understood
    yield f"## {sweep.folder}\n"
    yield from table(
        ("files", "with kernels", "kernels", "operations", "understood", "opaque", "opaque share"),
        [
            (
                str(sweep.files),
                str(sweep.files_with_kernels),
                str(sweep.kernels),
                str(sweep.operations),
                str(sweep.understood),
                str(opaque),
                f"{100 * opaque / max(sweep.operations, 1):.2f} %",
            )
        ],
    )
    yield ""
    yield from table(
        ("exceptions", "inconsistent programs", "seconds", "MB", "MB/s"),
        [
            (
                str(len(sweep.exceptions)),
                str(sweep.inconsistent),
                f"{sweep.seconds:.2f}",
                f"{sweep.size / MEGABYTE:.2f}",
                f"{sweep.size / MEGABYTE / max(sweep.seconds, 1e-9):.2f}",
            )
        ],
    )
    yield ""
    yield from reasons(sweep)
    yield from (f"exception: {line}" for line in sweep.exceptions)


def reasons(sweep: Sweep) -> Iterator[str]:
    """The reasons that come up most; those that come up equally often in alphabetical order."""
    ordered = sorted(sweep.reasons.items(), key=lambda item: (-item[1], item[0]))[:REASONS_SHOWN]
    if ordered:
        rows = [(str(count), single_line(reason), sweep.first_place[reason]) for reason, count in ordered]
        yield from table(("not understood", "reason", "first at"), rows)
        yield ""


def single_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "/")


def table(titles: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """The rows as Markdown, the cells of a column starting under each other."""
    lines = [titles, *rows]
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    for index, line in enumerate(lines):
        yield f"| {' | '.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))} |"
        if index == 0:
            yield f"|{'|'.join('-' * (width + 2) for width in widths)}|"


if __name__ == "__main__":
    sys.exit(main())
