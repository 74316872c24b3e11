"""Measures reading and lowering CUDA against the bare parse of the same files, in one run, file by file.

A helper that is inlined at ten calls, or a template lowered for two types, is lowered ten or two times. The share of
visits that see a piece of the text for the first time is counted in a second run and says what the text alone costs.
"""

import argparse
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from portcheck.core.source import SourceFile
from portcheck.frontends.cuda import CudaModule, CudaOptions, lower, read_cuda
from portcheck.frontends.cuda.parsing.grammar import parser
from portcheck.pipeline import read_source

SUFFIXES = (".cu", ".cuh")
KERNEL = re.compile(r"__global__[^;{]*?\b(\w+)\s*\(")
NODES_A_MEGABYTE = 240_000
TARGET = 12
BAR = 25


@dataclass
class Cost:
    """Seconds of one set of files, and how much of the lowering saw the text for the first time."""

    size: int = 0
    nodes: int = 0
    bare: float = 0.0
    read: float = 0.0
    lowered: float = 0.0
    visits: int = 0
    own: int = 0
    slowest: list[tuple[float, str]] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """How often the bare parse fits into reading and lowering."""
        return (self.read + self.lowered) / self.bare

    @property
    def ratio_without_copies(self) -> float:
        """The same where every piece of the text is lowered once."""
        return (self.read + self.lowered * self.own / max(self.visits, 1)) / self.bare


def main() -> None:
    arguments = read_arguments()
    read_all(SourceFile("warm.cu", "__global__ void k(float* x) { x[0] = 1.f; }"), Cost())
    print("| what | MB | nodes/MB | bare s | read s | lower s | ratio | first visits | ratio without copies |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    total = Cost()
    for folder in arguments.folders:
        found = Cost()
        for path in sorted(Path(folder).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                source = read_source(str(path), may_be_empty=True)
                read_all(source, found)
        show(folder, found)
        add(total, found)
    show("all", total)
    for seconds, path in sorted(total.slowest, reverse=True)[: arguments.slowest]:
        print(f"{seconds:.2f} s: {path}")
    print(f"\nAt most {BAR}, better {TARGET}.\n")
    if arguments.growing:
        grow(Path(arguments.growing))


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    parser.add_argument("--growing", metavar="FILE", help="a file to read once, twice, four and eight times over")
    parser.add_argument("--slowest", type=int, default=0, help="how many of the slowest files to show")
    return parser.parse_args()


def read_all(source: SourceFile, cost: Cost) -> None:
    """Parses, reads and lowers one file, one after the other, and adds what that took."""
    encoded = source.text.encode("utf-8", "replace")
    start = time.perf_counter()
    tree = parser().parse(encoded)
    parsed = time.perf_counter()
    module = read_cuda(source, CudaOptions())
    read = time.perf_counter()
    module.lower([kernel.name for kernel in module.kernels])
    end = time.perf_counter()
    cost.size += len(encoded)
    cost.nodes += tree.root_node.descendant_count
    cost.bare += parsed - start
    cost.read += read - parsed
    cost.lowered += end - read
    cost.slowest.append((end - parsed, source.path))
    visits = visited(read_cuda(source, CudaOptions()))
    cost.visits += len(visits)
    cost.own += len(set(visits))


def visited(module: CudaModule) -> list[tuple[int, int, int]]:
    """Every expression and statement that lowering looks at, each time it does."""
    found: list[tuple[int, int, int]] = []

    def noting(run: Callable[..., object]) -> Callable[..., object]:
        def noted(state: object, node: object) -> object:
            found.append(node.key)  # type: ignore[attr-defined]  # a Node
            return run(state, node)

        return noted

    evaluate, execute = lower.evaluate, lower.execute
    lower.evaluate, lower.execute = noting(evaluate), noting(execute)
    try:
        module.lower([kernel.name for kernel in module.kernels])
    finally:
        lower.evaluate, lower.execute = evaluate, execute
    return found


def add(total: Cost, found: Cost) -> None:
    for name in ("size", "nodes", "bare", "read", "lowered", "visits", "own", "slowest"):
        setattr(total, name, getattr(total, name) + getattr(found, name))


def show(what: str, cost: Cost) -> None:
    megabytes = cost.size / 1e6
    if not cost.bare:
        return
    print(
        f"| {what} | {megabytes:.2f} | {cost.nodes / megabytes:.0f} | {cost.bare:.2f} | {cost.read:.2f} "
        f"| {cost.lowered:.2f} | {cost.ratio:.1f} | {100 * cost.own / max(cost.visits, 1):.0f} % "
        f"| {cost.ratio_without_copies:.1f} |"
    )


def grow(path: Path) -> None:
    """Reads a file once, twice, four and eight times over, its kernels under other names each time."""
    text = read_source(str(path)).text
    names = set(KERNEL.findall(text))
    pattern = re.compile(rf"\b({'|'.join(sorted(map(re.escape, names)))})\b") if names else re.compile("(?!)")
    print("| copies | MB | read and lower s | s/MB |\n|---:|---:|---:|---:|")
    for copies in (1, 2, 4, 8):
        parts = [pattern.sub(rf"\g<1>_{number}", text) for number in range(copies)]
        cost = Cost()
        read_all(SourceFile(str(path), "\n".join(parts)), cost)
        seconds = cost.read + cost.lowered
        print(f"| {copies} | {cost.size / 1e6:.2f} | {seconds:.2f} | {seconds / cost.size * 1e6:.2f} |")


if __name__ == "__main__":
    sys.exit(main())
