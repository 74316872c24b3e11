"""What a Python expression of a port stands for: numbers are IR expressions, everything else is a class here."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

from portcheck.core.dtype import DType
from portcheck.frontends.nki.state.failure import UnfollowedError
from portcheck.ir import OpaqueKind, Operator, Space
from portcheck.ir.expr import Expr

if TYPE_CHECKING:
    from portcheck.frontends.nki.expressions.bind import Call
    from portcheck.frontends.nki.state.frame import Frame
    from portcheck.frontends.nki.state.scope import Scope


@dataclass(frozen=True, slots=True)
class Nothing:
    """Python's `None`."""


@dataclass(frozen=True, slots=True)
class Dots:
    """Python's `...`."""


@dataclass(frozen=True, slots=True)
class Text:
    """A string."""

    value: str


@dataclass(frozen=True, slots=True)
class External:
    """Something imported, by its qualified name: a package, a call, an operator object, a dtype, a memory space."""

    name: str


@dataclass(frozen=True, slots=True)
class Package:
    """A file or folder of the port's own package, imported as a module."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class Format:
    """A dtype."""

    dtype: DType


_AGES = count()
BEFORE = -1


def new_age() -> int:
    """A number greater than those of all objects made before: what can change has one, in the order it was made."""
    return next(_AGES)


Key: TypeAlias = (
    "str | int | float | bool | Nothing | External | Format | Instance | Class | Function | tuple[Key, ...]"
)
"""A key of a dictionary, in the form of Python where it is a text, a number or a tuple."""


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """The elements of a list of `length`: `element` with the symbol `variable` standing for the position."""

    length: Expr
    variable: str
    element: Value


@dataclass(slots=True, eq=False)
class Items:
    """A tuple, list or set; `lost` is why its elements are not known, if so.

    With a `series` it holds that and nothing else. `read` is when its elements were last asked for. An element of a
    series is a copy of its `origin` and must not change. An iterator gives each of its elements `once`.
    """

    held: list[Value]
    is_list: bool = False
    lost: str = field(default="", init=False)
    series: Series | None = field(default=None, init=False)
    origin: Items | None = field(default=None, init=False, repr=False)
    once: bool = field(default=False, init=False)
    read: int = field(default=BEFORE, init=False, repr=False)
    age: int = field(default_factory=new_age, init=False, repr=False)
    __match_args__ = ("values", "is_list")

    @property
    def values(self) -> list[Value]:
        """The elements; raises UnfollowedError where they are not known."""
        if self.lost or self.series is not None:
            raise UnfollowedError(self.lost or "a list of unknown length is used in a way that is not followed")
        self.read = new_age()
        return self.held


@dataclass(slots=True, eq=False)
class Table:
    """A dictionary or an object with attributes; keys are the Python values. `lost` is why it is not known, if so."""

    held: dict[Key, Value]
    record: str = ""
    lost: str = field(default="", init=False)
    origin: Table | None = field(default=None, init=False, repr=False)
    age: int = field(default_factory=new_age, init=False, repr=False)
    __match_args__ = ("entries", "record")

    @property
    def entries(self) -> dict[Key, Value]:
        """The values by key; raises UnfollowedError where they are not known."""
        if self.lost:
            raise UnfollowedError(self.lost)
        return self.held


@dataclass(slots=True, eq=False, repr=False)
class Instance(Table):
    """An object of a class of the port: its own attributes."""

    owner: Class = field(kw_only=True)


class ClassKind(StrEnum):
    """How the objects of a class come to be, and what they are alike to."""

    PLAIN = "plain"
    DATA = "data"
    ENUMERATION = "enumeration"
    TUPLE = "tuple"


@dataclass(slots=True, eq=False, repr=False)
class Class:
    """A class of the port.

    `bases` are what it derives from, classes of the port or names that are imported; `names` what its body binds;
    `annotated` the annotations of names in the body, in order; `home` is the frame around it. `is_known` says that
    nothing it derives from, and no decorator of it, may add what is not seen here.
    """

    name: str
    bases: tuple[Value, ...]
    names: dict[str, Value]
    annotated: dict[str, Any]
    home: Frame
    kind: ClassKind = ClassKind.PLAIN
    is_known: bool = True
    is_frozen: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class BoundMethod:
    """A method of a class of the port and the object that it is called on."""

    function: Function
    receiver: Value


class Access(StrEnum):
    """How a function in the body of a class is reached."""

    STATIC = "staticmethod"
    CLASS = "classmethod"
    PROPERTY = "property"


@dataclass(frozen=True, slots=True, eq=False)
class Accessed:
    """A function in the body of a class that is no plain method; `setter` is what sets a property."""

    access: Access
    function: Value
    setter: Value | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Super:
    """What `super()` stands for: the attributes of `receiver` from behind `owner` on."""

    owner: Class
    receiver: Value


@dataclass(frozen=True, slots=True)
class Stretch:
    """A slice; `size` is its length where the source states it."""

    start: Expr | None
    stop: Expr | None
    step: Expr | None = None
    size: Expr | None = None


@dataclass(frozen=True, slots=True)
class Counter:
    """A range of integers that a `for` may run over; `call` is the construct as written."""

    start: Expr
    stop: Expr
    step: Expr
    semantics: str
    call: str


@dataclass(slots=True, eq=False)
class Function:
    """A function of the file; `segment` is the parsed text it stands in, `home` the frame it closes over.

    A method has the class that it is defined in as its `owner`; `defaults` are the values of parameters left out.
    """

    name: str
    node: Any
    segment: Any
    home: Frame
    owner: Class | None = None
    defaults: dict[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """An attribute of a value that is about to be called."""

    receiver: Value
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """A function with some of its arguments given: what `functools.partial` makes."""

    function: Value
    positional: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Either:
    """One of two values: `first` where `condition` holds, else `second`."""

    condition: Expr
    first: Value
    second: Value


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


@dataclass(frozen=True, slots=True)
class Parameter:
    """A kernel parameter whose use has not yet shown whether it is a tensor or a scalar."""

    name: str


@dataclass(frozen=True, slots=True)
class ShapeOf:
    """The shape of a parameter whose rank is not known yet."""

    parameter: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that was not understood: its text, why, what it was made from, the sort of construct, if it is a list."""

    text: str
    reason: str
    parts: tuple[Value, ...] = ()
    kind: OpaqueKind = OpaqueKind.SYNTAX
    is_list: bool = False


Value = (
    Expr | Nothing | Dots | Text | External | Package | Format | Items | Table | Stretch | Counter | Function | Method
    | Bound | Either | Class | BoundMethod | Accessed | Super | Grid | View | Result | Parameter | ShapeOf | Unknown
    | Masked | Joining
)  # fmt: skip

NONE = Nothing()


def obstacle_kind(value: Value) -> OpaqueKind:
    """What sort of construct keeps `value` from being put where it belongs."""
    return value.kind if isinstance(value, Unknown) else OpaqueKind.MEMORY
