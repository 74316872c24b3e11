"""Running kernels from their IR: arrays in, arrays and events out.

`run` runs CUDA kernels and is described here; `portcheck.execution.tiles` runs ports, and has the same names.

    run(program, arguments, geometry=None, options=None) -> Execution

    arguments   a NumPy array (C order, of the parameter's dtype; any shape), `Uninitialised(shape)` or None (a null
                pointer) for every pointer, a number for every scalar parameter and free symbol (a template number, a
                size, a macro that was not defined), by the names that the program has for them; `p.member` for a
                member of a record; `Texture(array=, channels=, is_layered=, filter=, outside=, is_normalised=)` for
                a texture or surface
    geometry    `Geometry.of(grid, block, shared_bytes)`, or one for each kernel by name; None: as the source launches
    options     `Options(contracts=, seed=, steps=, threads=, is_checked=, memory=, draws=, flushes=)`
    Execution   `arrays` by name as they are at the end (the arguments themselves are never changed), `events`,
                `faults` (the events a correct kernel does not have), `stopped` (why the run ended early, or None)

Bad arguments raise InputError. Nothing else is raised: what a kernel does wrong, and what is not executed, is an
event with kernel, block, thread and span.
"""

from __future__ import annotations

from portcheck.execution.simt import (
    Argument,
    Event,
    EventKind,
    Execution,
    Geometry,
    Options,
    Texture,
    Uninitialised,
    run,
)

__all__ = ["Argument", "Event", "EventKind", "Execution", "Geometry", "Options", "Texture", "Uninitialised", "run"]
