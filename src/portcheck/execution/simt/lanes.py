"""Shuffles and votes: what the lanes of a warp take from each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from portcheck.core.dtype import BOOL, INT64
from portcheck.core.errors import InputError
from portcheck.execution.arithmetic.formats import Value, storage
from portcheck.execution.simt.batch import Active, Batch
from portcheck.execution.simt.compilation import Code, Compilation, Step
from portcheck.execution.simt.events import EventKind
from portcheck.execution.simt.expressions import code_of, compiled
from portcheck.execution.simt.participants import Participants, meet
from portcheck.ir import Exchange, ExchangeKind

_SHUFFLES = frozenset({ExchangeKind.XOR, ExchangeKind.DOWN, ExchangeKind.UP, ExchangeKind.INDEX})


def exchange(compilation: Compilation, op: Exchange) -> Step:
    """Moves a value between the lanes of a warp, or votes on one; orders what the lanes did before."""
    slot, waits = compilation.slot(op.id), op.kind is not ExchangeKind.ACTIVE
    width = code_of(compilation, op.width, INT64)
    lanes = Participants(compilation, op.lanes_mask, op, EventKind.LANE_MISSING)
    mask = None if op.lanes_mask is None else code_of(compilation, op.lanes_mask, INT64)
    if op.kind in _SHUFFLES:
        operand = compiled(compilation, op.operand, op.type.dtype).code
        taken = _shuffled(op, operand, code_of(compilation, op.lane, INT64), width, mask)
    else:
        taken = _voted(compilation, op, width, mask)

    def run(batch: Batch) -> None:
        batch.slots[slot] = taken(batch)
        if waits:
            meet(batch, lanes.mask(batch), width(batch))

    return run


def positions_of(batch: Batch, threads: Value, exist: Value) -> Value:
    """Where threads stand among the active ones; -1 for those that do not exist or are not active."""
    active = batch.active
    inside = np.where(exist, threads, 0)
    if active.index is None:
        return np.where(exist, inside, -1)
    return np.where(exist, _table(batch, active).take(inside), -1)


def _table(batch: Batch, active: Active) -> Value:
    table = active.cache.get("table")
    if table is None:
        table = np.full(batch.threads, -1)
        table[active.index] = np.arange(active.count)
        active.cache["table"] = table
    return table


def _shuffled(op: Exchange, operand: Code, lane: Code, width: Code, mask: Code | None) -> Code:
    kind, span = op.kind, op.span

    def shuffled(batch: Batch) -> Value:
        value, offset, size = operand(batch), lane(batch), width(batch)
        participants = None if mask is None else mask(batch)
        sources, missing = _sources(batch, kind, offset, size, participants)
        if missing.size:
            thread = batch.numbers()[missing[0]]
            text = "takes a value from a lane that does not take part"
            batch.report(EventKind.LANE_MISSING, span, text, thread, len(missing))
        return value if value.ndim == 0 else value.take(sources)

    return shuffled


def _sources(
    batch: Batch, kind: ExchangeKind, offset: Value, width: Value, mask: Value | None
) -> tuple[Value, Value]:  # fmt: skip
    """The position each active thread takes its value from, and the positions whose source is missing."""
    is_uniform = offset.ndim == 0 and width.ndim == 0 and (mask is None or mask.ndim == 0)
    key = ("source", kind, int(offset), int(width), None if mask is None else int(mask)) if is_uniform else None
    missing_key = ("missing", key)
    cache = batch.active.cache
    if key is not None and key in cache:
        return cache[key], cache[missing_key]
    lanes = batch.lanes()
    lane = _source_lane(kind, lanes, offset, width, batch.warp_size)
    ranks = batch.ranks() - lanes + lane
    sources = positions_of(batch, batch.numbers() - lanes + lane, ranks < batch.geometry.threads)
    is_missing = sources < 0
    if mask is not None:
        is_missing |= ((mask >> lane) & 1) == 0
    missing = np.flatnonzero(is_missing)
    sources = np.where(is_missing, np.arange(batch.active.count), sources)
    if key is not None:
        cache[key], cache[missing_key] = sources, missing
    return sources, missing


def _source_lane(kind: ExchangeKind, lanes: Value, offset: Value, width: Value, warp_size: int) -> Value:
    """The lane that each lane takes from; its own where CUDA says so (see `ExchangeKind`)."""
    start = lanes - lanes % width
    if kind is ExchangeKind.INDEX:
        return cast(Value, start + offset % width)
    offset = offset & (warp_size - 1)  # the instruction reads as many bits as a lane needs (PTX ISA, shfl.sync)
    if kind is ExchangeKind.UP:
        return np.where(lanes - offset < start, lanes, lanes - offset)
    lane = lanes ^ offset if kind is ExchangeKind.XOR else lanes + offset
    return np.where(lane >= start + width, lanes, lane)


def _voted(compilation: Compilation, op: Exchange, width: Code, mask: Code | None) -> Code:
    kept = storage(op.type.dtype)
    vote = _VOTES.get(op.kind)
    if vote is None and op.kind is not ExchangeKind.MATCH:
        raise InputError(f"an exchange of kind {op.kind} is not executed")
    dtype = BOOL if vote is not None else None
    operand = compiled(compilation, op.operand, dtype).code

    def voted(batch: Batch) -> Value:
        value = np.broadcast_to(operand(batch), batch.active.count)
        size, lanes = width(batch), batch.lanes()
        groups = batch.warps() * (batch.warp_size // size) + lanes // size
        takes_part = np.ones(len(lanes), np.bool_) if mask is None else ((mask(batch) >> lanes) & 1) == 1
        if vote is None:
            groups = _equal_groups(groups, value)
        result = (vote or _ballot)(groups, value if vote else takes_part, takes_part, lanes % size)
        return result.astype(kept)

    return voted


def _ballot(groups: Value, value: Value, takes_part: Value, bits: Value) -> Value:
    weights = np.where(value & takes_part, np.exp2(bits), 0.0)
    return np.bincount(groups, weights)[groups].astype(np.int64)


def _any(groups: Value, value: Value, takes_part: Value, bits: Value) -> Value:
    return cast(Value, np.bincount(groups, value & takes_part)[groups] > 0)


def _all(groups: Value, value: Value, takes_part: Value, bits: Value) -> Value:
    return cast(Value, np.bincount(groups, ~value & takes_part)[groups] == 0)


def _equal_groups(groups: Value, value: Value) -> Value:
    """One number for each group and value, bit for bit."""
    bits = np.ascontiguousarray(value).view(np.dtype(f"u{value.dtype.itemsize}")).astype(np.int64)
    _, found = np.unique(np.stack([groups, bits], axis=1), axis=0, return_inverse=True)
    return found.reshape(-1)


_VOTES: dict[ExchangeKind, Callable[[Value, Value, Value, Value], Value]] = {
    ExchangeKind.VOTE_ANY: _any, ExchangeKind.VOTE_ALL: _all, ExchangeKind.BALLOT: _ballot,
    ExchangeKind.ACTIVE: _ballot,
}  # fmt: skip
