"""Lowers one kernel and executes it with the arguments of a run."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tools.public_kernels.case import Array, Case, Run
from tools.public_kernels.comparing import compared

from portcheck.core.errors import PortcheckError
from portcheck.execution import Event, Geometry, Options, run
from portcheck.ir import Call, Launch, Opaque, Program, operations
from portcheck.pipeline import program_of

SEED = 20240601


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a case at one size; `problems` in words, none if all is well."""

    threads: int
    how: str
    events: str
    problems: tuple[str, ...]
    seconds: float


@cache
def lowered(path: str, kernel: str, defines: tuple[tuple[str, str], ...]) -> Program:
    """The program of one kernel, launched once and with the names of its own parameters."""
    return replace(program_of(path, (kernel,), defines=defines), launches=(Launch(kernel=kernel),))


def executed(folder: Path, case: Case, size: Mapping[str, object], options: Options | None = None) -> Outcome:
    """One case at one size. Where products are fused with sums only the bound is asked for."""
    options = options or Options()
    wanted = case.build(np.random.default_rng(SEED), **size)
    start = time.perf_counter()
    try:
        program = lowered(str(folder / case.file), case.kernel, case.defines)
        execution = run(
            program, arguments_of(wanted), Geometry.of(wanted.grid, wanted.block, wanted.shared_bytes), Options()
        )
    except PortcheckError as error:
        return failed(wanted, program_problems(folder, case) or (f"{error} ({error.hint})",), start)
    seconds = time.perf_counter() - start
    strange = tuple(shown(event) for event in execution.events if event.is_fault and event.kind not in case.explained)
    if execution.stopped is not None:
        return failed(wanted, strange, start)
    with np.errstate(all="ignore"):
        comparison = compared(
            wanted, buffers_of(wanted), {name: execution.arrays[name] for name in buffers_of(wanted)}, options.contracts
        )
    return Outcome(
        threads=wanted.threads, how=comparison.how, events=counted(execution.events, case.explained),
        problems=(*strange, *comparison.failures), seconds=seconds,
    )  # fmt: skip


def failed(wanted: Run, problems: tuple[str, ...], start: float) -> Outcome:
    return Outcome(
        threads=wanted.threads, how="not run", events="", problems=problems, seconds=time.perf_counter() - start
    )


def program_problems(folder: Path, case: Case) -> tuple[str, ...]:
    """What of a kernel was not understood."""
    try:
        program = lowered(str(folder / case.file), case.kernel, case.defines)
    except PortcheckError:
        return ()
    found = [op for op in operations(program.kernel(case.kernel).body) if isinstance(op, Opaque | Call)]
    return tuple(f"line {op.span.start.line}: {op.reason if isinstance(op, Opaque) else op.callee}" for op in found)


def arguments_of(wanted: Run) -> dict[str, Any]:
    return dict(wanted.arguments)


def buffers_of(wanted: Run) -> dict[str, Array]:
    """The arrays among the arguments, flat."""
    arrays = {name: value for name, value in wanted.arguments.items() if isinstance(value, np.ndarray) and value.ndim}
    return {name: np.ascontiguousarray(value) for name, value in arrays.items()}


def counted(events: tuple[Event, ...], explained: Mapping[str, str]) -> str:
    """Kinds of events with how often they happened; those a case explains in brackets."""
    total: Counter[str] = Counter()
    for event in events:
        total[f"[{event.kind}]" if event.kind in explained else str(event.kind)] += event.count
    return ", ".join(f"{kind} x {count}" for kind, count in sorted(total.items())) or "none"


def shown(event: Event) -> str:
    """An event in one line."""
    place = f"block {event.block} thread {event.thread}"
    return f"{event.kind} at line {event.span.start.line}, {place}, {event.count} in all: {event.message}"
