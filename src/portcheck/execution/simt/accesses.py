"""Loads, stores and copies, with what is checked about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from portcheck.core.errors import InputError
from portcheck.core.source import Span
from portcheck.execution.arithmetic.conversions import conversion
from portcheck.execution.arithmetic.formats import Value
from portcheck.execution.simt.addresses import Elements, addressing
from portcheck.execution.simt.batch import Batch
from portcheck.execution.simt.compilation import Code, Compilation, Step
from portcheck.execution.simt.events import EventKind
from portcheck.execution.simt.expressions import code_of
from portcheck.execution.simt.races import thread_of
from portcheck.ir import Copy, Load, Ref, Store, WriteMode


def load(compilation: Compilation, op: Load) -> Step:
    """Reads elements into the slot of the result."""
    slot = compilation.slot(op.id)
    buffer = compilation.buffers[op.access.buffer]
    if buffer.is_variable:
        return _load_variable(compilation, op, slot)
    find = addressing(compilation, op.access, op.span, "read")
    fill = None if op.fill is None else code_of(compilation, op.fill, buffer.dtype, len(op.type.shape))
    convert = conversion(buffer.dtype, op.type.dtype)
    span, is_checked = op.span, compilation.options.is_checked

    def run(batch: Batch) -> None:
        elements = find(batch)
        if is_checked:
            check_read(batch, elements, span)
        batch.slots[slot] = convert(gathered(elements, fill, batch))

    return run


def _load_variable(compilation: Compilation, op: Load, slot: int) -> Step:
    name, span, is_checked = op.access.buffer, op.span, compilation.options.is_checked
    holders = compilation.holders(op.id)
    where = None if holders is None else code_of(compilation, holders)

    def run(batch: Batch) -> None:
        register, index = batch.registers[name], batch.active.index
        if is_checked and (unwritten := register.unwritten(index)) is not None:
            text = f"reads the variable {name}, which has no value yet"
            thread = batch.numbers()[unwritten[0]]
            batch.report(EventKind.UNINITIALISED_VARIABLE, span, text, thread, len(unwritten))
        value = register.load(index)
        batch.slots[slot] = value if where is None else np.where(where(batch), value, value.dtype.type(0))

    return run


def gathered(elements: Elements, fill: Code | None, batch: Batch) -> Value:
    """What the elements hold; `fill` or 0 where one is not accessed."""
    numbers, flat = elements.view.numbers, elements.flat
    if elements.selected is None:
        if flat.ndim == 0:
            return cast(Value, numbers[flat])
        taken = numbers.take(flat)
        return taken if len(elements.shape) == 1 else taken.reshape(elements.shape)
    if fill is None:
        result = np.zeros(elements.shape, numbers.dtype)
    else:
        result = np.array(np.broadcast_to(fill(batch), elements.shape))
    result.reshape(-1)[elements.selected] = numbers[flat]
    return result


def store(compilation: Compilation, op: Store) -> Step:
    """Writes a value to elements."""
    buffer = compilation.buffers[op.access.buffer]
    value = code_of(compilation, op.value, buffer.dtype, len(op.access.axes))
    if buffer.is_variable and op.mode is WriteMode.OVERWRITE:
        return _store_variable(compilation, op, value)
    write = _writer(op.mode)
    find = addressing(compilation, op.access, op.span, "wrote")
    span, is_checked = op.span, compilation.options.is_checked

    def run(batch: Batch) -> None:
        elements = find(batch)
        write(batch, elements, taken(value(batch), elements), span, is_checked)

    return run


def _store_variable(compilation: Compilation, op: Store, value: Code) -> Step:
    """Gives a variable a value; a copy of one that only some threads have leaves it without one in the others."""
    name = op.access.buffer

    def run(batch: Batch) -> None:
        active = batch.active
        batch.registers[name].store(value(batch), active.index, active.count == batch.living)

    holders = compilation.holders(op.value.id) if isinstance(op.value, Ref) else None
    if not isinstance(op.value, Ref) or holders is None or compilation.buffers[name].dtype != op.value.dtype:
        return run
    copied, where = compilation.slot(op.value.id), code_of(compilation, holders)

    def copy_partly(batch: Batch) -> None:
        active = batch.active
        register = batch.registers[name]
        register.store(batch.slots[copied], active.index, active.count == batch.living)
        register.forget(batch.numbers()[~np.broadcast_to(where(batch), active.count)])

    return copy_partly


def taken(value: Value, elements: Elements) -> Value:
    """What is written to each of the elements."""
    if value.ndim == 0:
        return value
    if value.shape != elements.shape:
        value = np.broadcast_to(value, elements.shape)
    if value.ndim > 1:
        value = value.reshape(-1)
    return value if elements.selected is None else value.take(elements.selected)


Writer = Callable[[Batch, Elements, Value, Span, bool], None]


def _writer(mode: WriteMode) -> Writer:
    if mode is WriteMode.OVERWRITE:
        return overwrite
    if mode is WriteMode.ADD:
        return _add
    raise InputError(f"a store of mode {mode} is not executed")


def overwrite(batch: Batch, elements: Elements, value: Value, span: Span, is_checked: bool) -> None:
    """Writes to elements; of several to one the last thread's stays."""
    numbers, flat = elements.view.numbers, elements.flat
    if flat.ndim == 0 and value.ndim:
        flat = np.full(len(value), flat)
    if is_checked:
        check_write(batch, elements, span, lambda: _changes(elements, value))
    numbers[flat] = value
    mark_written(elements)
    if is_checked and elements.view.storage.races is not None and flat.ndim:
        _check_clash(batch, elements, value, span)


