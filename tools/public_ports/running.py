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
from tools.public_ports.case import Array, Case, Run, Wanted

from portcheck.core.errors import InputError, PortcheckError
from portcheck.core.source import SourceFile
from portcheck.execution.tiles import Event, Execution, Options, run
from portcheck.frontends.nki import NkiOptions, read_nki
from portcheck.ir import Call, Launch, Opaque, Program, operations

SEED = 20240601


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a case at one size; `problems` in words, none if all is well."""

    how: str
    events: str
    choices: str
    problems: tuple[str, ...]
    seconds: float


@cache
def lowered(path: Path, kernel: str, options: NkiOptions) -> Program:
    """The program of one kernel, launched once."""
    module = read_nki(SourceFile(str(path), path.read_text()), options)
    if kernel not in {signature.name for signature in module.kernels}:
        raise InputError(f"{kernel} is not taken for a kernel", "kernels are decorated, or call NKI themselves")
    return replace(module.lower([kernel]), launches=(Launch(kernel=kernel),))


def executed(folder: Path, case: Case, size: Mapping[str, Any]) -> Outcome:
    """One case at one size."""
    wanted = case.build(np.random.default_rng(SEED), **size)
    start = time.perf_counter()
    try:
        program = lowered(folder / case.file, case.kernel, options_of(case, wanted))
        execution = run(program, wanted.arguments, wanted.grid, Options(target=case.target))
    except PortcheckError as error:
        return failed((f"{error} ({error.hint})",), start)
    seconds = time.perf_counter() - start
    strange = tuple(shown(event) for event in execution.events if event.is_fault and event.kind not in case.explained)
    if execution.stopped is not None:
        return failed((*strange, *not_understood(program, case.kernel)), start)
    with np.errstate(all="ignore"):
        how, failures = compared(wanted.reference(), execution.results)
    return Outcome(
        how=how, events=counted(execution, case.explained), choices=chosen(execution),
        problems=(*strange, *failures), seconds=seconds,
    )  # fmt: skip


def options_of(case: Case, wanted: Run) -> NkiOptions:
    """How the kernel is lowered."""
    if not case.is_static:
        return NkiOptions(target=case.target, values=case.values)
    others = {name: value for name, value in wanted.arguments.items() if not isinstance(value, np.ndarray)}
    values = tuple((name, repr(value)) for name, value in others.items())
    tensors = {name: value for name, value in wanted.arguments.items() if isinstance(value, np.ndarray)}
    shapes = tuple((name, ",".join(map(str, value.shape))) for name, value in tensors.items())
    dtypes = tuple((name, value.dtype.name) for name, value in tensors.items())
    return NkiOptions(target=case.target, shapes=shapes, dtypes=dtypes, values=(*values, *case.values))


def failed(problems: tuple[str, ...], start: float) -> Outcome:
    return Outcome(how="not run", events="", choices="", problems=problems, seconds=time.perf_counter() - start)


def not_understood(program: Program, kernel: str) -> tuple[str, ...]:
    """What of a kernel was not understood."""
    found = [op for op in operations(program.kernel(kernel).body) if isinstance(op, Opaque | Call)]
    return tuple(f"line {op.span.start.line}: {op.reason if isinstance(op, Opaque) else op.callee}" for op in found)


def compared(wanted: tuple[Wanted, ...], found: tuple[Any, ...]) -> tuple[str, list[str]]:
    """How results were compared, and in what they differ."""
    if len(wanted) != len(found):
        return "results", [f"{len(found)} results instead of {len(wanted)}"]
    failures: list[str] = []
    ratios: list[float] = []
    for place, (one, got) in enumerate(zip(wanted, found, strict=True)):
        if got.shape != one.value.shape:
            failures.append(f"result {place}: shape {got.shape} instead of {one.value.shape}")
            continue
        ratio = ratio_to_bound(one, got)
        ratios.append(ratio)
        if not ratio <= 1:
            failures.append(f"result {place}: {worst(one, got)}")
    is_exact = all(one.error is None for one in wanted)
    return "bits" if is_exact else f"bound, {max(ratios, default=0):.1e} of it", failures


def ratio_to_bound(wanted: Wanted, found: Array) -> float:
    """The largest error in units of its bound; infinite where an exact element or one that is not finite differs."""
    got = found.astype(np.float64) if found.dtype.kind not in "iu" else found
    same = (got == wanted.value) | ((got != got) & (wanted.value != wanted.value))
    if wanted.error is None:
        expected = wanted.value.astype(found.dtype)
        return 0.0 if np.all((found == expected) | ((found != found) & (expected != expected))) else float("inf")
    if not np.all(same | (np.isfinite(got) & np.isfinite(wanted.value))):
        return float("inf")
    errors = np.where(same, 0, np.abs(got - wanted.value))
    return float((errors / np.maximum(wanted.error, 1e-300)).max(initial=0))


def worst(wanted: Wanted, found: Array) -> str:
    """The element that lies farthest outside."""
    got = found.astype(np.float64).reshape(-1)
    value = wanted.value.astype(np.float64).reshape(-1)
    error = np.zeros_like(value) if wanted.error is None else np.broadcast_to(wanted.error, wanted.value.shape)
    excess = np.nan_to_num(np.abs(got - value) - error.reshape(-1), nan=np.inf)
    place = int(np.argmax(excess))
    off = int(np.sum(excess > 0))
    return f"{off} of {value.size} off, worst [{place}] = {got[place]:.9g} instead of {value[place]:.9g}"


def counted(execution: Execution, explained: Mapping[str, str]) -> str:
    """Kinds of events with how often they happened; those a case explains in brackets."""
    total: Counter[str] = Counter()
    for event in execution.events:
        total[f"[{event.kind}]" if event.kind in explained else str(event.kind)] += event.count
    return ", ".join(f"{kind} x {count}" for kind, count in sorted(total.items())) or "none"


def chosen(execution: Execution) -> str:
    return ", ".join(sorted({f"{choice.name}={choice.value}" for choice in execution.choices})) or "none"


def shown(event: Event) -> str:
    """An event in one line."""
    return f"{event.kind} at line {event.span.start.line}, {event.count} in all: {event.message}"
