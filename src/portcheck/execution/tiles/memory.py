"""Buffers: their elements in row-major order, and which of them hold something."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
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
    was written (None: those that hold something). A buffer and the views of its bytes share `raw` and `bytes_written`,
    which says the same of every byte (None: there are no views).
    """

    name: str
    dtype: DType
    shape: tuple[int, ...]
    space: Space
    raw: Value
    data: Value
    written: Value | None
    begun: Value | None = None
    bytes_written: Value | None = None
    strides: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.strides = row_major(self.shape)

    @property
    def size(self) -> int:
        """How many elements there are."""
        return int(self.data.size)

    @property
    def width(self) -> int:
        """The bytes of an element."""
        return int(self.data.itemsize)

    def refresh(self) -> None:
        """Takes over what was written through other views of the same bytes."""
        if self.bytes_written is not None:
            self.written = np.asarray(_by_element(self.bytes_written, self).all(axis=1))

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Tells other views of the same bytes which elements are written meanwhile."""
        self.refresh()
        before = None if self.bytes_written is None or self.written is None else self.written.copy()
        yield
        if self.bytes_written is not None and self.written is not None and before is not None:
            changed = before != self.written
            _by_element(self.bytes_written, self)[changed] = self.written[changed][:, None]

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


def viewed(base: Memory, name: str, dtype: DType, count: int | None) -> Memory:
    """The bytes of `base` as `count` elements of another dtype (None: as many as there are)."""
    kept = storage(dtype)
    if base.bytes_written is None:
        written = np.ones(base.size, np.bool_) if base.written is None else base.written
        base.bytes_written = np.repeat(written, base.width)
    found = len(base.raw) // kept.itemsize if count is None else min(count, len(base.raw) // kept.itemsize)
    made = Memory(
        name, dtype, (found,), base.space, base.raw, base.raw[: found * kept.itemsize].view(kept), None,
        bytes_written=base.bytes_written,
    )  # fmt: skip
    made.refresh()
    return made


def _by_element(bytes_written: Value, memory: Memory) -> Value:
    """What is written of the bytes of each element, as a window."""
    return bytes_written[: memory.size * memory.width].reshape(memory.size, memory.width)
