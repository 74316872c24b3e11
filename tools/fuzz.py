"""Mutates CUDA and NKI snippets and reads them in this process: nothing may raise, be inconsistent, or take long.

The same seed gives the same inputs. What fails is written to a folder, one input a file, once for every place.
"""

import argparse
import gc
import os
import signal
import sys
import time
import traceback
from collections import Counter
from hashlib import sha256
from pathlib import Path
from types import FrameType, ModuleType

from fuzzing import cuda, nki

ROOT = Path(__file__).parents[1]
SIDES: dict[str, ModuleType] = {"cuda": cuda, "nki": nki}
GARBAGE = 200_000
"""New objects between two searches for garbage; the tables alone are more than the usual 700."""
SLOWEST = 10
"""Seconds of the processor that one input may take."""


def main() -> int:
    arguments = read_arguments()
    os.environ["PORTCHECK_DEBUG"] = "1"  # what fails is raised
    gc.set_threshold(GARBAGE)
    signal.signal(signal.SIGPROF, _too_slow)
    failures = 0
    for name in arguments.side or SIDES:
        fuzzing = Fuzzing(SIDES[name], arguments.seed, arguments.keep)
        fuzzing.run(arguments.count, arguments.seconds, arguments.every)
        failures += len(fuzzing.failures)
    return 1 if failures else 0


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", action="append", choices=SIDES, help="what to read (default: both, one by one)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10_000, help="inputs to read (default 10000)")
    parser.add_argument("--seconds", type=float, default=0, help="stop after this time, whatever the count")
    parser.add_argument("--every", type=int, default=5_000, help="inputs between two lines of progress")
    parser.add_argument("--keep", type=Path, default=ROOT / "build" / "fuzz", help="folder for what failed")
    return parser.parse_args()


class TooSlow(BaseException):
    """An input takes too long. No Exception, so that nothing contains it."""


def _too_slow(number: int, frame: FrameType | None) -> None:
    raise TooSlow


class Fuzzing:
    """One run: inputs of one side from a seed, and what failed."""

    def __init__(self, side: ModuleType, seed: int, keep: Path) -> None:
        self._side = side
        self._inputs = side.Inputs(seed, ROOT / "corpus")
        self._keep = keep
        self.failures: Counter[str] = Counter()

    def run(self, count: int, seconds: float, every: int) -> None:
        start = time.perf_counter()
        for number in range(1, count + 1):
            self._read(self._inputs.next())
            passed = time.perf_counter() - start
            is_over = bool(seconds) and passed > seconds
            if number % every == 0 or number == count or is_over:
                rate, places = f"{number / passed:.0f}/s", len(self.failures)
                print(f"{self._side.SUFFIX}: {number} inputs, {rate}, {places} places of failure", flush=True)
            if is_over:
                break
        for place, times in self.failures.most_common():
            print(f"{times} x {place}")

    def _read(self, text: str) -> None:
        signal.setitimer(signal.ITIMER_PROF, SLOWEST)
        try:
            problem = self._side.problem_of(text)
        except TooSlow:
            problem = f"too slow: {_place()}"
        except Exception as error:  # noqa: BLE001  # what a frontend raises is what fuzzing looks for
            problem = f"{type(error).__name__}: {_place()}"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        if problem:
            self._note(problem, text)

    def _note(self, problem: str, text: str) -> None:
        self.failures[problem] += 1
        if self.failures[problem] == 1:
            self._keep.mkdir(parents=True, exist_ok=True)
            name = sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
            kept = self._keep / f"{name}{self._side.SUFFIX}"
            kept.write_text(text, encoding="utf-8", errors="replace", newline="")
            (self._keep / f"{name}.txt").write_text(f"{problem}\n{traceback.format_exc()}", encoding="utf-8")
            print(f"{kept.name}: {problem}", flush=True)


def _place() -> str:
    """Where in portcheck the exception that is being handled was raised."""
    _, _, trace = sys.exc_info()
    frames = [frame for frame in traceback.extract_tb(trace) if "portcheck" in frame.filename]
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"


if __name__ == "__main__":
    sys.exit(main())
