"""Measures cold runs of portcheck against the time Python needs to load its libraries.

Absolute times say more about the machine than about the program. Each time is therefore also given as a ratio to a
baseline that is measured in turn with it, so that a busy moment meets all of them alike.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
PORTCHECK = Path(sys.executable).with_name("portcheck")
BASELINE = "load the libraries"
IMPORTS = "import libcst, tree_sitter, typer, jinja2"
TARGET_LINES = 100


def main() -> None:
    arguments = read_arguments()
    pair = arguments.pair or nearest_pair(ROOT / "corpus")
    label = f"diff {pair.parent.name}/{pair.name} ({lines(pair)} lines)"
    with tempfile.TemporaryDirectory() as folder:
        times = measure(commands(pair, label), arguments.runs, with_bytecode(Path(folder)))
    print_table(times, arguments.runs)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=15, help="runs of each command (default 15)")
    parser.add_argument("--pair", type=Path, help=f"folder of a pair (default: nearest to {TARGET_LINES} lines)")
    return parser.parse_args()


def lines(pair: Path) -> int:
    return sum(len((pair / name).read_text(encoding="utf-8").splitlines()) for name in ("kernel.cu", "port.py"))


def nearest_pair(corpus: Path) -> Path:
    pairs = [kernel.parent for kernel in sorted(corpus.glob("*/*/kernel.cu")) if kernel.with_name("port.py").exists()]
    if not pairs:
        sys.exit(f"no pair found under {corpus}")
    return min(pairs, key=lambda pair: (abs(lines(pair) - TARGET_LINES), pair))


def commands(pair: Path, label: str) -> dict[str, list[str]]:
    diff = [str(PORTCHECK), "diff", str(pair / "kernel.cu"), str(pair / "port.py"), "--fail-on", "never"]
    return {BASELINE: [sys.executable, "-c", IMPORTS], "--help": [str(PORTCHECK), "--help"], label: diff}


def with_bytecode(folder: Path) -> dict[str, str]:
    """The environment in which everything is compiled once, as an installation does it, whatever this one forbids."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": str(folder)}


def measure(todo: dict[str, list[str]], runs: int, environment: dict[str, str]) -> dict[str, list[float]]:
    """Seconds of every run; the first round compiles, fills the file cache, and is not counted."""
    times: dict[str, list[float]] = {label: [] for label in todo}
    for turn in range(runs + 1):
        for label, command in todo.items():
            seconds = timed(command, environment)
            if turn:
                times[label].append(seconds)
    return times


def timed(command: list[str], environment: dict[str, str]) -> float:
    start = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}\n{done.stderr}")
    return seconds


def print_table(times: dict[str, list[float]], runs: int) -> None:
    base = statistics.median(times[BASELINE])
    print("| what | median | fastest | slowest | ratio |")
    print("|---|---:|---:|---:|---:|")
    for label, seconds in times.items():
        median = statistics.median(seconds)
        spread = " | ".join(f"{value * 1000:.0f} ms" for value in (median, min(seconds), max(seconds)))
        print(f"| {label} | {spread} | {median / base:.2f} |")
    print(f"\n{runs} runs each, in turn, a new process each time; Python {sys.version.split()[0]}.")


if __name__ == "__main__":
    main()
