"""Executes NKI kernels from their IR with NumPy, a tile at a time.

    run(program, arguments, grid=None, options=None) -> Execution
    run_on_ranks(program, (arguments, arguments, ...), grid=None, options=None) -> (Execution, Execution, ...)

    arguments   a NumPy array for every tensor parameter (its shape binds the sizes), a number for every scalar one and
                for every symbol that no array states, the name of a dtype or None; attributes of a configuration by
                their dotted names (`"cfg.eps"`) or in a mapping (`"cfg": {"eps": 1e-6}`); what is left out is its
                default in the port
    grid        how many program instances there are along each axis: `(2,)`
    options     `Options(sums=, nan=, whole_nan=, overflow=, subnormals=, outlier=, first_sum=, winner=, draws=,
                target=, steps=, memory=)`
    Execution   `results` (what the last kernel returned), `returned` by kernel, `arrays` by name as they are at the
                end, `events`, `faults` (the events a correct kernel does not have), `choices` (what the vendor leaves
                open and the run decided), `stopped` (why the run ended early, or None)

A program or arguments that do not fit raise InputError, with the name of what is missing. Nothing else is raised.
"""

from __future__ import annotations

from portcheck.execution.tiles.binding import Argument
from portcheck.execution.tiles.events import Choice, Event, EventKind
from portcheck.execution.tiles.options import (
    FirstSum,
    NanRule,
    Options,
    Outlier,
    Overflow,
    Subnormals,
    SumOrder,
    WholeNan,
    Winner,
)
from portcheck.execution.tiles.running import Execution, run, run_on_ranks

__all__ = [
    "Argument",
    "Choice",
    "Event",
    "EventKind",
    "Execution",
    "FirstSum",
    "NanRule",
    "Options",
    "Outlier",
    "Overflow",
    "Subnormals",
    "SumOrder",
    "WholeNan",
    "Winner",
    "run",
    "run_on_ranks",
]
