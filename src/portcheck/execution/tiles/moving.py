"""Operations on buffers: allocations, loads, stores, copies, read-modify-writes."""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from portcheck.core.dtype import FLOAT32, DType
from portcheck.execution.arithmetic.conversions import conversion
from portcheck.execution.arithmetic.formats import Value
from portcheck.execution.tiles.addressing import Elements, elements, indices_of
from portcheck.execution.tiles.converting import converted
from portcheck.execution.tiles.events import EventKind
from portcheck.execution.tiles.expressions import elements_of, joined, positions, shape_of, undefined_in
from portcheck.execution.tiles.limits import check_buffer
from portcheck.execution.tiles.machine import Instance
from portcheck.execution.tiles.memory import Memory, Tile, empty, viewed
from portcheck.execution.tiles.options import FirstSum, Winner
from portcheck.ir import Alloc, Atomic, Copy, Load, Op, Operator, Space, Store, WriteMode


def allocate(instance: Instance, op: Alloc) -> None:
    """A new buffer without values; one in HBM is the same for all program instances unless it is private."""
    machine = instance.machine
    is_private = op.span in machine.private_calls and op.name not in machine.kernel.results
    is_shared = op.type.space is Space.GLOBAL and op.name not in instance.reached and not is_private
    instance.reached.add(op.name)
    if op.base:
        shape = shape_of(instance, op.type.shape)
        base, dtype = instance.memory(op.base), machine.dtype(op.type.dtype)
        instance.buffers[op.name] = viewed(base, op.name, dtype, math.prod(shape) if shape else None)
        return
    if is_shared and op.name in machine.made:
        instance.buffers[op.name] = machine.made[op.name]
        return
    dtype, shape = machine.dtype(op.type.dtype), shape_of(instance, op.type.shape)
    check_buffer(instance, op, dtype, shape)
    old = instance.buffers.get(op.name)
    machine.run.bytes -= 0 if old is None else old.raw.size
    made = empty(op.name, dtype, shape, op.type.space)
    machine.run.bytes += made.raw.size
    instance.buffers[op.name] = made
    if op.type.space is Space.GLOBAL:
        machine.made[op.name] = made


def load(instance: Instance, op: Load) -> None:
    """Elements of a buffer as a value."""
    found = elements(instance, op.access, op)
    instance.spend(op, found.count)
    tile = read(instance, found, op)
    if op.fill is not None and found.active is not None:
        filling = elements_of(instance, op.fill, found.memory.dtype)
        tile.data = np.where(found.active, tile.data, filling)
        tile.undefined = None if tile.undefined is None else tile.undefined & found.active
    instance.results[op.id] = tile


def read(instance: Instance, found: Elements, op: Op) -> Tile:
    """The elements that are accessed; those that are not, and those never written, are undefined."""
    memory = found.memory
    memory.refresh()
    data = np.array(found.of(memory.data))
    undefined = None if found.active is None else ~found.active
    if memory.written is None:
        return Tile(data, undefined)
    lacking = ~found.of(memory.written)
    active_lacking = lacking if found.active is None else lacking & found.active
    if active_lacking.any():
        _report_unwritten(instance, found, op, active_lacking)
        undefined = joined(undefined, active_lacking)
    return Tile(data, undefined)


def _report_unwritten(instance: Instance, found: Elements, op: Op, lacking: Value) -> None:
    first = next(indices_of(lacking))
    place = found.memory.position(int(found.offsets()[first]))
    text = f"reads {found.memory.name}{list(place)}, which nothing was written to"
    instance.report(EventKind.UNINITIALISED_READ, op, text, place, int(lacking.sum()), found.memory.name)


def store(instance: Instance, op: Store) -> None:
    """A value written to elements of a buffer."""
    found = elements(instance, op.access, op)
    instance.spend(op, found.count)
    with positions(instance, found.shape, op.value):
        data = elements_of(instance, op.value, found.memory.dtype)
    value = Tile(data, undefined_in(instance, op.value))
    write(instance, found, value, op, op.mode, op.unique_indices)


def copy(instance: Instance, op: Copy) -> None:
    """Elements moved from one buffer to another, in float32 between where their formats differ."""
    source, target = elements(instance, op.source, op), elements(instance, op.destination, op)
    instance.spend(op, source.count)
    tile = read(instance, source, op)
    tile.data = transferred(instance, op, tile.data, source.memory.dtype, target.memory.dtype, tile.undefined)
    if source.shape != target.shape and source.count == target.count:
        source, tile = _in_order(instance, op, source, tile, target.shape)
    if source.active is not None:
        both = source.active if target.active is None else source.active & target.active
        target.active = np.broadcast_to(both, target.shape)
    write(instance, target, tile, op, op.mode, op.unique_indices)


