"""Buffers: their elements in row-major order, and which of them hold something."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from portcheck.core.dtype import DType
from portcheck.execution.arithmetic.formats import Value, storage
from portcheck.ir import Space

_MARK_OF_FLOATS = 0xFF
"""All bits set is NaN in every float format."""
_MARK = 0xA5


@dataclass(slots=True)
class Tile:
    """The elements of a value; `undefined` marks those that hold nothing defined (None: all of them do)."""

    data: Value
    undefined: Value | None = None


@dataclass(slots=True, eq=False)
class Memory:
    """A buffer: `raw` are its bytes, `data` the same as elements.

    `written` says which elements hold something (None: all of them do), `begun` to which of them a group of products
    was written (None: those that hold something). A view has the bytes of its `base`, and so asks it what is written.
    """

    name: str
    dtype: DType
    shape: tuple[int, ...]
    space: Space
    raw: Value
    data: Value
    written: Value | None
    begun: Value | None = None
    strides: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.strides = row_major(self.shape)

    @property
    def size(self) -> int:
        """How many elements there are."""
        return int(self.data.size)

    def position(self, offset: int) -> tuple[int, ...]:
        """The index of the element at the row-major `offset`."""
        return tuple(int(place) for place in np.unravel_index(offset, self.shape)) if self.shape else ()


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """How far apart neighbours along each dimension lie, in elements."""
    return tuple(math.prod(shape[place + 1 :]) for place in range(len(shape)))


def empty(name: str, dtype: DType, shape: tuple[int, ...], space: Space) -> Memory:
    """A new buffer without values: NaN in floats, a conspicuous number in integers."""
    kept, count = storage(dtype), math.prod(shape)
    raw = np.full(count * kept.itemsize, _MARK_OF_FLOATS if dtype.is_float else _MARK, np.uint8)
    if kept.kind == "b":
        raw.fill(1)
    return Memory(name, dtype, shape, space, raw, raw.view(kept), np.zeros(count, np.bool_))


def holding(name: str, dtype: DType, values: Value, space: Space) -> Memory:
    """A buffer with a copy of `values`."""
    kept = storage(dtype)
    raw = np.frombuffer(bytearray(np.ascontiguousarray(values, dtype=kept).tobytes()), np.uint8)
    return Memory(name, dtype, tuple(values.shape), space, raw, raw.view(kept), None)


def contents(memory: Memory) -> Value:
    """The values of a buffer in its shape."""
    return memory.data.reshape(memory.shape)
