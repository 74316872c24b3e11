"""Measures reading and lowering NKI ports against Python's own parse and libcst's of the same text, in one run.

The ports are made here. Loading libcst and the tables is left out: a process does that once. Times of one text are
those of the processor, ports a second those of the clock. Garbage is looked for as seldom as the command does.
"""

import argparse
import ast
import gc
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import libcst

from nki_ports import copies, hundred_lines, large_file
from portcheck.core.source import SourceFile
from portcheck.frontends.nki import NkiOptions, read_nki
from portcheck.frontends.nki.module import load_parser
from portcheck.ir import Program, coverage

LARGE = 30_000
PORTS = 60
PROCESSES = 2
GARBAGE = 500_000
BARS = {"large": 0.25, "ports": 25.0}


@dataclass(frozen=True)
class Timed:
    """Median seconds of one text: Python's parse, libcst's parse, reading and lowering."""

    parsed: float
    libcst: float
    lowered: float


def main() -> None:
    arguments = read_arguments()
    prepare()
    lower(next(hundred_lines(1)))
    print("| what | lines | KB | ast ms | libcst ms | read and lower ms | /ast | /libcst | not understood |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    large = large_file(LARGE)
    took = row(f"one file of {LARGE // 1000} KB (bar: {BARS['large'] * 1000:.0f} ms)", large, arguments.runs)
    for number, text in enumerate(hundred_lines(4)):
        row(f"port {number + 1}", text, arguments.runs)
    for times in (1, 2, 4, 8):
        row(f"one file x {times}", copies(times), arguments.runs)
    rate = in_batch()
    print(f"\n{PORTS} ports in batch, {PROCESSES} processes: {rate:.1f}/s (bar: {BARS['ports']:.0f}/s).")
    print(f"One file of {LARGE // 1000} KB: {took.lowered * 1000:.0f} ms (bar: {BARS['large'] * 1000:.0f} ms).")


def prepare() -> None:
    """What a process does once."""
    gc.set_threshold(GARBAGE)
    load_parser()


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=5, help="runs of each text (default 5)")
    return parser.parse_args()


def row(what: str, text: str, runs: int) -> Timed:
    timed = measured(text, runs)
    counted = [coverage(kernel.body) for kernel in lower(text).kernels]
    total, understood = sum(item.total for item in counted), sum(item.understood for item in counted)
    print(
        f"| {what} | {len(text.splitlines())} | {len(text) / 1000:.1f} | {timed.parsed * 1000:.1f} "
        f"| {timed.libcst * 1000:.1f} | {timed.lowered * 1000:.1f} | {timed.lowered / timed.parsed:.0f} "
        f"| {timed.lowered / timed.libcst:.1f} | {total - understood}/{total} |"
    )
    return timed


def measured(text: str, runs: int) -> Timed:
    """The three in turn, so that a busy moment meets all of them alike."""
    seconds: list[tuple[float, float, float]] = []
    for _ in range(runs):
        seconds.append((timed(ast.parse, text), timed(libcst.parse_module, text), timed(lower, text)))
    return Timed(*(statistics.median(column) for column in zip(*seconds, strict=True)))


def timed(run: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    run(text)
    return time.process_time() - start


def lower(text: str) -> Program:
    module = read_nki(SourceFile("port.py", text), NkiOptions())
    return module.lower([kernel.name for kernel in module.kernels])


def in_batch() -> float:
    """Ports a second, all processors started and all tables loaded before."""
    ports = list(hundred_lines(PORTS))
    with ProcessPoolExecutor(PROCESSES, initializer=prepare) as pool:
        list(pool.map(lower_quietly, ports[: 4 * PROCESSES]))
        start = time.perf_counter()
        list(pool.map(lower_quietly, ports))
        return PORTS / (time.perf_counter() - start)


def lower_quietly(text: str) -> int:
    return len(lower(text).kernels)


if __name__ == "__main__":
    main()
