"""Functions, methods and classes of a port as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from portcheck.frontends.nki.state.frame import Frame
    from portcheck.frontends.nki.values.values import Value


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
