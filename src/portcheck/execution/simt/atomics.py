"""Atomic operations: indivisible, one after the other in an order that a seed chooses, each giving the old value."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from portcheck.core.dtype import DType
from portcheck.execution.arithmetic.formats import Value
from portcheck.execution.arithmetic.operators import Function, function
from portcheck.execution.simt.accesses import check_read, check_write, mark_written
from portcheck.execution.simt.addresses import Elements, addressing
from portcheck.execution.simt.batch import Batch
from portcheck.execution.simt.compilation import Code, Compilation, Step
from portcheck.execution.simt.expressions import code_of
from portcheck.ir import Atomic, Operator

_ROUNDS = 32
"""Up to so many updates of one element are done in rounds of one update of every element."""

Update = Callable[[Value, Value, Value, Value], Value]
"""Numbers of a memory, element of each update, its value, its comparison: changes the numbers, gives the old ones."""


def atomic(compilation: Compilation, op: Atomic) -> Step:
    """Combines values into elements."""
    buffer = compilation.buffers[op.access.buffer]
    find = addressing(compilation, op.access, op.span, "updated")
    slot, dtype, rank = compilation.slot(op.id), buffer.dtype, len(op.access.axes)
    value = code_of(compilation, op.value, dtype, rank)
    other = op.compare if op.compare is not None else op.limit
    second = None if other is None else code_of(compilation, other, dtype, rank)
    update, is_used, is_checked = _update(op, dtype), compilation.uses[op.id] > 0, compilation.options.is_checked

    def run(batch: Batch) -> None:
        elements = find(batch)
        if is_checked:
            _check(batch, elements, op)
        count = int(np.prod(elements.shape)) if elements.selected is None else len(elements.selected)
        values = [_each(part, batch, elements, count) for part in (value, second) if part is not None]
        flat = np.broadcast_to(elements.flat, count)
        order = None if batch.random is None else batch.random.permutation(count)
        if order is not None:
            flat, values = flat[order], [part[order] for part in values]
        old = update(elements.view.numbers, flat, values[0], values[-1])
        mark_written(elements)
        if is_used:
            batch.slots[slot] = _in_place(old, order, elements)

    return run


def _check(batch: Batch, elements: Elements, op: Atomic) -> None:
    kept = elements.view.storage
    races, kept.races = kept.races, None
    if op.operator is not None or op.compare is not None:
        check_read(batch, elements, op.span)
    kept.races = races
    check_write(batch, elements, op.span, is_atomic=True)


def _each(code: Code, batch: Batch, elements: Elements, count: int) -> Value:
    value = code(batch)
    if value.ndim:
        value = np.broadcast_to(value, elements.shape).reshape(-1)
        return value if elements.selected is None else value.take(elements.selected)
    return np.broadcast_to(value, count)


def _in_place(old: Value, order: Value | None, elements: Elements) -> Value:
    """The old values, given in the order of the updates, by position."""
    if order is not None:
        back = np.empty_like(old)
        back[order] = old
        old = back
    if elements.selected is None:
        return old.reshape(elements.shape)
    result = np.zeros(elements.shape, old.dtype)
    result.reshape(-1)[elements.selected] = old
    return result


def _update(op: Atomic, dtype: DType) -> Update:
    if op.compare is not None:
        return compare_and_swap
    if op.limit is not None:
        is_up = op.operator is Operator.ADD
        return lambda numbers, flat, value, limit: _one_by_one(numbers, flat, value, limit, is_up)
    if op.operator is None:
        return exchange
    combine = function(op.operator, dtype, (dtype, dtype))
    at = _UFUNCS.get(op.operator) if dtype.name in _FAST and op.id is not None and not op.result_used else None
    if at is not None:
        return lambda numbers, flat, value, _: _combined_at(at, numbers, flat, value)
    return lambda numbers, flat, value, _: combined(combine, numbers, flat, value)


_UFUNCS = {
    Operator.ADD: np.add, Operator.SUBTRACT: np.subtract, Operator.BITWISE_AND: np.bitwise_and,
    Operator.BITWISE_OR: np.bitwise_or, Operator.BITWISE_XOR: np.bitwise_xor,
}  # fmt: skip
_FAST = frozenset({"float32", "float64", "int32", "uint32", "int64", "uint64"})
"""Formats in which NumPy updates one element after the other itself."""


def _combined_at(at: np.ufunc, numbers: Value, flat: Value, value: Value) -> Value:
    at.at(numbers, flat, value)
    return value


def combined(combine: Function, numbers: Value, flat: Value, value: Value) -> Value:
    """Updates in the order given; the old value of each."""
    order = np.argsort(flat, kind="stable")
    elements, values = flat[order], value[order]
    starts = np.flatnonzero(np.concatenate([[True], elements[1:] != elements[:-1]])) if len(flat) else flat[:0]
    lengths = np.diff(np.append(starts, len(flat)))
    old = np.empty(len(flat), numbers.dtype)
    few = starts[lengths <= _ROUNDS], lengths[lengths <= _ROUNDS]
    for number in range(int(few[1].max()) if few[1].size else 0):
        places = few[0][few[1] > number] + number
        before = old[places] = numbers[elements[places]]
        numbers[elements[places]] = combine(before, values[places])
    for start, length in zip(starts[lengths > _ROUNDS], lengths[lengths > _ROUNDS], strict=True):
        _in_turn(combine, numbers, int(elements[start]), values[start : start + length], old[start : start + length])
    result = np.empty_like(old)
    result[order] = old
    return result


def _in_turn(combine: Function, numbers: Value, element: int, values: Value, old: Value) -> None:
    """Many updates of one element."""
    if isinstance(combine, np.ufunc):
        running = combine.accumulate(np.concatenate([numbers[element : element + 1], values]))
        old[:] = running[:-1]
        numbers[element] = running[-1]
        return
    current = numbers[element]
    for place, value in enumerate(values):
        old[place] = current
        current = combine(current, value)
    numbers[element] = current


def exchange(numbers: Value, flat: Value, value: Value, _: Value) -> Value:
    """Puts values in; each finds the one before it."""
    return combined(lambda before, new: new, numbers, flat, value)


def compare_and_swap(numbers: Value, flat: Value, value: Value, expected: Value) -> Value:
    """Puts a value in where the element is the expected one, bit for bit."""
    order = np.argsort(flat, kind="stable")
    elements, wanted, values = flat[order], _bits(expected[order]), value[order]
    old = numbers[elements]
    pending = np.arange(len(flat))
    while pending.size:
        matches = pending[_bits(numbers[elements[pending]]) == wanted[pending]]
        if not matches.size:
            break
        _, firsts = np.unique(elements[matches], return_index=True)
        winners = matches[firsts]
        numbers[elements[winners]] = values[winners]
        winner_of = dict(zip(elements[winners].tolist(), winners.tolist(), strict=True))
        last = np.array([winner_of.get(element, len(flat)) for element in elements[pending].tolist()])
        pending = pending[pending > last]
        old[pending] = numbers[elements[pending]]
    result = np.empty_like(old)
    result[order] = old
    return result


def _bits(value: Value) -> Value:
    return np.ascontiguousarray(value).view(np.dtype(f"u{value.dtype.itemsize}"))


def _one_by_one(numbers: Value, flat: Value, value: Value, limit: Value, is_up: bool) -> Value:
    """Steps that start again at a limit (`Atomic.limit`), one after the other."""
    old = np.empty(len(flat), numbers.dtype)
    one = numbers.dtype.type(1)
    for place, (element, most) in enumerate(zip(flat.tolist(), limit, strict=True)):
        current = old[place] = numbers[element]
        if is_up:
            numbers[element] = 0 if current >= most else current + one
        else:
            numbers[element] = most if current == 0 or current > most else current - one
    return cast(Value, old)
