"""Making operations: fresh ids, nested regions, results as expressions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar, cast

from portcheck.core.source import NOWHERE, Span
from portcheck.ir.expr import Ref
from portcheck.ir.ops import Op, Operation

OperationType = TypeVar("OperationType", bound=Operation)


class Placed(Protocol):
    """What knows where it stands."""

    @property
    def span(self) -> Span:
        """Where it stands."""


class Builder:
    """Collects operations in source order; one builder numbers a whole program."""

    def __init__(self, first_id: int = 1) -> None:
        self.next_id = first_id
        self._regions: list[list[Op]] = [[]]
        self._spans: list[Span | Placed] = [NOWHERE]

    @contextmanager
    def region(self) -> Iterator[list[Op]]:
        """Operations emitted inside the `with` block are collected in the list it gives, not in the outer region."""
        self._regions.append([])
        try:
            yield self._regions[-1]
        finally:
            self._regions.pop()

    @contextmanager
    def at(self, span: Span | Placed) -> Iterator[None]:
        """Operations emitted inside the `with` block stand at `span`, or where it stands, unless they say otherwise."""
        self.enter(span)
        try:
            yield
        finally:
            self.leave()

    def enter(self, span: Span | Placed) -> None:
        """What is emitted from now on stands at `span`, or where it stands, until `leave` is called."""
        self._spans.append(span)

    def leave(self) -> None:
        """Goes back to where things stood before the last `enter`."""
        self._spans.pop()

    def go_on_at(self, next_id: int) -> None:
        """Leaves out the ids below `next_id`, which another builder gave away."""
        self.next_id = next_id

    def fresh(self) -> int:
        """An id that no operation has."""
        made = self.next_id
        self.next_id += 1
        return made

    @property
    def body(self) -> tuple[Op, ...]:
        """The operations of the current region so far."""
        return tuple(self._regions[-1])

    def emit(self, operation: type[OperationType], **fields: Any) -> OperationType:
        """Appends an operation with a fresh id to the current region and returns it."""
        if "span" not in fields:
            fields["span"] = self.here
        made = operation(id=self.fresh(), **fields)
        self._regions[-1].append(cast(Op, made))
        return made

    @property
    def here(self) -> Span:
        """Where what is emitted stands; worked out when it is first asked for."""
        span = self._spans[-1]
        if not isinstance(span, Span):
            span = self._spans[-1] = span.span
        return span

    def result(self, operation: type[Operation], **fields: Any) -> Ref:
        """Emits an operation and returns the expression that stands for its result."""
        made = self.emit(operation, **fields)
        return Ref(made.id, fields["type"].dtype)