def _in_order(
    instance: Instance, op: Op, source: Elements, tile: Tile, shape: tuple[int, ...]
) -> tuple[Elements, Tile]:  # fmt: skip
    """As many elements in another shape: taken in row-major order, where only their number is documented to agree."""
    if _without_ones(source.shape) != _without_ones(shape):
        text = f"{source.shape} elements are taken in row-major order for {shape}"
        instance.report(EventKind.ASSUMED, op, text, subject="order of elements")
    active = None if source.active is None else source.active.reshape(shape)
    undefined = None if tile.undefined is None else tile.undefined.reshape(shape)
    return Elements(source.memory, shape, active=active), Tile(tile.data.reshape(shape), undefined)


def _without_ones(shape: tuple[int, ...]) -> list[int]:
    return [extent for extent in shape if extent != 1]


def transferred(
    instance: Instance, op: Op, data: Value, source: DType, target: DType, undefined: Value | None = None
) -> Value:  # fmt: skip
    """`data` in another format, in float32 between where the two differ."""
    if source == target:
        return data
    return converted(
        instance, op, converted(instance, op, data, source, FLOAT32), FLOAT32, target, undefined=undefined
    )  # fmt: skip


def write(
    instance: Instance, found: Elements, value: Tile, op: Op, mode: WriteMode, is_unique: bool = False
) -> None:  # fmt: skip
    """Writes `value` to the elements that are accessed, as `mode` says."""
    if not found.count:
        return
    try:
        data = np.broadcast_to(value.data, found.shape)
        undefined = None if value.undefined is None else np.broadcast_to(value.undefined, found.shape)
    except ValueError:
        text = f"a tile of {value.data.shape} is written to {found.shape} elements of {found.memory.name}"
        raise instance.stop(EventKind.SHAPE_MISMATCH, op, text) from None
    _check_escape(instance, found, undefined, op)
    if found.are_distinct():
        _write_distinct(instance, found, Tile(data, undefined), op, mode)
    else:
        _write_any(instance, found, Tile(data, undefined), op, mode, is_unique)


def _check_escape(instance: Instance, found: Elements, undefined: Value | None, op: Op) -> None:
    """Reports values that are not defined and reach a tensor."""
    if undefined is None or found.memory.space is not Space.GLOBAL:
        return
    lost = undefined if found.active is None else undefined & found.active
    if not lost.any():
        return
    place = found.memory.position(int(found.offsets()[next(indices_of(lost))]))
    text = f"what is written to {found.memory.name}{list(place)} is not defined"
    instance.report(EventKind.UNDEFINED_RESULT, op, text, place, int(lost.sum()), found.memory.name)


def _write_distinct(instance: Instance, found: Elements, value: Tile, op: Op, mode: WriteMode) -> None:
    memory = found.memory
    window = found.of(memory.data)
    added = _added_to(instance, found, op, mode)
    if added is not None:
        value = _summed(instance, found, value, added, op)
    with memory.changing():
        np.copyto(window, value.data, where=True if found.active is None else found.active)
        _mark(found, value)


def _mark(found: Elements, value: Tile) -> None:
    """Notes which of the elements that are accessed hold something now."""
    memory, where = found.memory, True if found.active is None else found.active
    if memory.written is not None:
        is_written: Value | bool = True if value.undefined is None else ~value.undefined
        np.copyto(found.of(memory.written), is_written, where=where)
    elif value.undefined is not None and (value.undefined & where).any():
        memory.written = np.ones(memory.size, np.bool_)
        np.copyto(found.of(memory.written), ~value.undefined, where=where)
    if memory.begun is not None:
        np.copyto(found.of(memory.begun), True, where=where)


def _added_to(instance: Instance, found: Elements, op: Op, mode: WriteMode) -> Value | bool | None:
    """The elements that the value is added to; None for a plain write."""
    memory = found.memory
    if mode is WriteMode.OVERWRITE:
        return None
    if mode is WriteMode.ADD:
        return True
    if memory.begun is None:
        memory.begun = np.ones(memory.size, np.bool_) if memory.written is None else memory.written.copy()
    begun = found.of(memory.begun)
    if instance.machine.has_groups or begun.all():
        return begun.copy() if begun.any() else None
    instance.choose("first_sum", op, "a product added to a tile that holds nothing")
    if instance.options.first_sum is FirstSum.UNDEFINED:
        return True
    return begun.copy() if begun.any() else None


def _summed(instance: Instance, found: Elements, value: Tile, added: Value | bool, op: Op) -> Tile:
    """`value` on top of what is there, in float32 for narrower floats."""
    everywhere = np.broadcast_to(np.asarray(added), found.shape)
    wanted = everywhere if found.active is None else everywhere & found.active
    held = read(instance, Elements(found.memory, found.shape, found.start, found.strides, found.flat, wanted), op)
    lacking = None if held.undefined is None else held.undefined & wanted
    total = combined(instance, op, held.data, value.data, found.memory.dtype)
    undefined = joined(value.undefined, lacking)
    return Tile(np.where(wanted, total, value.data), undefined)


