"""Where a lowering stands: the scopes of names, the function that is put in, the places that jumps lead to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from portcheck.core.dtype import DType
from portcheck.frontends.cuda.model.values import (
    Aggregate,
    CType,
    Handle,
    Place,
    Pointer,
    PointerCell,
    Scalar,
    Slot,
    Value,
)
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import Expr

Binding = Value | CType


@dataclass(frozen=True, slots=True)
class Exit:
    """A place further on that statements jump to: `flag` is set where one did, `jumps` says whether a node may.

    `loops` is how many loops are open there.
    """

    flag: Place
    loops: int
    jumps: Callable[[Node], bool]


@dataclass(frozen=True, slots=True)
class Aim:
    """One buffer where a condition holds, and another where not."""

    holds: Expr
    first: str
    second: str


@dataclass
class Frame:
    """A function that is being inlined: its result where it surely returns, else where the result is left.

    `depth` is how many regions are open in its body, `registers` what is to be allocated ahead of the body.
    """

    name: str
    result_type: CType
    depth: int = 0
    exit: Exit | None = None
    value: Value | None = None
    slot: Value | None = None
    is_done: bool = False
    registers: list[tuple[str, DType]] = field(default_factory=list)


class Scope(dict[str, Binding]):
    """Names declared in one block; `depth` counts the regions around it.

    `fixed` are names of what lies elsewhere as a value only: to give them another one would not reach it.
    """

    def __init__(self, depth: int) -> None:
        super().__init__()
        self.depth = depth
        self.fixed: set[str] = set()


def collect(binding: Binding, read: dict[str, None], operands: dict[Expr, None]) -> None:
    """Adds the buffers that a binding leads to, and the expressions it stands for."""
    match binding:
        case Place(buffer=buffer) | Pointer(buffer=buffer):
            read[buffer] = None
        case PointerCell():
            read.update(
                dict.fromkeys(filter(None, (binding.buffer, binding.offset, binding.selector, *binding.options)))
            )
        case Slot(value=value) | Handle(target=value):
            collect(value, read, operands)
        case Scalar(expr=expr):
            operands[expr] = None
        case Aggregate(members=members):
            for _, member in members:
                collect(member, read, operands)
        case _:
            pass
