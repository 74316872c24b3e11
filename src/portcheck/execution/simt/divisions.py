"""Integers divided by 0: found where the quotient is wanted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from portcheck.core.dtype import BOOL
from portcheck.core.source import Span
from portcheck.execution.arithmetic.formats import Value
from portcheck.execution.simt.batch import Batch
from portcheck.execution.simt.compilation import Code, Compilation, Step
from portcheck.execution.simt.demand import Demand, Guards, Wanted, guarded_parts
from portcheck.execution.simt.events import EventKind
from portcheck.execution.simt.expressions import code_of, compiled
from portcheck.ir import (
    Apply,
    Call,
    Compute,
    Const,
    Expr,
    Kernel,
    Op,
    Opaque,
    Operator,
    While,
    accesses,
    operations,
    symbols_in,
)

_DIVISIONS = frozenset({
    Operator.TRUNCATED_DIVIDE, Operator.TRUNCATED_MODULO, Operator.FLOOR_DIVIDE, Operator.FLOOR_MODULO,
    Operator.CEILING_DIVIDE,
})  # fmt: skip


def wanted_in(kernel: Kernel) -> Wanted | None:
    """Where the values of a kernel are wanted; None where it divides by nothing that may be 0."""
    return Wanted(kernel) if any(_divisors(op) for op in operations(kernel.body)) else None


def division_check(compilation: Compilation, op: Op) -> Step | None:
    """Reports divisions by 0 in `op`, before it runs; None where there can be none."""
    if compilation.wanted is None or isinstance(op, While | Call | Opaque):
        return None  # the test of a `While` comes first
    checks: list[Callable[[Batch], None]] = []
    for divisor, guards in _divisors(op):
        demand = compilation.wanted.of(op)
        rank = len(op.type.shape) if isinstance(op, Compute) else 0
        code = compiled(compilation, divisor, None, rank)
        is_known = code.constant is not None and bool(np.all(code.constant))
        if demand is not None and not is_known:
            cases = tuple(tuple(dict.fromkeys((*guards, *others))) for others in demand)
            checks.append(_check(compilation, (divisor, cases), rank, op.span))
    if not checks:
        return None

    def run(batch: Batch) -> None:
        for check in checks:
            check(batch)

    return run


def _divisors(op: Op) -> list[tuple[Expr, Guards]]:
    """What `op` divides integers by that may be 0, with what holds there; nothing that runs along an axis."""
    axes = {axis.name for access in accesses(op) for axis in access.axes}
    found: dict[tuple[Expr, Guards], None] = {}
    if isinstance(op, Compute) and op.operator in _DIVISIONS and op.type.dtype.is_integer:
        found[(op.operands[1], () if op.mask is None else ((op.mask, True),))] = None
    for part, guards in guarded_parts(op):
        if isinstance(part, Apply) and part.operator in _DIVISIONS and part.dtype.is_integer:
            found[(part.arguments[1], guards)] = None
    return [
        (divisor, guards)
        for divisor, guards in found
        if not (isinstance(divisor, Const) and divisor.value)
        and not any(axes & symbols_in(expression) for expression in (divisor, *(guard for guard, _ in guards)))
    ]


def _check(compilation: Compilation, divided: tuple[Expr, Demand], rank: int, span: Span) -> Step:
    divisor, cases = divided
    value_of = code_of(compilation, divisor, None, rank)
    conditions = [[(code_of(compilation, guard, BOOL, rank), holds) for guard, holds in guards] for guards in cases]

    def run(batch: Batch) -> None:
        value = value_of(batch)
        if np.all(value):
            return
        is_zero = np.broadcast_to(value == 0, (batch.active.count, *value.shape[1:]))
        zeros = np.flatnonzero(is_zero & _reached(batch, conditions))
        if zeros.size:
            thread = batch.numbers()[zeros[0] // max(is_zero[0].size, 1)]
            batch.report(EventKind.DIVISION_BY_ZERO, span, "divides an integer by 0", thread, len(zeros))

    return run


def _reached(batch: Batch, cases: list[list[tuple[Code, bool]]]) -> Value:
    """Whether all conditions of one of `cases` are as they should be."""
    found: Value = np.zeros((), np.bool_)
    for conditions in cases:
        case: Value = np.ones((), np.bool_)
        for condition, holds in conditions:
            case = case & (condition(batch) == holds)
        found = found | case
    return found
