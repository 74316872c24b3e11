"""What the compilation of one launch knows: sizes, buffers, slots for results, and the axes of the access at hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from portcheck.core.dtype import DType
from portcheck.execution.arithmetic.formats import Value
from portcheck.execution.simt.batch import Batch, Geometry
from portcheck.execution.simt.demand import Wanted
from portcheck.execution.simt.options import Options
from portcheck.execution.simt.textures import Texture
from portcheck.ir import Expr, Kernel, Load, Op, Ref, Space, definitions, operations, subexpressions
from portcheck.ir.walk import expressions

Code: TypeAlias = Callable[[Batch], Value]
"""Computes a value for the active threads."""
Step: TypeAlias = Callable[[Batch], None]
"""Runs an operation for the active threads."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """The code of an expression; its value where it is constant; whether it depends on nothing but the thread."""

    code: Code
    dtype: DType
    constant: Value | None = None
    is_invariant: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """A buffer of the kernel: its format, its extents in elements, and where it lives.

    `base` is the buffer whose bytes it is ("": its own). A register without extents is a variable.
    """

    name: str
    dtype: DType
    shape: tuple[int, ...]
    space: Space
    base: str = ""
    is_variable: bool = False


@dataclass(kw_only=True)
class Compilation:
    """The state of compiling one kernel for one launch."""

    kernel: Kernel
    geometry: Geometry
    options: Options
    warp_size: int
    symbols: Mapping[str, int | float | bool]
    threads: Mapping[str, Code]
    buffers: Mapping[str, Buffer]
    given: tuple[str, ...] = ()
    flushes: bool = False
    textures: Mapping[int, Texture] = field(default_factory=dict)
    slots: dict[int | str, int] = field(default_factory=dict)
    numbered: dict[tuple[Expr, int], int] = field(default_factory=dict)
    axes: list[str] = field(default_factory=list)
    axis_extents: list[int] = field(default_factory=list)
    fused: set[int] = field(default_factory=set)
    compiled: dict[tuple[int, int], tuple[Expr, Compiled]] = field(default_factory=dict)
    wanted: Wanted | None = None
    used: dict[int, frozenset[int]] = field(default_factory=dict)
    made: dict[int, frozenset[int]] = field(default_factory=dict)

    @cached_property
    def definitions(self) -> Mapping[int, Op]:
        """The operations of the kernel by id."""
        return definitions(self.kernel)

    @cached_property
    def uses(self) -> Counter[int]:
        """How often the result with each id is an operand."""
        found: Counter[int] = Counter()
        for op in operations(self.kernel.body):
            for expression in expressions(op):
                found.update(part.id for part in subexpressions(expression) if isinstance(part, Ref))
        return found

    def holders(self, id: int) -> Expr | None:
        """Which threads have the result with this id, a variable that is read for them alone; None if all have it."""
        op = self.definitions.get(id)
        if not isinstance(op, Load) or op.fill is not None or not self.buffers[op.access.buffer].is_variable:
            return None
        return op.access.mask

    def slot(self, key: int | str) -> int:
        """Where the result with this id, or the loop variable of this name, is kept."""
        return self.slots.setdefault(key, len(self.slots))

    def number(self, expression: Expr, rank: int) -> int:
        """A short name for an expression in values of so many dimensions."""
        return self.numbered.setdefault((expression, rank), len(self.numbered))

    @contextmanager
    def along(self, axes: tuple[tuple[str, int], ...]) -> Iterator[None]:
        """Inside the `with` block these axes, with their extents, are symbols."""
        outer = self.axes, self.axis_extents
        self.axes, self.axis_extents = [name for name, _ in axes], [extent for _, extent in axes]
        try:
            yield
        finally:
            self.axes, self.axis_extents = outer
