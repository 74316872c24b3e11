"""The state of a run: what all launches share, what one kernel is run with, one program instance of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from portcheck.core.dtype import DType
from portcheck.core.errors import InputError, did_you_mean
from portcheck.core.source import Span
from portcheck.execution.arithmetic.formats import Value
from portcheck.execution.tiles.dtypes import missing, resolved
from portcheck.execution.tiles.events import Choice, Event, EventKind, EventLog, Stop
from portcheck.execution.tiles.memory import Memory, Tile
from portcheck.execution.tiles.options import Options
from portcheck.ir import Expr, Kernel, Op
from portcheck.knowledge import Chip, Knowledge

Number: TypeAlias = int | float | bool
Scalar: TypeAlias = Number | Value
"""A Python number (a size, an index, a scalar of the source), or elements."""
Code: TypeAlias = "Callable[[Instance], Scalar]"
"""What computes an expression."""

_MOST_WIDTH = 8
"""Bytes of an element."""
_OPERATION_COST = 256
"""Steps that an operation takes besides one for each element."""


@dataclass
class Run:
    """What all launches of a program share."""

    options: Options
    chip: Chip
    knowledge: Knowledge
    log: EventLog = field(default_factory=EventLog)
    spent: int = 0
    bytes: int = 0
    random: np.random.Generator | None = None


@dataclass
class Machine:
    """One kernel with its arguments: symbols, dtypes and buffers by name, and what was worked out about expressions."""

    run: Run
    kernel: Kernel
    symbols: dict[str, Number]
    dtypes: dict[str, DType]
    given: tuple[str, ...]
    tensors: dict[str, Memory]
    has_groups: bool = True
    """Whether the version says that the first product of a group overwrites."""
    has_blocks: bool = False
    """Whether tiles may have dimensions before their partitions."""
    scalar_calls: frozenset[Span] = frozenset()
    """Where the text calls what only the scalar engine executes."""
    private_calls: frozenset[Span] = frozenset()
    """Where the text allocates memory that each program instance has of its own."""
    grid: tuple[int, ...] = ()
    made: dict[str, Memory] = field(default_factory=dict)
    """Buffers in HBM that the kernel allocates: one for all program instances."""
    returned: tuple[str, ...] | None = None
    definitions: dict[str, Expr] = field(default_factory=dict)
    """What symbols of the kernel stand for."""
    seen: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """The shapes that what is returned is seen in, where they are others than its own."""
    codes: dict[int, tuple[Expr, Code]] = field(default_factory=dict)
    prepared: dict[int, object] = field(default_factory=dict)

    def dtype(self, dtype: DType) -> DType:
        """`dtype` itself, or the one that a symbol stands for; InputError where that is not known."""
        if not dtype.is_symbolic:
            return dtype
        known = self.dtypes.get(dtype.name)
        if known is not None:
            return known
        name = dtype.name.removeprefix("dtype(").removesuffix(")")
        found = resolved(name, self.dtypes)
        if found is None:
            name = missing(name, self.dtypes)
            raise InputError(
                f"{self.kernel.name} needs a value for {name}", self.hint(name) or f"give {name} among the arguments"
            )
        self.dtypes.setdefault(dtype.name, found)
        return found

    def hint(self, name: str) -> str:
        """What may have been meant instead of `name`."""
        return did_you_mean(name, self.given)


@dataclass
class Instance:
    """One program instance: the values of symbols and results and the buffers that it sees."""

    machine: Machine
    program: tuple[int, ...]
    symbols: dict[str, Scalar]
    results: dict[int, Tile] = field(default_factory=dict)
    buffers: dict[str, Memory] = field(default_factory=dict)
    reached: set[str] = field(default_factory=set)

    @property
    def options(self) -> Options:
        """What was chosen about the run."""
        return self.machine.run.options

    def report(
        self, kind: EventKind, op: Op, message: str, element: Iterable[int] = (), count: int = 1, subject: str = "",
        values: tuple[Number, ...] = (),
    ) -> None:  # fmt: skip
        """Keeps an event."""
        self.machine.run.log.add(Event(
            kind=kind, message=message, kernel=self.machine.kernel.name, span=op.span, program=self.program,
            element=tuple(element), count=count, values=values,
        ), subject)  # fmt: skip

    def stop(self, kind: EventKind, op: Op, message: str) -> Stop:
        """Keeps an event after which nothing is run; what is to be raised."""
        self.report(kind, op, message)
        return Stop()

    def choose(self, name: str, op: Op, subject: str) -> None:
        """Notes that the option `name` was used to decide `subject`."""
        value = str(getattr(self.options, name))
        self.machine.run.log.choose(Choice(
            name=name, value=value, subject=subject, kernel=self.machine.kernel.name, span=op.span,
        ))  # fmt: skip

    def spend(self, op: Op, elements: int) -> None:
        """Takes the price of an operation on `elements` from the budget; stops where nothing is left."""
        run = self.machine.run
        self.check_room(op, elements)
        run.spent += elements + _OPERATION_COST
        if run.spent > run.options.steps:
            raise self.stop(EventKind.BUDGET_SPENT, op, f"takes more than {run.options.steps} steps")

    def check_room(self, op: Op, elements: int) -> None:
        """Stops where a value of so many elements takes more memory than is allowed."""
        if elements * _MOST_WIDTH > self.options.memory:
            raise self.stop(EventKind.BUDGET_SPENT, op, f"takes more than {self.options.memory} bytes for one value")

    def release(self) -> None:
        """Gives back what only this instance held."""
        shared = {id(memory) for memory in self.machine.made.values()}
        own = {id(memory.raw): memory.raw.size for memory in self.buffers.values() if id(memory) not in shared}
        self.machine.run.bytes -= sum(own.values())
        self.buffers.clear()
        self.results.clear()

    def memory(self, name: str) -> Memory:
        """The buffer called `name`."""
        found = self.buffers.get(name) or self.machine.tensors.get(name)
        if found is None:
            raise InputError(f"{self.machine.kernel.name} needs an array for {name}", self.machine.hint(name))
        return found
