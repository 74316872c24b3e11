"""Reads every source file under the given folders and says how much was understood.

Kernels are counted by `census.py` and `nki_census.py`, which share no code with the frontends. Seconds are those that
the processor takes for parsing and lowering.
Ends with 1 on any exception or timeout.
"""

import argparse
import os
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import nki_sweep
from census import Written, kernels_in
from portcheck.frontends.cuda import CudaOptions, read_cuda
from portcheck.frontends.nki import NkiOptions, read_nki
from portcheck.frontends.reading import Problem
from portcheck.ir import Call, Opaque, Program, coverage, kernel_operations
from portcheck.ir.text import print_program
from portcheck.ir.verify import verify
from portcheck.pipeline import program_of, read_source

SUFFIXES = (".cu", ".cuh", ".py")
HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inl", ".inc")
"""Read where they hold a kernel."""
ENTRY = b"__global__"
REASONS_SHOWN = 10
HEADER_FOLDERS = ("", "include", "inc", "utils", "common", "Common")
LOST_SHOWN = 20
MEGABYTE = 1e6
SLOWEST = 60
"""Seconds of the processor after which a file is given up."""


@dataclass
class Sweep:
    """What was found under one folder."""

    folder: str
    files: int = 0
    files_with_kernels: int = 0
    written: int = 0
    kernels: int = 0
    repeated: int = 0
    not_taken: int = 0
    broken: int = 0
    operations: int = 0
    understood: int = 0
    inconsistent: int = 0
    size: int = 0
    seconds: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)
    first_place: dict[str, str] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    broken_places: list[str] = field(default_factory=list)
    exceptions: list[str] = field(default_factory=list)
    timeouts: list[str] = field(default_factory=list)
    nki: nki_sweep.NkiSweep = field(default_factory=nki_sweep.NkiSweep)


class TooSlow(BaseException):
    """A file takes too long. No Exception, so that nothing contains it."""


def main() -> int:
    arguments = read_arguments()
    os.environ["PORTCHECK_DEBUG"] = "1"  # what fails is raised
    signal.signal(signal.SIGPROF, _too_slow)
    sweeps = [swept(folder, arguments) for folder in arguments.folders]
    print("\n".join(line for sweep in sweeps for line in report(sweep)))
    return 1 if any(sweep.exceptions or sweep.timeouts for sweep in sweeps) else 0


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--traceback", action="store_true", help="print the traceback of every exception")
    parser.add_argument("--limit", type=int, default=SLOWEST, help=f"seconds for a file (default {SLOWEST})")
    parser.add_argument("--reasons", type=int, default=REASONS_SHOWN, help="reasons shown for what stays opaque")
    return parser.parse_args()


def _too_slow(number: int, frame: FrameType | None) -> None:
    raise TooSlow


def swept(folder: str, arguments: argparse.Namespace) -> Sweep:
    """Every source file under `folder`, lowered with all of its kernels; no file stops the others."""
    sweep = Sweep(folder)
    for path in sources(Path(folder)):
        sweep.files += 1
        sweep.size += path.stat().st_size
        signal.setitimer(signal.ITIMER_PROF, arguments.limit)
        try:
            add(sweep, path, Path(folder))
        except TooSlow:
            sweep.timeouts.append(str(path))
        except Exception as error:  # noqa: BLE001  # what a frontend raises is what a sweep looks for
            sweep.exceptions.append(f"{path}: {type(error).__name__}: {error}")
            if arguments.traceback:
                traceback.print_exc()
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    sweep.reasons = Counter(
        dict(sorted(sweep.reasons.items(), key=lambda item: (-item[1], item[0]))[: arguments.reasons])
    )
    return sweep


def include_roots(path: Path, folder: Path) -> tuple[str, ...]:
    """Where headers of the project may lie that its build names: beside the file and its folders, in usual places."""
    around = [parent for parent in path.parents if parent == folder or folder in parent.parents]
    return tuple(str(found) for parent in around for name in HEADER_FOLDERS if (found := parent / name).is_dir())


def package_roots(path: Path, folder: Path) -> tuple[str, ...]:
    """Where packages that a port imports may lie: its folder and those around it that are no packages."""
    around = [parent for parent in path.parents if parent == folder or folder in parent.parents]
    roots = [parent for parent in around if not (parent / "__init__.py").exists()]
    return tuple(str(root) for root in (*roots, folder / "src") if root.is_dir())


