"""What a C++ expression stands for while a kernel is lowered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from portcheck.core.dtype import DType
from portcheck.ir import ZERO, Const, Expr, Operator, Ref, Space, Symbol

if TYPE_CHECKING:
    from portcheck.frontends.cuda.model.frames import Scope
    from portcheck.frontends.cuda.parsing.syntax import Node


BASE = "@"
"""What the name of a member begins with that has none of its own: a base, an anonymous union."""
BIT_FIELD = "bit-field"
"""What the type of a member is called that takes some bits of a number."""


class TypeKind(StrEnum):
    """What sort of type a C++ type is to us."""

    VOID = "void"
    SCALAR = "scalar"
    POINTER = "pointer"
    VECTOR = "vector"
    ARRAY = "array"
    RECORD = "record"
    LIBRARY = "library"
    DEDUCED = "deduced"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class CType:
    """A C++ type. `target` is a pointer's pointee or an array's element, `extent` how many an array has.

    `fields` are a vector's or record's members in order; what else there is to a record is found by its `name`.
    `words` are what chooses among the ways in which a class of CUDA's libraries works.
    """

    kind: TypeKind
    name: str = ""
    dtype: DType | None = None
    target: CType | None = None
    fields: tuple[tuple[str, CType], ...] = ()
    extent: int = 0
    words: tuple[str, ...] = ()
    constant: bool = False
    volatile: bool = False
    reference: bool = False


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number. `dtype` is its C++ type; `expr` may be of a narrower one that holds the same value."""

    expr: Expr
    dtype: DType
    size: int = 1

    @property
    def is_data(self) -> bool:
        """Whether it is (part of) the result of an operation."""
        return isinstance(self.expr, Ref) or (not isinstance(self.expr, Const | Symbol) and _has_ref(self.expr))


@dataclass(frozen=True, slots=True)
class Lost(Scalar):
    """What an expression that was not understood stands for; so does all that is found through it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Elements of a buffer: all of `index` given makes one element; fewer make an array."""

    buffer: str
    index: tuple[Expr, ...]
    type: CType
    remaining: int = 0
    """How many dimensions are still to be indexed."""
    rest: Expr = ZERO
    """How many bytes after the element it begins, where that is no whole number of elements."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """The address of an element; `index` counts in elements of the buffer."""

    buffer: str
    index: tuple[Expr, ...]
    type: CType
    """The type pointed to."""
    rest: Expr = ZERO
    """How many bytes after the element it points, where that is no whole number of elements."""


@dataclass(frozen=True, slots=True)
class PointerCell:
    """A pointer variable that moves: its offset is kept in the register `offset`."""

    buffer: str
    offset: str
    type: CType
    selector: str = ""
    """The register that says which of `options` it points into, where it may be one of several buffers."""
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Null:
    """The null pointer."""


@dataclass(frozen=True, slots=True)
class Group:
    """A group of threads: its size, this thread's rank in it, and where it stands among its like."""

    scope: str
    size: Scalar
    rank: Scalar
    meta_rank: Scalar | None = None
    meta_size: Scalar | None = None
    mask: Expr | None = None
    """The lanes of the warp that belong to it, where they are no tile."""


@dataclass(frozen=True, slots=True)
class Facility:
    """An object of CUDA's libraries: its class, whose threads it is for, and how many lanes where that is stated.

    `words` choose among the ways it works, `about` is what an object is about that stands for something else.
    """

    name: str
    scope: str = ""
    lanes: int = 0
    words: tuple[str, ...] = ()
    about: Value | None = None


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A value of several members."""

    type: CType
    members: tuple[tuple[str, Value], ...]

    def member(self, name: str) -> Value | None:
        """The member called `name`."""
        return dict(self.members).get(name)


@dataclass(frozen=True, slots=True)
class Handle:
    """The address of a variable that lies in registers of its own, or of a pointer variable."""

    target: Aggregate | PointerCell | Slot


@dataclass(eq=False, slots=True)
class Slot:
    """A pointer variable: what it holds now, since it was set where it was made, in regions as deep as `depth`.

    One that `moves` has its offset in a register as soon as it is known where it points; one that `is_null` was set to
    the null pointer, not only left without a value.
    """

    depth: int
    value: Value
    name: str = ""
    target: CType | None = None
    moves: bool = True
    is_reference: bool = False
    is_null: bool = False


@dataclass(frozen=True, slots=True)
class Builtin:
    """A variable of the language with members x, y, z; `name` is how it is spelled."""

    name: str


@dataclass(frozen=True, slots=True)
class Functor:
    """A function object that stands for an operator."""

    operator: Operator
    name: str


@dataclass(frozen=True, slots=True)
class FunctionName:
    """The name of a function, given as an argument."""

    name: str


@dataclass(frozen=True)
class Closure:
    """A lambda with the names it can see."""

    node: Node
    scopes: tuple[Scope, ...] = field(hash=False, compare=False)


@dataclass(frozen=True, slots=True)
class Nothing:
    """The value of what has none: a call of a void function, a store."""


Value = (
    Scalar | Place | Pointer | PointerCell | Null | Group | Facility | Aggregate | Handle | Slot | Builtin | Functor
    | FunctionName | Closure | Nothing
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Buffer:
    """A declared array or variable: its element type, extents and space."""

    name: str
    dtype: DType
    shape: tuple[Expr, ...]
    constant: bool = False
    space: Space = Space.GLOBAL


Types = Mapping[str, CType]


def _has_ref(expression: Expr) -> bool:
    stack = [expression]
    while stack:
        node = stack.pop()
        if isinstance(node, Ref):
            return True
        stack.extend(getattr(node, "arguments", ()))
    return False
