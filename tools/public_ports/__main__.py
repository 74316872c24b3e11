"""Executes kernels of public NKI sources and compares what they return with references; 1 on a failure.

The sources are not part of this repository: the folders are arguments. The references of nki-library are the PyTorch
functions beside its kernels, so PyTorch must be installed for them; they are trusted, and run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from tools.public_ports.case import Case
from tools.public_ports.catalogue import FIRST_SAMPLES, LIBRARY, SAMPLES
from tools.public_ports.running import Outcome, executed
from tools.public_ports.torch_references import library_at

MOST_PROBLEMS = 4


def main() -> int:
    arguments = read_arguments()
    if arguments.nki_library:
        library_at(Path(arguments.nki_library))
    collections = [
        (arguments.samples, SAMPLES), (arguments.first_samples, FIRST_SAMPLES), (arguments.nki_library, LIBRARY),
    ]  # fmt: skip
    good: dict[str, bool] = {}
    runs = 0
    for root, cases in collections:
        for case in chosen(cases, arguments.only) if root else ():
            for size in case.sizes:
                outcome = executed(Path(root), case, size)
                runs += 1
                print(line(case, size, outcome), flush=True)
                name = f"{root}: {Path(case.file).name}: {case.kernel}"
                good[name] = good.get(name, True) and not outcome.problems
    failed = [name for name, is_good in good.items() if not is_good]
    print(f"\n{runs} runs of {len(good)} kernels: {len(good) - len(failed)} equal, {len(failed)} not")
    print("".join(f"  {name}\n" for name in failed), end="")
    return 1 if failed or not runs else 0


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.public_ports", description=__doc__)
    parser.add_argument("--samples", metavar="FOLDER", help="a checkout of nki-samples")
    parser.add_argument("--first-samples", metavar="FOLDER", help="a checkout of nki-samples of the first generation")
    parser.add_argument("--library", dest="nki_library", metavar="FOLDER", help="a checkout of nki-library")
    parser.add_argument("--only", metavar="TEXT", default="", help="only kernels whose file or name holds TEXT")
    arguments = parser.parse_args()
    if not (arguments.samples or arguments.first_samples or arguments.nki_library):
        parser.error("give at least one of --samples, --first-samples and --library")
    return arguments


def chosen(cases: Iterable[Case], text: str) -> list[Case]:
    return [case for case in cases if text in f"{case.file} {case.kernel}"]


def line(case: Case, size: dict[str, object], outcome: Outcome) -> str:
    """One run in one line, and what is wrong with it below."""
    name = f"{Path(case.file).name}: {case.kernel}" + (f" <{case.label}>" if case.label else "")
    verdict = "FAILED" if outcome.problems else "equal"
    sizes = ", ".join(f"{key} {getattr(value, '__name__', value)}" for key, value in size.items())
    facts = f"{sizes} | {outcome.how} | events: {outcome.events} | choices: {outcome.choices}"
    problems = [f"\n    {problem}" for problem in outcome.problems[:MOST_PROBLEMS]]
    rest = len(outcome.problems) - MOST_PROBLEMS
    more = f"\n    and {rest} more" if rest > 0 else ""
    return f"{verdict:6} | {name} | {facts} | {outcome.seconds:.2f} s{''.join(problems)}{more}"


if __name__ == "__main__":
    sys.exit(main())
