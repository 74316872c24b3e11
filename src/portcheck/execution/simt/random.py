"""Draws of random numbers by a kernel, from the run's own streams (see `draws`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, cast

import numpy as np

from portcheck.core.dtype import FLOAT64, UINT64, DType
from portcheck.core.errors import InputError
from portcheck.execution.arithmetic.conversions import conversion
from portcheck.execution.arithmetic.formats import Value
from portcheck.execution.arithmetic.special import each, normal_cdf_inverse
from portcheck.execution.simt.accesses import gathered, overwrite, taken
from portcheck.execution.simt.addresses import addressing
from portcheck.execution.simt.batch import Batch
from portcheck.execution.simt.compilation import Code, Compilation, Step
from portcheck.execution.simt.draws import Draws
from portcheck.execution.simt.events import EventKind
from portcheck.execution.simt.expressions import code_of
from portcheck.ir import Access, Random
from portcheck.knowledge import Semantics, load

_SAID = "random numbers are a stream of the run's own, not those of cuRAND"
_normal = each(normal_cdf_inverse)

Change: TypeAlias = Callable[[Draws, Value, list[Value]], tuple[Value, Value]]
"""Streams, states and operands: the states afterwards, and what is drawn."""
Maker: TypeAlias = Callable[[Value, float], Value]
"""Whole numbers and what one of them is as a fraction of their range: the numbers that are drawn."""
Place: TypeAlias = Callable[[Batch, Callable[[Value], Value]], None]
"""Gives the states of the active threads to a function, and keeps those that it returns."""


def random(compilation: Compilation, op: Random) -> Step:
    """Sets up states, or draws from them and moves them on."""
    construct = load().construct(op.generator)
    buffer = compilation.buffers.get(op.state)
    if construct is None or buffer is None or buffer.dtype != UINT64:
        raise InputError(f"random numbers of {op.generator} are not executed")
    others = op.operands if buffer.is_variable else op.operands[:-1]
    operands = [code_of(compilation, other, UINT64) for other in others]
    change = _change(op, construct.semantics, len(operands))
    place = _variable(op.state) if buffer.is_variable else _cells(compilation, op)
    is_draw, slot = construct.semantics is not Semantics.RANDOM_SEED, compilation.slot(op.id)

    def run(batch: Batch) -> None:
        draws = batch.draws
        if draws is None:
            raise batch.stop(EventKind.NOT_EXECUTED, op.span, f"random numbers of {op.generator} need Options.draws")
        batch.report(EventKind.ASSUMED, op.span, _SAID, batch.numbers()[0], batch.active.count)
        values = [_each(code, batch) for code in operands]

        def moved(states: Value) -> Value:
            if is_draw:
                _check_started(batch, op, draws.is_started(states))
            after, batch.slots[slot] = change(draws, states, values)
            return after

        place(batch, moved)

    return run


def _each(code: Code, batch: Batch) -> Value:
    return np.broadcast_to(code(batch), batch.active.count)


def _check_started(batch: Batch, op: Random, is_started: Value) -> None:
    if is_started.all():
        return
    missing = np.flatnonzero(~is_started)
    text = "draws random numbers from a state that nothing set up"
    batch.report(EventKind.UNINITIALISED_READ, op.span, text, batch.numbers()[missing[0]], len(missing))


def _variable(name: str) -> Place:
    def place(batch: Batch, moved: Callable[[Value], Value]) -> None:
        register, active = batch.registers[name], batch.active
        states = np.broadcast_to(register.load(active.index), active.count)
        register.store(moved(states), active.index, active.count == batch.living)

    return place


def _cells(compilation: Compilation, op: Random) -> Place:
    access = Access(buffer=op.state, index=op.operands[-1:])
    find, is_checked = addressing(compilation, access, op.span, "drew from"), compilation.options.is_checked

    def place(batch: Batch, moved: Callable[[Value], Value]) -> None:
        elements = find(batch)
        states = np.broadcast_to(gathered(elements, None, batch), batch.active.count)
        after = moved(states)
        overwrite(batch, elements, taken(after, elements), op.span, is_checked)

    return place


def _change(op: Random, semantics: Semantics, count: int) -> Change:
    """What an operation does to states; InputError for one that is not executed."""
    nothing: Value = np.zeros((), np.uint64)
    if semantics is Semantics.RANDOM_SEED and count == _SEED_OPERANDS:
        return lambda draws, states, values: (draws.started(*values), nothing)
    if semantics is Semantics.RANDOM_STATE and count == 1:
        return lambda draws, states, values: (draws.skipped(states, values[0]), nothing)
    make = _MAKERS.get(semantics)
    if make is None or count:
        raise InputError(f"random numbers of {op.generator} are not executed")
    return _drawn(make, op.type.dtype)


_SEED_OPERANDS = 3
"""Seed, sequence and offset."""


def _drawn(make: Maker, dtype: DType) -> Change:
    """A draw of one word, or of two for a number of more bits than a word has."""
    narrow, step = conversion(FLOAT64, dtype), cast(Value, np.uint64(1))

    def change(draws: Draws, states: Value, values: list[Value]) -> tuple[Value, Value]:
        whole, bits = draws.words(states), _WORD_BITS
        states = draws.skipped(states, step)
        if dtype == FLOAT64:
            more, bits = draws.words(states), _DOUBLE_BITS
            states = draws.skipped(states, step)
            whole = (whole << np.uint64(bits - _WORD_BITS)) | (more >> np.uint64(2 * _WORD_BITS - bits))
        return states, narrow(make(whole.astype(np.float64), 2.0**-bits))

    return change


_WORD_BITS, _DOUBLE_BITS = 32, 52
"""So many bits and one more are exact in a float64."""

_MAKERS: dict[Semantics, Maker] = {
    Semantics.RANDOM: lambda whole, step: whole,
    Semantics.RANDOM_UNIFORM: lambda whole, step: (whole + 1.0) * step,
    Semantics.RANDOM_NORMAL: lambda whole, step: _normal((whole + 0.5) * step),
}
"""Whole words; above 0 up to 1 (cuRAND, Device API Overview, Distributions); normally distributed."""
