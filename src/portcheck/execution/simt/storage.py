"""Memory: bytes of the grid, of each block or of each thread, and views that read them as numbers."""

from __future__ import annotations

import math
from enum import StrEnum

import numpy as np

from portcheck.execution.arithmetic.formats import NumpyType, Value
from portcheck.execution.simt.races import RaceShadow

_ALIGNMENT = 16
"""Bytes of one owner start at a multiple of this, so that every format can be read there."""


class Owner(StrEnum):
    """Whose copy of a buffer an access reaches."""

    GRID = "grid"
    BLOCK = "block"
    THREAD = "thread"


class Storage:
    """Bytes, the same number for every owner, and what is known of each cell of `unit` bytes.

    `written` is None where everything is taken as initialised, `races` where accesses are not checked.
    """

    __slots__ = ("bytes", "owner", "owners", "races", "size", "unit", "written")

    def __init__(self, owner: Owner, owners: int, size: int, unit: int) -> None:
        self.owner = owner
        self.owners = owners
        self.size = -(-max(size, 1) // _ALIGNMENT) * _ALIGNMENT
        self.unit = unit
        self.bytes: Value = np.zeros(owners * self.size, np.uint8)
        self.written: Value | None = None
        self.races: RaceShadow | None = None

    @property
    def cells(self) -> int:
        """Cells of all owners."""
        return self.owners * self.size // self.unit

    def track_writes(self) -> None:
        """From now on reads of what was not written are found."""
        self.written = np.zeros(self.cells, np.bool_)

    def forget(self) -> None:
        """Everything is uninitialised again."""
        if self.written is not None:
            self.written[:] = False


class View:
    """A storage read as numbers of one format: element i of an owner is its bytes from i * size on.

    `shape` is that of the buffer (empty: one element), `extent` how many elements an owner has.
    """

    __slots__ = ("cells", "extent", "name", "numbers", "shape", "storage", "stride")

    def __init__(self, name: str, storage: Storage, dtype: NumpyType, shape: tuple[int, ...], size: int) -> None:
        self.name = name
        self.storage = storage
        self.shape = shape
        self.numbers: Value = storage.bytes.view(dtype)
        self.extent = size // dtype.itemsize
        self.stride = storage.size // dtype.itemsize
        self.cells = dtype.itemsize // storage.unit

    def cells_of(self, elements: Value) -> Value:
        """The cells that elements (counted over all owners) consist of, element by element."""
        if self.cells == 1:
            return elements
        return (elements[:, None] * self.cells + np.arange(self.cells)).reshape(-1)


def count(shape: tuple[int, ...]) -> int:
    """Elements of a shape."""
    return math.prod(shape)
