"""A builder that also knows which results and buffers can be seen from where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from portcheck.core.source import Span
from portcheck.frontends.nki.values.ages import new_age
from portcheck.ir import Alloc, Builder, Const, Expr, Op, ValueType, refs_in, symbols_in
from portcheck.ir.build import OperationType
from portcheck.ir.value_checks import access_problems, value_problems
from portcheck.ir.walk import accesses, operations


@dataclass(frozen=True, slots=True)
class _Outside:
    """Operations that were added to a region around the one that was current then, and what sees them."""

    region: list[Op]
    visible: set[int]
    allocated: set[str]
    added: tuple[Op, ...]

    def take_back(self) -> None:
        """Takes them out again."""
        ids = {op.id for op in self.added}
        self.region[:] = [op for op in self.region if op.id not in ids]
        self.visible.difference_update(ids)
        self.allocated.difference_update(op.name for op in self.added if isinstance(op, Alloc))


class Recorder(Builder):
    """Collects operations; remembers those of the regions that are open."""

    def __init__(self, first_id: int = 1) -> None:
        super().__init__(first_id)
        self._visible: list[set[int]] = [set()]
        self._allocated: list[set[str]] = [set()]
        self._made: dict[int, Op] = {}
        self._types: dict[str, ValueType] = {}
        self._ended: set[str] = set()
        self._opened: list[int] = [new_age()]
        self._outside: list[_Outside] = []

    @contextmanager
    def region(self) -> Iterator[list[Op]]:
        """A nested region; what it holds is out of sight once it is closed."""
        body: list[Op] = []
        self._regions.append(body)
        self._visible.append(set())
        self._allocated.append(set())
        self._opened.append(new_age())
        try:
            yield body
        finally:
            self._regions.pop()
            self._visible.pop()
            self._allocated.pop()
            self._opened.pop()

    @contextmanager
    def outside(self, age: int, *expressions: Expr) -> Iterator[None]:
        """What is emitted is added to the region in which something of `age` was made that `expressions` stand for."""
        stacks: tuple[list[Any], ...] = (self._regions, self._visible, self._allocated, self._opened)
        inner: list[list[Any]] = []
        while len(self._opened) > 1 and self._opened[-1] > age:
            inner.append([stack.pop() for stack in stacks])
        while inner and not all(map(self.sees, expressions)):
            for stack, last in zip(stacks, inner.pop(), strict=True):
                stack.append(last)
        start = len(self._regions[-1])
        try:
            yield
        finally:
            added = tuple(self._regions[-1][start:])
            self._outside.append(_Outside(self._regions[-1], self._visible[-1], self._allocated[-1], added))
            for level in reversed(inner):
                for stack, last in zip(stacks, level, strict=True):
                    stack.append(last)

    def mark(self) -> int:
        """How often something was added to a region around the current one."""
        return len(self._outside)

    def take_back(self, mark: int) -> None:
        """Takes out what was added to regions around the current one since `mark`."""
        while len(self._outside) > mark:
            self._outside.pop().take_back()

    @contextmanager
    def continued(self, body: list[Op]) -> Iterator[None]:
        """Opens a closed region again: what is emitted is added at its end and sees what stands in it."""
        with self.region() as added:
            self._visible[-1].update(op.id for op in body)
            self._allocated[-1].update(op.name for op in body if isinstance(op, Alloc))
            yield
        body.extend(added)

    def emit(self, operation: type[OperationType], **fields: Any) -> OperationType:
        """Appends an operation to the current region and returns it."""
        made = super().emit(operation, **fields)
        self._visible[-1].add(made.id)
        self._made[made.id] = self._regions[-1][-1]
        if isinstance(made, Alloc):
            self._allocated[-1].add(made.name)
            self._types[made.name] = made.type
        return made

    def problem(self, body: Sequence[Op]) -> str:
        """What is wrong with the operations of `body`, each looked at alone; "" if nothing is."""
        for op in operations(body):
            for problem in value_problems(op, self._made):
                return problem
            for access in accesses(op):
                for problem in access_problems(access, self._types.get(access.buffer)):
                    return problem
        return ""

    def adopt(self, body: Sequence[Op]) -> None:
        """Appends the operations of a closed region to the current one, which sees them from now on."""
        self._regions[-1].extend(body)
        self._visible[-1].update(op.id for op in body)
        self._allocated[-1].update(op.name for op in body if isinstance(op, Alloc))

    def end(self, variable: str) -> None:
        """From now on the loop variable `variable` is out of sight."""
        self._ended.add(variable)

    def give_back(self, variable: str) -> None:
        """The name `variable` may stand for something else from now on."""
        self._ended.discard(variable)

    @property
    def path(self) -> tuple[Span, ...]:
        """Where what is emitted stands, and all that it was reached through, each place once."""
        found = [item if isinstance(item, Span) else item.span for item in self._spans]
        self._spans[:] = found
        return tuple(dict.fromkeys(found))

    @property
    def buffers_in_sight(self) -> tuple[str, ...]:
        """The buffers that were allocated where they can be seen from here."""
        return tuple(sorted(name for level in self._allocated for name in level))

    def sees(self, expression: Expr) -> bool:
        """Whether every result and every loop variable that `expression` uses can be seen from here."""
        if isinstance(expression, Const):
            return True
        if not self._ended.isdisjoint(symbols_in(expression)):
            return False
        refs = refs_in(expression)
        return not refs or all(any(id in level for level in reversed(self._visible)) for id in refs)

    def sees_buffer(self, name: str) -> bool:
        """Whether the buffer `name` was allocated where it can be seen from here."""
        return any(name in level for level in self._allocated)
