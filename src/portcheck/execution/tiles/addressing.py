"""From an access to elements: a strided part of a buffer where the index is affine and inside, else single offsets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np

from portcheck.execution.arithmetic.formats import Value
from portcheck.execution.tiles.events import EventKind
from portcheck.execution.tiles.expressions import along, binding, integer_of, undefined_in, value_of
from portcheck.execution.tiles.machine import Instance, Machine, Scalar
from portcheck.execution.tiles.memory import Memory
from portcheck.ir import Access, Apply, Expr, Op, Operator, Outside, Ref, symbols_in


@dataclass(slots=True)
class Elements:
    """What an access touches: `shape` elements.

    They lie at `start` and `strides` apart (in elements), or at the row-major offsets `flat`. `active` are those that
    are accessed, the others are masked out or lie outside (None: all are accessed).
    """

    memory: Memory
    shape: tuple[int, ...]
    start: int = 0
    strides: tuple[int, ...] = ()
    flat: Value | None = None
    active: Value | None = None

    @property
    def count(self) -> int:
        """How many elements there are, accessed or not."""
        return math.prod(self.shape)

    def of(self, values: Value) -> Value:
        """The elements of a flat array; where they are strided, a window into it."""
        if self.flat is not None:
            return cast(Value, values[self.flat]) if values.size else np.zeros(self.flat.shape, values.dtype)
        size = values.itemsize
        strides = [stride * size for stride in self.strides]
        return np.ndarray(self.shape, values.dtype, values.view(np.uint8), self.start * size, strides)

    def offsets(self) -> Value:
        """The row-major offset of each."""
        if self.flat is not None:
            return self.flat
        found: Value = np.full(self.shape, self.start, np.int64)
        for place, (extent, stride) in enumerate(zip(self.shape, self.strides, strict=True)):
            found += along(place, extent, len(self.shape)) * stride
        return found

    def are_distinct(self) -> bool:
        """Whether certainly no two of them are the same element."""
        if self.flat is not None:
            return False
        reached = 0
        for stride, extent in sorted(
            (abs(stride), extent) for stride, extent in zip(self.strides, self.shape, strict=True)
        ):
            if extent > 1 and stride <= reached:
                return False
            reached += stride * (extent - 1)
        return True


@dataclass(frozen=True, slots=True)
class _Index:
    """One index of an access: its expression and, where it is an affine function of them, the axes it depends on."""

    expression: Expr
    axes: tuple[int, ...] | None


def elements(instance: Instance, access: Access, op: Op) -> Elements:
    """What `access` touches now."""
    memory = instance.memory(access.buffer)
    extents = [axis.extent for axis in access.axes]
    shape = tuple(max(0, integer_of(instance, extent)) if extent is not None else 1 for extent in extents)
    instance.check_room(op, math.prod(shape))
    if not math.prod(shape):
        return Elements(memory, shape, flat=np.zeros(shape, np.int64))
    found = _strided(instance, access, memory, shape)
    if found is None:
        return _scattered(instance, access, op, memory, shape)
    return Elements(memory, shape, *found, active=_mask(instance, access, shape))


def _indices(machine: Machine, access: Access) -> tuple[_Index, ...]:
    """The indices of `access`, looked at once."""
    known = machine.prepared.get(id(access))
    if isinstance(known, tuple) and known[0] is access:
        return cast("tuple[_Index, ...]", known[1])
    names = [axis.name for axis in access.axes]
    made = tuple(_Index(expression, _affine_over(expression, names)) for expression in access.index)
    machine.prepared[id(access)] = (access, made)
    return made


def _affine_over(expression: Expr, names: list[str]) -> tuple[int, ...] | None:
    if not _is_affine(expression, frozenset(names)):
        return None
    used = symbols_in(expression)
    return tuple(place for place, name in enumerate(names) if name in used)


def _is_affine(expression: Expr, names: frozenset[str]) -> bool:
    """Whether `expression` is a sum of axes times numbers and a number; results in memory are not looked into."""
    if isinstance(expression, Ref):
        return False
    if not isinstance(expression, Apply):
        return True
    if not names & symbols_in(expression):
        return all(_is_affine(argument, names) for argument in expression.arguments)
    if expression.operator in (Operator.ADD, Operator.SUBTRACT, Operator.NEGATE):
        return all(_is_affine(argument, names) for argument in expression.arguments)
    if expression.operator is Operator.MULTIPLY:
        left, right = expression.arguments
        is_scaled = not (names & symbols_in(left) and names & symbols_in(right))
        return is_scaled and _is_affine(left, names) and _is_affine(right, names)
    return False


def _strided(
    instance: Instance, access: Access, memory: Memory, shape: tuple[int, ...]
) -> tuple[int, tuple[int, ...]] | None:
    """Where the elements start and how far they lie apart; None for an index not affine, or outside the buffer."""
    names = [axis.name for axis in access.axes]
    bounds, steps = _dimensions(access, memory)
    start, strides = 0, [0] * len(shape)
    with binding(instance, dict.fromkeys(names, 0)):
        for index, bound, step in zip(_indices(instance.machine, access), bounds, steps, strict=True):
            if index.axes is None:
                return None
            low = high = base = integer_of(instance, index.expression)
            for place in index.axes:
                instance.symbols[names[place]] = 1
                coefficient = integer_of(instance, index.expression) - base
                instance.symbols[names[place]] = 0
                strides[place] += coefficient * step
                reach = coefficient * (shape[place] - 1)
                low, high = low + min(0, reach), high + max(0, reach)
            if low < 0 or high >= bound:
                return None
            start += base * step
    return start, tuple(strides)


def _dimensions(access: Access, memory: Memory) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The extents that the indices run over, and how far apart neighbours lie."""
    if len(access.index) == len(memory.shape):
        return memory.shape, memory.strides
    return (memory.size,), (1,)