def combined(instance: Instance, op: Op, left: Value, right: Value, dtype: DType) -> Value:
    """A sum in `dtype`: float32 inside for floats, wrapping for integers."""
    if not dtype.is_float or dtype == FLOAT32:
        return cast(Value, left + right)
    widen = conversion(dtype, FLOAT32)
    return converted(instance, op, widen(left) + widen(right), FLOAT32, dtype)


def _write_any(
    instance: Instance, found: Elements, value: Tile, op: Op, mode: WriteMode, is_unique: bool
) -> None:  # fmt: skip
    """Elements that may share an index: written one after the other where they do."""
    active = np.ones(found.shape, np.bool_) if found.active is None else found.active
    offsets = found.offsets()[active]
    undefined = None if value.undefined is None else value.undefined[active]
    flat = Elements(found.memory, offsets.shape, flat=offsets)
    data = value.data[active]
    if np.unique(offsets).size == offsets.size:
        _write_flat(instance, flat, Tile(data, undefined), op, mode)
        return
    if is_unique:
        text = f"elements of {found.memory.name} share an index, which is promised not to be"
        instance.report(EventKind.SHARED_INDEX, op, text, subject=found.memory.name)
    if mode is WriteMode.OVERWRITE:
        _write_one_of(instance, flat, Tile(data, undefined), op)
        return
    rounds = _rounds(offsets)
    for number in range(int(rounds.max()) + 1):
        chosen = np.flatnonzero(rounds == number)
        part = Tile(data[chosen], None if undefined is None else undefined[chosen])
        _write_flat(instance, Elements(found.memory, chosen.shape, flat=offsets[chosen]), part, op, mode)


def _rounds(offsets: Value) -> Value:
    """The how manieth each one is of its value, from 0."""
    order = np.argsort(offsets, kind="stable")
    ordered = offsets[order]
    begins = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    counts = np.diff(np.r_[begins, ordered.size])
    rounds = np.empty(offsets.size, np.int64)
    rounds[order] = np.arange(ordered.size) - np.repeat(begins, counts)
    return rounds


def _write_flat(instance: Instance, found: Elements, value: Tile, op: Op, mode: WriteMode) -> None:
    """Writes elements that differ, given by their offsets."""
    memory, flat = found.memory, cast(Value, found.flat)
    added = _added_to(instance, found, op, mode)
    if added is not None:
        value = _summed(instance, found, value, added, op)
    with memory.changing():
        memory.data[flat] = value.data
        if memory.written is None and value.undefined is not None and value.undefined.any():
            memory.written = np.ones(memory.size, np.bool_)
        if memory.written is not None:
            memory.written[flat] = True if value.undefined is None else ~value.undefined
        if memory.begun is not None:
            memory.begun[flat] = True


def _write_one_of(instance: Instance, found: Elements, value: Tile, op: Op) -> None:
    """Elements that share an index: one of them stays."""
    flat = cast(Value, found.flat)
    order = slice(None) if instance.options.winner is Winner.LAST else slice(None, None, -1)
    undefined = None if value.undefined is None else value.undefined[order]
    _write_flat(
        instance, Elements(found.memory, found.shape, flat=flat[order]), Tile(value.data[order], undefined), op,
        WriteMode.OVERWRITE,
    )  # fmt: skip
    kept = found.memory.data[flat]
    if (kept.view(np.uint8) != np.ascontiguousarray(value.data).view(np.uint8)).any():
        instance.choose("winner", op, "elements that share an index")


def atomic(instance: Instance, op: Atomic) -> None:
    """A read-modify-write of elements, one after the other where they share an index."""
    found = elements(instance, op.access, op)
    instance.spend(op, found.count)
    if op.operator is not Operator.ADD or op.compare is not None or op.result_used:
        raise instance.stop(EventKind.NOT_EXECUTED, op, f"an atomic {op.operator or 'exchange'} is not run")
    data = elements_of(instance, op.value, found.memory.dtype)
    value = Tile(data, undefined_in(instance, op.value))
    write(instance, found, value, op, WriteMode.ADD, op.unique_indices)


def check_written(instance: Instance, memory: Memory, op: Op) -> None:
    """Reports elements of a result that nothing was written to."""
    if memory.written is None or memory.written.all():
        return
    lacking = ~memory.written
    place = memory.position(int(np.flatnonzero(lacking)[0]))
    text = f"{memory.name} is returned, and {memory.name}{list(place)} holds nothing defined"
    instance.report(EventKind.UNWRITTEN_RESULT, op, text, place, int(lacking.sum()), memory.name)
