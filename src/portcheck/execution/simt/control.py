"""Control flow: bodies run for a set of threads, which branches and loops part and bring together again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from portcheck.core.dtype import BOOL
from portcheck.core.source import Span
from portcheck.execution.arithmetic.formats import Value
from portcheck.execution.simt.batch import Active, Batch
from portcheck.execution.simt.compilation import Compilation, Step
from portcheck.execution.simt.events import EventKind
from portcheck.execution.simt.expressions import compiled
from portcheck.ir import (
    Branch,
    Compute,
    Expr,
    Leave,
    LeaveKind,
    Loop,
    Op,
    Ref,
    Return,
    Symbol,
    While,
    operations,
    subexpressions,
)  # fmt: skip
from portcheck.ir.walk import expressions, regions

CompileStep = Callable[[Compilation, Op], Step | None]


@dataclass(frozen=True, slots=True)
class Body:
    """A list of operations, compiled.

    After an operation that threads may leave by, `live` names the slots that are used later on (None: nobody leaves).
    `inputs` are the slots that come from outside.
    """

    steps: tuple[tuple[Step, tuple[int, ...] | None], ...]
    inputs: tuple[int, ...]
    size: int
    span: Span

    def run(self, batch: Batch) -> None:
        """Runs the operations for the active threads, until none is left."""
        if not batch.budget.spend(self.size, batch.active.count):
            raise batch.stop(EventKind.BUDGET_SPENT, self.span, "the budget of steps is spent here")
        for step, live in self.steps:
            before = batch.active
            step(batch)
            after = batch.active
            if after is not before and live is not None:
                if not after.count:
                    return
                narrow(batch, live, before.positions_of(after))


def narrow(batch: Batch, slots: Iterable[int], positions: Value) -> None:
    """Keeps in `slots` what belongs to the threads at `positions`."""
    kept = batch.slots
    for slot in slots:
        value = kept[slot]
        if value is not None and value.ndim:
            kept[slot] = value[positions]


def body(compilation: Compilation, ops: Sequence[Op], compile_step: CompileStep, span: Span) -> Body:
    """Compiles a list of operations."""
    steps: list[tuple[Step, Op]] = []
    for op in ops:
        step = compile_step(compilation, op)
        if step is not None:
            steps.append((step, op))
    used: set[int] = set()
    made: set[int] = set()
    listed: list[tuple[Step, tuple[int, ...] | None]] = []
    for step, op in reversed(steps):
        listed.append((step, tuple(sorted(used - made)) if may_leave(op) else None))
        used |= _used(compilation, op)
        made |= _made(compilation, op)
    return Body(tuple(reversed(listed)), tuple(sorted(used - made)), max(len(listed), 1), span)


def _made(compilation: Compilation, op: Op) -> frozenset[int]:
    """The slots that `op`, or what it holds, gives a value to; nothing before it may have."""
    known = compilation.made.get(op.id)
    if known is None:
        made = {compilation.slots[op.id]} if op.id in compilation.slots else set()
        if isinstance(op, Loop):
            made.add(compilation.slot(op.variable))
        inner = (_made(compilation, part) for region in regions(op) for part in region)
        known = compilation.made[op.id] = frozenset(made.union(*inner))
    return known


def _used(compilation: Compilation, op: Op) -> frozenset[int]:
    """The slots that `op`, or what it holds, reads, its own results among them."""
    known = compilation.used.get(op.id)
    if known is None:
        used: set[int] = set()
        for expression in expressions(op):
            slots_in(compilation, expression, used)
        inner = (_used(compilation, part) for region in regions(op) for part in region)
        known = compilation.used[op.id] = frozenset(used.union(*inner))
    return known


def slots_in(compilation: Compilation, expression: Expr, found: set[int]) -> None:
    """Adds the slots that `expression` reads to `found`."""
    for part in subexpressions(expression):
        if isinstance(part, Ref):
            found.add(compilation.slot(part.id))
            product = compilation.definitions.get(part.id)
            if part.id in compilation.fused and isinstance(product, Compute):
                for operand in product.operands:
                    slots_in(compilation, operand, found)
        elif isinstance(part, Symbol) and part.name in compilation.slots:
            found.add(compilation.slots[part.name])


def may_leave(op: Op) -> bool:
    """Whether threads may be gone after `op`."""
    if isinstance(op, Leave | Return):
        return True
    if isinstance(op, Loop | While):
        return any(isinstance(inner, Return) for inner in operations((op,)))
    return isinstance(op, Branch) and any(isinstance(inner, Leave | Return) for inner in operations((op,)))


def branch(compilation: Compilation, op: Branch, compile_step: CompileStep) -> Step:
    """Runs one body for the threads that a condition holds for, then another for the others."""
    condition = compiled(compilation, op.condition, BOOL).code
    then = body(compilation, op.then, compile_step, op.span)
    otherwise = body(compilation, op.otherwise, compile_step, op.span)

    def run(batch: Batch) -> None:
        holds = condition(batch)
        if holds.ndim == 0 or holds.all():
            run_whole(batch, then if holds.all() else otherwise)
        elif not holds.any():
            run_whole(batch, otherwise)
        else:
            _both(batch, holds, then, otherwise)

    return run


def _both(batch: Batch, holds: Value, then: Body, otherwise: Body) -> None:
    outer = batch.active
    left: list[Active] = []
    is_whole = True
    for part, positions in ((then, np.flatnonzero(holds)), (otherwise, np.flatnonzero(~holds))):
        inner = outer.narrowed(positions)
        if part.steps:
            _run_for(batch, part, inner, positions)
        else:
            batch.active = inner
        is_whole = is_whole and batch.active is inner
        left.append(batch.active)
    batch.active = outer if is_whole else union(left)


def run_whole(batch: Batch, part: Body) -> None:
    """Runs `part` for all active threads; what it takes from outside is as before, also where some of them leave."""
    before = batch.active
    saved = [batch.slots[slot] for slot in part.inputs]
    part.run(batch)
    if batch.active is not before:
        for slot, value in zip(part.inputs, saved, strict=True):
            batch.slots[slot] = value


def _run_for(batch: Batch, part: Body, active: Active, positions: Value) -> None:
    """Runs `part` for some of the threads; what it takes from outside is as before afterwards."""
    saved = [batch.slots[slot] for slot in part.inputs]
    narrow(batch, part.inputs, positions)
    batch.active = active
    part.run(batch)
    for slot, value in zip(part.inputs, saved, strict=True):
        batch.slots[slot] = value


def union(parts: Sequence[Active]) -> Active:
    """The threads of disjoint sets."""
    index = np.sort(np.concatenate([cast(Value, part.index) for part in parts]))
    return Active(index, len(index))


def leave(compilation: Compilation, op: Leave) -> Step:
    """The active threads leave the iteration or the loop."""
    is_loop = op.kind is LeaveKind.LOOP

    def run(batch: Batch) -> None:
        leaving = batch.leaving
        assert leaving is not None
        if is_loop:
            leaving.loop[batch.numbers()] = True
            leaving.has_left = True
        else:
            leaving.iteration[batch.numbers()] = True
            leaving.has_skipped = True
        batch.active = nobody()

    return run


def leave_kernel(compilation: Compilation, op: Return) -> Step:
    """The active threads are done."""

    def run(batch: Batch) -> None:
        if batch.returned is None:
            batch.returned = np.zeros(batch.threads, np.bool_)
        batch.returned[batch.numbers()] = True
        batch.living -= batch.active.count
        batch.active = nobody()

    return run


def nobody() -> Active:
    """No thread at all."""
    return Active(np.zeros(0, np.int64), 0)