def _add(batch: Batch, elements: Elements, value: Value, span: Span, is_checked: bool) -> None:
    if is_checked:
        check_read(batch, elements, span)
        check_write(batch, elements, span)
    np.add.at(elements.view.numbers, np.broadcast_to(elements.flat, elements.shape).reshape(-1), value)


def mark_written(elements: Elements) -> None:
    """Remembers that elements were written."""
    kept, view = elements.view.storage, elements.view
    if kept.written is not None:
        kept.written[view.cells_of(np.atleast_1d(elements.flat))] = True


def check_read(batch: Batch, elements: Elements, span: Span) -> None:
    """Reports reads of what was not written, and those that conflict with a write."""
    kept, view = elements.view.storage, elements.view
    if kept.written is None and kept.races is None:
        return
    cells = view.cells_of(np.atleast_1d(elements.flat))
    if kept.written is not None and not (written := kept.written.take(cells)).all() and batch.active.count:
        missing = (~written).nonzero()[0]
        _report_unwritten(batch, elements, int(missing[0]) // view.cells, missing.size // view.cells, span)
    if kept.races is not None and elements.flat.ndim:
        positions, others = kept.races.read(cells, _stamps(batch, elements))
        if positions.size:
            report_race(batch, elements, (positions[0], others[0], len(positions)), ("reads", "wrote"), span)


def _report_unwritten(batch: Batch, elements: Elements, position: int, count: int, span: Span) -> None:
    view = elements.view
    element = int(np.atleast_1d(elements.flat)[position]) % view.stride
    text = f"reads element {element} of {view.name}, which nothing was written to"
    batch.report(
        EventKind.UNINITIALISED_READ, span, text, elements.threads(batch)[position], max(count, 1)
    )  # fmt: skip


def check_write(
    batch: Batch, elements: Elements, span: Span, changes: Callable[[], Value] | None = None, is_atomic: bool = False
) -> None:
    """Reports writes to shared memory that conflict with what others did."""
    races = elements.view.storage.races
    if races is None or not elements.flat.ndim:
        return
    cells, who = accessors(batch, elements)
    positions, others = races.write(cells, who, changes, is_atomic)
    if positions.size:
        report_race(batch, elements, (positions[0], others[0], len(positions)), ("writes", "touched"), span)


def _check_clash(batch: Batch, elements: Elements, value: Value, span: Span) -> None:
    """Reports writes of different values to one element by different threads in one operation."""
    differs = _changes(elements, value)
    races = elements.view.storage.races
    if races is None or not differs.any():
        return
    cells, who = accessors(batch, elements)
    positions, others = races.beaten(cells, who)
    lost = differs[positions]
    if lost.any():
        first = np.flatnonzero(lost)[0]
        where = (positions[first], others[first], int(lost.sum()))
        report_race(batch, elements, where, ("writes", "wrote another value"), span)


def _changes(elements: Elements, value: Value) -> Value:
    """For each cell whether the element it is of does not hold `value`."""
    numbers = elements.view.numbers
    kept = _bits(numbers.take(elements.flat))
    differs: Value = kept != _bits(np.broadcast_to(np.asarray(value, numbers.dtype), elements.flat.shape))
    return differs if elements.view.cells == 1 else differs.repeat(elements.view.cells)


def _bits(value: Value) -> Value:
    return np.ascontiguousarray(value).view(np.dtype(f"u{value.dtype.itemsize}"))


def accessors(batch: Batch, elements: Elements) -> tuple[Value, Value]:
    """The cells that are touched, and the stamps of who touches them."""
    return elements.view.cells_of(elements.flat), _stamps(batch, elements)


def _stamps(batch: Batch, elements: Elements) -> Value:
    stamps = elements.of_threads(batch.stamps())
    return stamps if elements.view.cells == 1 else np.repeat(stamps, elements.view.cells)


def report_race(
    batch: Batch, elements: Elements, where: tuple[int, Value, int], verbs: tuple[str, str], span: Span
) -> None:  # fmt: skip
    """Reports that the cell at a position was touched by two threads; `where` is position, other thread, count."""
    position, other, count = where
    element = int(elements.flat[position // elements.view.cells]) % elements.view.stride
    rank = int(thread_of(other)) % (batch.warps_of_block * batch.warp_size)
    text = (
        f"{verbs[0]} element {element} of {elements.view.name}, which thread {rank} of the block {verbs[1]} unordered"
    )
    thread = elements.threads(batch)[position // elements.view.cells]
    batch.report(EventKind.RACE, span, text, thread, count)


def copy(compilation: Compilation, op: Copy) -> Step:
    """Moves elements, converting them on the way."""
    read = addressing(compilation, op.source, op.span, "read")
    find = addressing(compilation, op.destination, op.span, "wrote")
    source, target = (compilation.buffers[access.buffer].dtype for access in (op.source, op.destination))
    convert, write = conversion(source, target), _writer(op.mode)
    span, is_checked = op.span, compilation.options.is_checked

    def run(batch: Batch) -> None:
        origin = read(batch)
        if is_checked:
            check_read(batch, origin, span)
        elements = find(batch)
        value = convert(gathered(origin, None, batch))
        write(batch, elements, taken(value, elements), span, is_checked)

    return run
