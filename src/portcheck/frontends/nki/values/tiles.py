"""Tiles as values: index variables, buffers, views of them, results that stand in none yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from portcheck.core.dtype import DType
from portcheck.frontends.nki.values.ages import new_age
from portcheck.ir import Operator, Space
from portcheck.ir.expr import Expr

if TYPE_CHECKING:
    from portcheck.frontends.nki.expressions.bind import Call
    from portcheck.frontends.nki.values.values import Value


@dataclass(frozen=True, slots=True)
class Dimension:
    """One dimension of a view or index grid: `symbol` runs over 0 <= symbol < extent.

    `label` is the name the source gives it, if any. A `spread` dimension repeats the same elements (broadcast).
    """

    symbol: str
    extent: Expr
    label: str = ""
    spread: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """An index expression of the first generation, or an array of the host: a function of the position.

    `expression` is over the symbols of `dimensions` (None: extent 1); `dtype` is what an array was made with.
    """

    expression: Expr
    dimensions: tuple[Dimension | None, ...]
    dtype: DType | None = None


@dataclass(frozen=True, slots=True)
class Buffer:
    """A tensor in memory; one that `shows` another is no memory of its own but that one's bytes in another dtype."""

    name: str
    dtype: DType
    shape: tuple[Expr, ...]
    space: Space
    shows: Buffer | None = None

    @property
    def is_on_chip(self) -> bool:
        """Whether dimension 0 is the partition."""
        return self.space in (Space.SHARED, Space.PSUM)


@dataclass(frozen=True, slots=True)
class Gathered:
    """An index that stands in memory, called `symbol` where it is used: the element of `source` at `at`.

    `at` has one expression a dimension of `source`, over the dimensions of the view that uses it, and is read with it.
    """

    symbol: str
    source: View
    at: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class View:
    """Elements of a buffer: `index` has one expression a dimension of the buffer, over the symbols of `dimensions`.

    `gathered` are the parts of the index that stand in memory.
    """

    buffer: Buffer
    dimensions: tuple[Dimension, ...]
    index: tuple[Expr, ...]
    gathered: tuple[Gathered, ...] = ()

    @property
    def shape(self) -> tuple[Expr, ...]:
        """The extents."""
        return tuple(dimension.extent for dimension in self.dimensions)


@dataclass(slots=True, eq=False)
class Result:
    """A computed tile, of `shape` to the source; the `real` one differs where the source broadcast it.

    `view` is the buffer that it got. Where `mask` is false it is undefined; assigned into a tile it leaves that alone.
    """

    expression: Expr
    dtype: DType
    shape: tuple[Expr, ...]
    real: tuple[Expr, ...]
    space: Space = Space.SHARED
    view: View | None = None
    mask: Grid | Expr | None = None
    age: int = field(default_factory=new_age, init=False, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Masked:
    """A tile of which a product takes the elements where `condition` holds: `tile[condition]`."""

    source: Value
    condition: Grid


@dataclass(frozen=True, slots=True, eq=False)
class Joining:
    """A tile that `call` combines by `operator` with what the tile it is assigned to holds."""

    call: Call
    operator: Operator
    source: Value
