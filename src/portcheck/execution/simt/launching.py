"""Running a program: its launches one after the other, each in batches of blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from portcheck.core.errors import InputError
from portcheck.core.source import Span
from portcheck.execution.arithmetic.formats import Value
from portcheck.execution.checking import check_names
from portcheck.execution.simt.barriers import GRID_WIDE
from portcheck.execution.simt.batch import Batch, Budget, Geometry
from portcheck.execution.simt.binding import (
    Argument,
    argument_name,
    buffers_of,
    check_geometry,
    geometry_of,
    in_the_program,
    index_symbols,
    scalars,
)  # fmt: skip
from portcheck.execution.simt.compilation import Compilation
from portcheck.execution.simt.control import Body
from portcheck.execution.simt.draws import Draws
from portcheck.execution.simt.events import STOPS, Event, EventKind, EventLog, Stop
from portcheck.execution.simt.memory import Arrays, Layout
from portcheck.execution.simt.options import Options
from portcheck.execution.simt.steps import compile_kernel
from portcheck.execution.simt.textures import Texture, texture_numbers
from portcheck.ir import Barrier, Launch, Program, operations
from portcheck.knowledge import load


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """What a run left: every array as it is at the end, and what there is to say.

    `operations` counts operations times the threads that ran them.
    """

    arrays: Mapping[str, Value]
    events: tuple[Event, ...]
    operations: int

    @property
    def faults(self) -> tuple[Event, ...]:
        """The events that a correct kernel does not have."""
        return tuple(event for event in self.events if event.is_fault)

    @property
    def stopped(self) -> Event | None:
        """Why the run ended before its end; None if it did not."""
        return next((event for event in self.events if event.kind in STOPS), None)


@dataclass
class _Run:
    """What all launches of a program share."""

    program: Program
    arguments: Mapping[str, Argument]
    options: Options
    arrays: Arrays
    log: EventLog = field(default_factory=EventLog)
    budget: Budget = field(init=False)
    random: np.random.Generator | None = field(init=False)
    draws: Draws | None = field(init=False)
    flushes: bool = False
    textures: dict[int, Texture] = field(default_factory=dict)

    def __post_init__(self) -> None:
        options, numbers = self.options, texture_numbers(self.arguments)
        self.budget = Budget(options.steps)
        self.flushes = "ftz" in self.program.flags if options.flushes is None else options.flushes
        self.textures = {numbers[name]: value for name, value in self.arguments.items() if isinstance(value, Texture)}
        self.draws = None if options.draws is None else Draws(options.draws)
        self.random = None if options.seed is None else np.random.default_rng(options.seed)
        for kernel, parameter in self.arrays.begun:
            text = f"{parameter.name} begins with what the file gives it; no array was given"
            self.assume(kernel, parameter.span, text, parameter.name)
        flags = self.program.flags
        if "fast-math" in flags or (flags and "prec-div" not in flags):
            text = "approximate operations are the functions themselves, rounded once; no device's are imitated"
            for found in self.program.kernels:
                self.assume(found.name, found.span, text, "approximate")

    def assume(self, kernel: str, span: Span, text: str, subject: str) -> None:
        """Says that something nobody stated was taken to be so."""
        self.log.add(Event(kind=EventKind.ASSUMED, message=text, kernel=kernel, span=span), subject)


def run(
    program: Program,
    arguments: Mapping[str, Argument],
    geometry: Geometry | Mapping[str, Geometry] | None = None,
    options: Options | None = None,
) -> Execution:
    """Runs all launches of `program` in their order.

    `arguments` has an array for every pointer and a number for every scalar or free symbol, by the names of the
    program. `geometry` says how kernels are launched (by the kernel's name if there are several) where that is not
    to be taken from the source. Arrays are copied, never changed. Raises InputError for arguments that do not fit.
    """
    shared = _Run(program, arguments, options or Options(), Arrays(program, arguments))
    check_names(program, arguments)
    check_geometry(program, geometry)
    try:
        with np.errstate(all="ignore"):
            for launch in program.launches:
                given = geometry.get(launch.kernel) if isinstance(geometry, Mapping) else geometry
                _launch(shared, launch, given)
    except Stop:
        pass
    return Execution(arrays=shared.arrays.results(), events=shared.log.events(), operations=shared.budget.spent)


def _launch(shared: _Run, launch: Launch, given: Geometry | None) -> None:
    kernel = shared.program.kernel(launch.kernel)
    symbols = scalars(kernel, launch, shared.arguments)
    geometry = geometry_of(shared.program, launch, symbols | in_the_program(shared.arguments), given)
    sizes, threads = index_symbols(geometry)
    if launch.is_repeated:
        shared.assume(kernel.name, launch.span or kernel.span, "launched several times; run once", "repeated")
    compilation = Compilation(
        kernel=kernel, geometry=geometry, options=shared.options, warp_size=load().cuda_limit("warp_size"),
        symbols=symbols | sizes, threads=threads, buffers={}, textures=shared.textures,
        given=tuple(shared.arguments), flushes=shared.flushes,
    )  # fmt: skip
    compilation.buffers = buffers_of(compilation, launch)
    layout = Layout(compilation.buffers, geometry, kernel, shared.options.is_checked)
    names = {parameter.name: argument_name(launch, parameter) for parameter in kernel.parameters if parameter.is_buffer}
    compilation.symbols = dict(compilation.symbols) | layout.addresses(shared.arrays, names)
    body = compile_kernel(compilation)
    at_once = _blocks_at_once(compilation, layout)
    for first in range(0, geometry.blocks, at_once):
        _run_batch(shared, compilation, body, layout, names, (first, min(at_once, geometry.blocks - first)))


def _blocks_at_once(compilation: Compilation, layout: Layout) -> int:
    """How many blocks are in flight together: all of them where they wait for each other."""
    geometry, options = compilation.geometry, compilation.options
    fitting = options.memory // max(1, layout.bytes_of_block(len(compilation.slots)))
    wanted = -(-options.threads // geometry.threads)
    for op in operations(compilation.kernel.body):
        if isinstance(op, Barrier) and op.scope in GRID_WIDE:
            wanted = geometry.blocks
    if fitting < 1 or (wanted == geometry.blocks and fitting < wanted and wanted * geometry.threads > options.threads):
        raise InputError(
            f"{compilation.kernel.name} needs more memory for the blocks that run at once than is allowed",
            f"allow more than {options.memory} bytes, or launch fewer blocks",
        )
    return min(wanted, fitting)


def _run_batch(
    shared: _Run, compilation: Compilation, body: Body, layout: Layout, names: Mapping[str, str],
    blocks: tuple[int, int],
) -> None:  # fmt: skip
    nothing = cast(Value, None)
    batch = Batch(
        kernel=compilation.kernel.name, geometry=compilation.geometry, first=blocks[0], blocks=blocks[1],
        warp_size=compilation.warp_size, log=shared.log, budget=shared.budget, random=shared.random, draws=shared.draws,
        slots=[nothing] * len(compilation.slots),
    )  # fmt: skip
    layout.place(batch, shared.arrays, names)
    body.run(batch)
