"""Barriers: who arrives, who should have, what is agreed on."""

from __future__ import annotations

from typing import cast

import numpy as np

from portcheck.core.dtype import BOOL, INT64
from portcheck.core.errors import InputError
from portcheck.execution.arithmetic.formats import Value, storage
from portcheck.execution.simt.batch import Batch
from portcheck.execution.simt.compilation import Code, Compilation, Step
from portcheck.execution.simt.events import EventKind
from portcheck.execution.simt.expressions import code_of, compiled
from portcheck.execution.simt.participants import Participants, meet
from portcheck.ir import Barrier, Operator, Scope

GRID_WIDE = frozenset({Scope.GRID, Scope.CLUSTER})
"""Barriers that need all blocks in flight at once."""


def barrier(compilation: Compilation, op: Barrier) -> Step:
    """All threads of a scope wait for each other: what they did before is ordered before what they do next."""
    if op.scope is Scope.WARP:
        lanes = Participants(compilation, op.participants, op, EventKind.BARRIER_DIVERGENCE)
        return lambda batch: meet(batch, lanes.mask(batch))
    participants = None if op.participants is None else code_of(compilation, op.participants, INT64)
    agree = _agreement(compilation, op)

    def run(batch: Batch) -> None:
        _check_block(batch, op, participants)
        if agree is not None:
            batch.slots[slot] = agree(batch)
        batch.pass_barrier(is_partial=participants is not None)

    slot = compilation.slot(op.id)
    return run


def _check_block(batch: Batch, op: Barrier, participants: Code | None) -> None:
    if batch.active.index is None:
        return
    blocks = batch.block_numbers()
    arrived = np.bincount(blocks, minlength=batch.blocks)
    alive = np.full(batch.blocks, batch.geometry.threads)
    if batch.returned is not None:
        alive = (~batch.returned).reshape(batch.blocks, -1).sum(axis=1)
    expected = alive
    if participants is not None:
        expected = np.minimum(alive, np.max(participants(batch)))
    late = arrived[blocks] < expected[blocks]
    if late.any():
        first = int(np.argmax(late))
        block = blocks[first]
        text = f"{arrived[block]} of the {expected[block]} threads of the block reach this barrier"
        batch.report(EventKind.BARRIER_DIVERGENCE, op.span, text, batch.numbers()[first], int(late.sum()))
    elif participants is None and (arrived[blocks] < batch.geometry.threads).any():
        first = int(np.argmax(arrived[blocks] < batch.geometry.threads))
        gone = batch.geometry.threads - arrived[blocks[first]]
        text = f"{gone} threads of the block have returned before this barrier"
        batch.report(EventKind.BARRIER_AFTER_EXIT, op.span, text, batch.numbers()[first])


def _agreement(compilation: Compilation, op: Barrier) -> Code | None:
    if op.combine is None or op.operand is None or op.type is None:
        return None
    if op.combine not in _AGREEMENTS:
        raise InputError(f"a barrier that combines with {op.combine} is not executed")
    operand, kept, combine = compiled(compilation, op.operand, BOOL).code, storage(op.type.dtype), op.combine

    def agreed(batch: Batch) -> Value:
        blocks = batch.block_numbers()
        holds = np.bincount(blocks, np.broadcast_to(operand(batch), batch.active.count), batch.blocks)
        arrived = np.bincount(blocks, minlength=batch.blocks)
        result = holds if combine is Operator.ADD else holds > 0
        if combine in _EVERY:
            result = holds == arrived
        return cast(Value, result[blocks].astype(kept))

    return agreed


_EVERY = frozenset({Operator.LOGICAL_AND, Operator.BITWISE_AND, Operator.MINIMUM})
_AGREEMENTS = _EVERY | {Operator.ADD, Operator.LOGICAL_OR, Operator.BITWISE_OR, Operator.MAXIMUM}
