"""Uses: which calls and names of a vendor's library a kernel's text was seen to use, and with which arguments.

A use stands beside the operations: it says how the text is written, where an operation says what it does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from portcheck.core.dtype import DType
from portcheck.core.source import Span
from portcheck.ir.expr import Expr
from portcheck.ir.types import ValueType


class UseKind(StrEnum):
    """What of the library, or of the language, is used."""

    CALL = "call"
    NAME = "name"
    """A name that is read and not called: an import, an operator object, a constant, a decorator without arguments."""
    FORM = "form"
    """A form of the language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TileUse:
    """Elements of a buffer, or a computed tile that is in none ("").

    `start` is the first partition, or row of a tensor in memory, that it begins at; None where that is not known.
    `is_whole` says that it is all of the buffer, in order.
    """

    type: ValueType
    buffer: str = ""
    start: Expr | None = None
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class NumberUse:
    """A number; None where it depends on data."""

    value: Expr | None


@dataclass(frozen=True, slots=True)
class TextUse:
    """A string."""

    text: str


@dataclass(frozen=True, slots=True)
class NameUse:
    """Something imported, by its qualified name: an operator object, a dtype, a memory space, an enumeration."""

    name: str


@dataclass(frozen=True, slots=True)
class DTypeUse:
    """A dtype that no name of the library stands for, such as that of a tensor."""

    dtype: DType


@dataclass(frozen=True, slots=True)
class GroupUse:
    """A tuple or list."""

    items: tuple[OperandUse, ...]
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class NoneUse:
    """Python's `None`."""


@dataclass(frozen=True, slots=True)
class OtherUse:
    """Anything else: a function, an object, a mask, a value that was not understood; `text` is how it is called."""

    text: str


OperandUse = TileUse | NumberUse | TextUse | NameUse | DTypeUse | GroupUse | NoneUse | OtherUse


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One argument: `parameter` is what it is bound to ("" for nothing) and `role` the role that parameter plays.

    `position` is its place from 0 among those given by position, None for one given by keyword.
    """

    parameter: str
    operand: OperandUse
    role: str = ""
    position: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One way a call was evaluated; `receiver` is the tensor whose method it is, `result` what it gives back."""

    arguments: tuple[Argument, ...] = ()
    receiver: OperandUse | None = None
    result: OperandUse | None = None

    def with_role(self, role: str) -> tuple[Argument, ...]:
        """The arguments that play `role`, in call order."""
        return tuple(argument for argument in self.arguments if argument.role == role)

    def operands(self) -> Iterator[OperandUse]:
        """Everything it is given and gives, without what stands inside of groups."""
        yield from (argument.operand for argument in self.arguments)
        yield from (operand for operand in (self.receiver, self.result) if operand is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One place that uses `name` ("nki.isa.tensor_copy"), in `kernel` ("": outside of every kernel).

    `runs` are the different ways it was evaluated, with loops unrolled and helpers inlined; none where the text was
    not evaluated. `is_understood` says that every evaluation was; else `reason` says why one was not.
    """

    kind: UseKind
    name: str
    span: Span
    kernel: str = ""
    is_understood: bool = True
    reason: str = ""
    runs: tuple[Run, ...] = ()


def tiles_in(operand: OperandUse | None) -> Iterator[TileUse]:
    """The tiles that `operand` is or holds."""
    if isinstance(operand, TileUse):
        yield operand
    elif isinstance(operand, GroupUse):
        for item in operand.items:
            yield from tiles_in(item)


def expressions_of_use(use: Use) -> Iterator[Expr]:
    """Every expression in the arguments and results of `use`."""
    stack = [operand for run in reversed(use.runs) for operand in reversed(list(run.operands()))]
    while stack:
        match stack.pop():
            case TileUse(type=type, start=start):
                yield from type.shape
                if start is not None:
                    yield start
            case NumberUse(value) if value is not None:
                yield value
            case GroupUse(items):
                stack.extend(reversed(items))
            case _:
                pass
