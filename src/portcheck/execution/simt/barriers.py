"""Barriers: who arrives, who should have, what is agreed on."""

from __future__ import annotations

from typing import cast

import numpy as np

from portcheck.core.dtype import BOOL, INT64
from portcheck.core.errors import InputError
from portcheck.execution.simt.batch import Batch
from portcheck.execution.simt.compilation import Code, Compilation, Step
from portcheck.execution.simt.events import EventKind
from portcheck.execution.simt.expressions import code_of, compiled
from portcheck.execution.simt.formats import Value, storage
from portcheck.ir import Barrier, Operator, Scope

GRID_WIDE = frozenset({Scope.GRID, Scope.CLUSTER})
"""Barriers that need all blocks in flight at once."""


def barrier(compilation: Compilation, op: Barrier) -> Step:
    """All threads of a scope wait for each other: what they did before is ordered before what they do next."""
    participants = None if op.participants is None else code_of(compilation, op.participants, INT64)
    agree = _agreement(compilation, op)
    if op.scope is Scope.WARP:
        return _warp_barrier(op, participants)

    def run(batch: Batch) -> None:
        _check_block(batch, op, participants)
        if agree is not None:
            batch.slots[slot] = agree(batch)
        batch.pass_barrier()

    slot = compilation.slot(op.id)
    return run


def _warp_barrier(op: Barrier, participants: Code | None) -> Step:
    def run(batch: Batch) -> None:
        if participants is not None:
            _check_warp(batch, op, participants(batch))
        batch.pass_exchange()

    return run


def _check_warp(batch: Batch, op: Barrier, mask: Value) -> None:
    """Reports lanes that the mask names, that live, and that are not here."""
    warps, count = batch.warps(), batch.warp_count
    bits = np.exp2(np.arange(batch.warp_size))
    here = np.bincount(warps, bits[batch.lanes()], count).astype(np.int64)
    everywhere = np.arange(batch.threads)
    alive = everywhere if batch.returned is None else everywhere[~batch.returned]
    lanes = alive % batch.geometry.threads % batch.warp_size
    living = np.bincount(batch.warps_of(alive), bits[lanes], count).astype(np.int64)
    missing = np.flatnonzero(mask & living[warps] & ~here[warps])
    if missing.size:
        text = "waits for lanes of its warp that do not come"
        batch.report(EventKind.BARRIER_DIVERGENCE, op.span, text, batch.numbers()[missing[0]], len(missing))


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
