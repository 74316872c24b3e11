"""Making operations: fresh ids, nested regions, results as expressions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any, TypeVar, cast

from portcheck.core.source import NOWHERE, Span
from portcheck.ir.expr import Ref
from portcheck.ir.ops import Op, Operation

OperationType = TypeVar("OperationType", bound=Operation)


class Builder:
    """Collects operations in source order; one builder numbers a whole program."""

    def __init__(self) -> None:
        self._ids = count(1)
        self._regions: list[list[Op]] = [[]]
        self._spans: list[Span] = [NOWHERE]

    @contextmanager
    def region(self) -> Iterator[list[Op]]:
        """Operations emitted inside the `with` block are collected in the list it gives, not in the outer region."""
        self._regions.append([])
        try:
            yield self._regions[-1]
        finally:
            self._regions.pop()

    @contextmanager
    def at(self, span: Span) -> Iterator[None]:
        """Operations emitted inside the `with` block stand at `span` unless they say otherwise."""
        self._spans.append(span)
        try:
            yield
        finally:
            self._spans.pop()

    @property
    def body(self) -> tuple[Op, ...]:
        """The operations of the current region so far."""
        return tuple(self._regions[-1])

    def emit(self, operation: type[OperationType], **fields: Any) -> OperationType:
        """Appends an operation with a fresh id to the current region and returns it."""
        fields.setdefault("span", self._spans[-1])
        made = operation(id=next(self._ids), **fields)
        self._regions[-1].append(cast(Op, made))
        return made

    def result(self, operation: type[Operation], **fields: Any) -> Ref:
        """Emits an operation and returns the expression that stands for its result."""
        made = self.emit(operation, **fields)
        return Ref(made.id, fields["type"].dtype)