def sources(folder: Path) -> Iterator[Path]:
    """The files that may hold kernels, in order."""
    if not folder.is_dir():
        sys.exit(f"{folder} is not a folder")
    for path in sorted(folder.rglob("*")):
        is_header = path.suffix in HEADERS and path.is_file() and ENTRY in path.read_bytes()
        if (path.suffix in SUFFIXES and path.is_file()) or is_header:
            yield path


def add(sweep: Sweep, path: Path, folder: Path) -> None:
    """Reads one file, and adds what became of it."""
    if path.suffix == ".py":
        source = read_source(str(path), may_be_empty=True)
        start = time.process_time()
        port = read_nki(source, NkiOptions(roots=package_roots(path, folder)))
        program = port.lower([kernel.name for kernel in port.kernels])
        if not program.kernels:
            program = program_of(str(path))  # which reads what is CUDA in its strings
        sweep.seconds += time.process_time() - start
        nki_sweep.add(sweep.nki, path, port, program)
    else:
        source = read_source(str(path), may_be_empty=True)
        start = time.process_time()
        module = read_cuda(source, CudaOptions(include_roots=include_roots(path, folder)))
        program = module.lower([*(kernel.name for kernel in module.kernels), *module.specialisations])
        sweep.seconds += time.process_time() - start
        count(sweep, path, kernels_in(source.text), program)
        count_broken(sweep, program, module.problems)
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


def count(sweep: Sweep, path: Path, written: list[Written], program: Program) -> None:
    """Compares what is written with what was lowered."""
    lowered = Counter(kernel.name.partition("<")[0].partition("#")[0] for kernel in program.kernels)
    sweep.written += len(written)
    seen: Counter[str] = Counter()
    for kernel in written:
        seen[kernel.name] += 1
        if 1 <= lowered[kernel.name] < seen[kernel.name]:
            sweep.repeated += 1
        elif kernel.name not in lowered and kernel.is_conditional:
            sweep.not_taken += 1
        elif kernel.name not in lowered:
            sweep.lost.append(f"{path}:{kernel.line} {kernel.name}")


def count_broken(sweep: Sweep, program: Program, problems: tuple[Problem, ...]) -> None:
    """Counts the kernels that hold text which did not parse."""
    for kernel in program.kernels:
        places = [problem.span for problem in problems if kernel.span.covers(problem.span)]
        sweep.broken += bool(places)
        if places:
            sweep.broken_places.append(f"{kernel.span.path}:{places[0].start.line} {kernel.name}")


def report(sweep: Sweep) -> Iterator[str]:
    opaque = sweep.operations - sweep.understood
    yield f"## {sweep.folder}\n"
    titles = (
        "files",
        "kernels by census",
        "lowered",
        "second of a name",
        "branch not taken",
        "lost",
        "with parser errors",
    )
    broken = f"{sweep.broken} = {share(sweep.broken, sweep.kernels)}"
    rows = (sweep.files, sweep.written, sweep.kernels, sweep.repeated, sweep.not_taken, len(sweep.lost), broken)
    yield from table(titles, [tuple(map(str, rows))])
    yield ""
    titles = ("operations", "opaque", "opaque share", "exceptions", "timeouts", "inconsistent", "seconds", "MB", "MB/s")
    rows = (
        sweep.operations, opaque, share(opaque, sweep.operations), len(sweep.exceptions), len(sweep.timeouts),
        sweep.inconsistent, f"{sweep.seconds:.2f}", f"{sweep.size / MEGABYTE:.2f}",
        f"{sweep.size / MEGABYTE / max(sweep.seconds, 1e-9):.2f}",
    )  # fmt: skip
    yield from table(titles, [tuple(map(str, rows))])
    yield ""
    yield from reasons(sweep)
    if sweep.nki.files or sweep.nki.not_python:
        for nki_titles, nki_rows in nki_sweep.report(sweep.nki):
            yield from table(nki_titles, nki_rows)
            yield ""
        yield from nki_sweep.places(sweep.nki)
    yield from (f"lost: {line}" for line in sweep.lost[:LOST_SHOWN])
    yield from (f"with parser errors: {line}" for line in sweep.broken_places[:LOST_SHOWN])
    yield from (f"timeout: {line}" for line in sweep.timeouts)
    yield from (f"exception: {line}" for line in sweep.exceptions)


def share(part: int, whole: int) -> str:
    return f"{100 * part / max(whole, 1):.2f} %"


def reasons(sweep: Sweep) -> Iterator[str]:
    """The reasons that come up most; those that come up equally often in alphabetical order."""
    rows = [(str(count), single_line(reason), sweep.first_place[reason]) for reason, count in sweep.reasons.items()]
    if rows:
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