def _axes(access: Access, shape: tuple[int, ...]) -> dict[str, Scalar]:
    """The positions along the axes of an access."""
    rank = len(shape)
    return {
        axis.name: along(place, extent, rank)
        for place, (axis, extent) in enumerate(zip(access.axes, shape, strict=True))
    }


def _mask(instance: Instance, access: Access, shape: tuple[int, ...]) -> Value | None:
    if access.mask is None:
        return None
    with binding(instance, _axes(access, shape)):
        found = value_of(instance, access.mask)
    mask = np.broadcast_to(np.asarray(found, dtype=np.bool_), shape)
    return None if mask.all() else mask


def _whole(numbers: object) -> Value:
    """Places as integers of a machine; one that is too large for that lies outside of every buffer."""
    try:
        return np.asarray(numbers, dtype=np.int64)
    except OverflowError:
        return np.asarray(np.clip(np.asarray(numbers, dtype=np.object_), -_FAR, _FAR)).astype(np.int64)


_FAR = 1 << 62


def _scattered(instance: Instance, access: Access, op: Op, memory: Memory, shape: tuple[int, ...]) -> Elements:
    """Elements by their offsets; what lies outside is dealt with as the access says."""
    active: Value | None = _mask(instance, access, shape)
    bounds, steps = _dimensions(access, memory)
    with binding(instance, _axes(access, shape)):
        places = [_whole(value_of(instance, index)) for index in access.index]
    for index in access.index:
        _check_defined(instance, access, op, undefined_in(instance, index), active)
    places = [_brought_inside(place, bound, access.outside) for place, bound in zip(places, bounds, strict=True)]
    inside: Value = np.ones(shape, np.bool_)
    for place, bound in zip(places, bounds, strict=True):
        inside &= (place >= 0) & (place < bound)
    wanted: Value = np.ones(shape, np.bool_) if active is None else active
    lost = wanted & ~inside
    if lost.any() and access.outside not in (Outside.SKIP, Outside.BORDER):
        _report_outside(instance, access, op, (places, bounds), lost)
    active = wanted & inside
    flat: Value = np.zeros(shape, np.int64)
    for place, bound, step in zip(places, bounds, steps, strict=True):
        flat += np.clip(place, 0, max(bound - 1, 0)) * step
    return Elements(memory, shape, flat=flat, active=None if active.all() else active)


def _brought_inside(place: Value, bound: int, outside: Outside) -> Value:
    if outside is Outside.CLAMP:
        return np.clip(place, 0, bound - 1)
    if outside is Outside.WRAP and bound:
        return np.mod(place, bound)
    return place


def _check_defined(
    instance: Instance, access: Access, op: Op, undefined: Value | None, active: Value | None
) -> None:  # fmt: skip
    if undefined is not None and (undefined if active is None else active & undefined).any():
        text = f"an index into {access.buffer} is a value that is not defined"
        instance.report(EventKind.UNDEFINED_CONDITION, op, text, count=int(undefined.sum()), subject=access.buffer)


def _report_outside(
    instance: Instance, access: Access, op: Op, where: tuple[list[Value], tuple[int, ...]], lost: Value
) -> None:  # fmt: skip
    first = next(indices_of(lost))
    index = tuple(int(np.broadcast_to(place, lost.shape)[first]) for place in where[0])
    text = f"{access.buffer}{list(index)} is outside {access.buffer}, which is {_shown(where[1])}"
    instance.report(EventKind.OUT_OF_BOUNDS, op, text, index, int(lost.sum()), access.buffer)


def indices_of(mask: Value) -> Iterator[tuple[int, ...]]:
    """The places where `mask` holds, in row-major order."""
    for offset in np.flatnonzero(mask):
        yield tuple(int(place) for place in np.unravel_index(offset, mask.shape)) if mask.shape else ()


def _shown(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))
