"""What a Python expression of a port stands for: numbers are IR expressions, everything else is a class here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from portcheck.core.dtype import DType
from portcheck.frontends.nki.state.failure import ForkError, UnfollowedError
from portcheck.frontends.nki.values.ages import BEFORE, new_age
from portcheck.frontends.nki.values.callables import (
    Accessed,
    Bound,
    BoundMethod,
    Class,
    Function,
    Method,
    Super,
)  # fmt: skip
from portcheck.frontends.nki.values.tiles import Grid, Joining, Masked, Result, View
from portcheck.ir import Apply, OpaqueKind, Operator
from portcheck.ir.expr import Expr

if TYPE_CHECKING:
    from portcheck.frontends.nki.state.scope import Scope
    from portcheck.frontends.nki.state.watching import Watch


@dataclass(frozen=True, slots=True)
class Nothing:
    """Python's `None`; `chosen_by` is the condition by which an arm of a branch has it instead of another value."""

    chosen_by: Expr | None = field(default=None, compare=False)


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

    With a `series` it holds that and nothing else. With a `choice` it holds what one of two other lists does, by a
    condition that is not known. `read` is when its elements were last asked for. An element of a series is a copy of
    its `origin` and must not change. An iterator gives each of its elements `once`; they are
    worked out by what its `watches` look after, when it is asked for them.
    """

    held: list[Value]
    is_list: bool = False
    lost: str = field(default="", init=False)
    series: Series | None = field(default=None, init=False)
    choice: Either | None = field(default=None, init=False, repr=False)
    origin: Items | None = field(default=None, init=False, repr=False)
    once: bool = field(default=False, init=False)
    watches: tuple[Watch, ...] = field(default=(), init=False, repr=False)
    read: int = field(default=BEFORE, init=False, repr=False)
    age: int = field(default_factory=new_age, init=False, repr=False)
    __match_args__ = ("values", "is_list")

    @property
    def values(self) -> list[Value]:
        """The elements; raises ForkError where a condition says which, UnfollowedError where they are not known."""
        if self.choice is not None:
            self.read = new_age()
            raise ForkError(self.choice.condition)
        if self.lost or self.series is not None:
            raise UnfollowedError(self.lost or "a list of unknown length is used in a way that is not followed")
        self.read = new_age()
        return self.held


@dataclass(slots=True, eq=False)
class Table:
    """A dictionary or an object with attributes; keys are the Python values. `lost` is why it is not known, if so.

    With a `choice` a dictionary holds what one of two others does, by a condition that is not known.
    """

    held: dict[Key, Value]
    record: str = ""
    lost: str = field(default="", init=False)
    choice: Either | None = field(default=None, init=False, repr=False)
    origin: Table | None = field(default=None, init=False, repr=False)
    age: int = field(default_factory=new_age, init=False, repr=False)
    __match_args__ = ("entries", "record")

    @property
    def entries(self) -> dict[Key, Value]:
        """The values by key; raises ForkError where a condition says which, UnfollowedError where nothing does."""
        if self.choice is not None:
            raise ForkError(self.choice.condition)
        if self.lost:
            raise UnfollowedError(self.lost)
        return self.held


@dataclass(slots=True, eq=False, repr=False)
class Instance(Table):
    """An object of a class of the port: its own attributes."""

    owner: Class = field(kw_only=True)


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


@dataclass(frozen=True, slots=True, eq=False)
class Either:
    """One of two values: `first` where `condition` holds, else `second`."""

    condition: Expr
    first: Value
    second: Value


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


@dataclass(frozen=True, slots=True)
class SomeText(Unknown):
    """A string that is not known."""


@dataclass(frozen=True, slots=True)
class PiecedText(SomeText):
    """A string that is not known: its `parts`, texts and numbers, one after the other."""


Value = (
    Expr | Nothing | Dots | Text | External | Package | Format | Items | Table | Stretch | Counter | Function | Method
    | Bound | Either | Class | BoundMethod | Accessed | Super | Grid | View | Result | Parameter | ShapeOf | Unknown
    | Masked | Joining
)  # fmt: skip

NONE = Nothing()


def choice_of(value: Value) -> tuple[Expr, Value, Value] | None:
    """By which condition `value` is one of two, and which; None where it is no choice."""
    match value:
        case Either(condition, first, second) | Items(choice=Either(condition, first, second)):
            return condition, first, second
        case Apply(Operator.SELECT, (test, one, other)):
            return test, one, other
        case _:
            return None


def obstacle_kind(value: Value) -> OpaqueKind:
    """What sort of construct keeps `value` from being put where it belongs."""
    return value.kind if isinstance(value, Unknown) else OpaqueKind.MEMORY
