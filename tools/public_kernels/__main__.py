"""Executes kernels of public CUDA sources and compares what they give with references written by us; 1 on a failure.

The sources are not part of this repository: the folders are arguments.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from tools.public_kernels.case import Case
from tools.public_kernels.catalogue import LLMC, SAMPLES
from tools.public_kernels.running import Outcome, executed

from portcheck.execution import Options

MOST_PROBLEMS = 4


def main() -> int:
    arguments = read_arguments()
    collections = [(arguments.llmc, "dev/cuda", LLMC), (arguments.cuda_samples, "Samples", SAMPLES)]
    options = Options(contracts=arguments.contract, seed=arguments.seed)
    good: dict[str, bool] = {}
    runs = 0
    for root, below, cases in collections:
        for case in chosen(cases, arguments.only) if root else ():
            for size in case.sizes:
                outcome = executed(Path(root) / below, case, size, options)
                runs += 1
                print(line(case, size, outcome), flush=True)
                name = f"{Path(case.file).name}: {case.kernel}"
                good[name] = good.get(name, True) and not outcome.problems
    failed = [name for name, is_good in good.items() if not is_good]
    print(f"\n{runs} runs of {len(good)} kernels: {len(good) - len(failed)} equal, {len(failed)} not")
    print("".join(f"  {name}\n" for name in failed), end="")
    return 1 if failed or not runs else 0


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.public_kernels", description=__doc__)
    parser.add_argument("--llm.c", dest="llmc", metavar="FOLDER", help="a checkout of llm.c")
    parser.add_argument("--cuda-samples", metavar="FOLDER", help="a checkout of cuda-samples")
    parser.add_argument("--only", metavar="TEXT", default="", help="only kernels whose file or name holds TEXT")
    parser.add_argument("--contract", action="store_true", help="fuse products with sums, as nvcc does by default")
    parser.add_argument("--seed", type=int, help="run the threads of atomic operations in an order of this seed")
    arguments = parser.parse_args()
    if not arguments.llmc and not arguments.cuda_samples:
        parser.error("give at least one of --llm.c and --cuda-samples")
    return arguments


def chosen(cases: Iterable[Case], text: str) -> list[Case]:
    return [case for case in cases if text in f"{case.file} {case.kernel}"]


def line(case: Case, size: object, outcome: Outcome) -> str:
    """One run in one line, and what is wrong with it below."""
    name = f"{Path(case.file).name}: {case.kernel}" + (f" <{case.label}>" if case.label else "")
    verdict = "FAILED" if outcome.problems else "equal"
    facts = f"{outcome.threads} threads | {sizes_shown(size)} | {outcome.how} | events: {outcome.events}"
    problems = [f"\n    {problem}" for problem in outcome.problems[:MOST_PROBLEMS]]
    rest = len(outcome.problems) - MOST_PROBLEMS
    more = f"\n    and {rest} more" if rest > 0 else ""
    return f"{verdict:6} | {name} | {facts} | {outcome.seconds:.2f} s{''.join(problems)}{more}"


def sizes_shown(size: object) -> str:
    items = size.items() if isinstance(size, dict) else ()
    return ", ".join(f"{name} {value}" for name, value in items if not callable(value))


if __name__ == "__main__":
    sys.exit(main())
