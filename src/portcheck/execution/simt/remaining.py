"""Declarations, fences, checks, and what cannot be run."""

from __future__ import annotations

import numpy as np

from portcheck.core.dtype import BOOL
from portcheck.execution.arithmetic.formats import Value, storage
from portcheck.execution.simt.batch import Batch
from portcheck.execution.simt.compilation import Code, Compilation, Step
from portcheck.execution.simt.events import EventKind
from portcheck.execution.simt.expressions import code_of, compiled
from portcheck.ir import (
    Alloc,
    Assume,
    Call,
    Check,
    CheckKind,
    Collective,
    Opaque,
    Sort,
    Space,
)  # fmt: skip

_MOST_PRINTED = 16
"""Threads whose values are kept of one print."""


def allocate(compilation: Compilation, op: Alloc) -> Step | None:
    """A variable or local array without values; shared memory is there for the whole block and stays as it is."""
    if op.type.space is Space.SHARED:
        return None
    name = op.name
    if compilation.buffers[name].is_variable:
        return lambda batch: batch.registers[name].reset()
    if compilation.buffers[name].base:
        return None
    return lambda batch: batch.views[name].storage.forget()


def assume(compilation: Compilation, op: Assume) -> Step:
    """A condition that the source relies on."""
    return _watched(compiled(compilation, op.condition, BOOL).code, EventKind.ASSUMPTION_BROKEN, op, "")


def check(compilation: Compilation, op: Check) -> Step:
    """An assertion, a trap, a print, or a look at the clock, which counts steps here."""
    if op.kind is CheckKind.ASSERT:
        return _watched(compiled(compilation, op.condition, BOOL).code, EventKind.ASSERTION_FAILED, op, op.message)
    if op.kind is CheckKind.TRAP:
        return lambda batch: _trap(batch, op)
    if op.kind is CheckKind.PRINT:
        return _print(op, [code_of(compilation, operand) for operand in op.operands])
    slot = compilation.slot(op.id)
    kept = storage(op.type.dtype) if op.type is not None else np.dtype(np.int64)

    def run(batch: Batch) -> None:
        batch.slots[slot] = np.int64(batch.budget.spent).astype(kept)

    return run


def _watched(condition: Code, kind: EventKind, op: Assume | Check, message: str) -> Step:
    def run(batch: Batch) -> None:
        holds = condition(batch)
        if holds.all():
            return
        failed = np.flatnonzero(~np.broadcast_to(holds, batch.active.count))
        batch.report(kind, op.span, message or "a condition does not hold", batch.numbers()[failed[0]], len(failed))

    return run


def _trap(batch: Batch, op: Check) -> None:
    raise batch.stop(EventKind.TRAP, op.span, op.message or "a trap was reached")


def _print(op: Check, operands: list[Code]) -> Step:
    def run(batch: Batch) -> None:
        shown = min(batch.active.count, _MOST_PRINTED)
        values = [np.broadcast_to(operand(batch), batch.active.count)[:shown] for operand in operands]
        for position, thread in enumerate(batch.numbers()[:shown]):
            row = tuple(_plain(value[position]) for value in values)
            batch.report(EventKind.PRINT, op.span, op.message, thread, values=row)

    return run


def _plain(number: Value) -> int | float | bool:
    if number.dtype.kind in "iub":
        plain: int | bool = number.item()
        return plain
    return float(number)


def unknown(compilation: Compilation, op: Opaque | Call) -> Step | None:
    """Ends the run; nothing at all where it only gives a result, which is never used.

    A statement that was not understood may change what has no buffer (a pointer, which thread goes on where).
    """
    has_effect = op.type is None or bool(op.writes) or compilation.uses[op.id] > 0
    if not has_effect:
        return None
    if isinstance(op, Opaque):
        text = f"not understood, so not executed: {op.reason}"
    else:
        text = f"{op.callee} is not at hand, so not executed"

    def run(batch: Batch) -> None:
        raise batch.stop(EventKind.NOT_EXECUTED, op.span, text)

    return run


def not_of_threads(compilation: Compilation, op: Sort | Collective) -> Step:
    """Ends the run: what only tiles and cores do."""
    text = f"{type(op).__name__.lower()} is not executed for threads"

    def run(batch: Batch) -> None:
        raise batch.stop(EventKind.NOT_EXECUTED, op.span, text)

    return run
