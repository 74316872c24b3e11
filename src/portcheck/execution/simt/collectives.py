"""Reductions and scans over the lanes of a warp or the threads of a block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portcheck.core.dtype import INT64
from portcheck.core.errors import InputError
from portcheck.execution.arithmetic.conversions import conversion
from portcheck.execution.arithmetic.formats import Value
from portcheck.execution.arithmetic.operators import Function, function
from portcheck.execution.simt.batch import Batch
from portcheck.execution.simt.compilation import Code, Compilation, Step
from portcheck.execution.simt.events import EventKind
from portcheck.execution.simt.expressions import code_of
from portcheck.execution.simt.lanes import positions_of
from portcheck.execution.simt.participants import Participants, meet
from portcheck.execution.simt.tiles import reduce_dimensions, scan_dimension
from portcheck.ir import Reduce, Scan, Scope

_GROUPED = frozenset({Scope.WARP, Scope.BLOCK})


@dataclass(frozen=True, slots=True)
class Groups:
    """Active threads in rows of one group each: their positions (-1: no thread), and which take part."""

    positions: Value
    takes_part: Value

    def spread(self, results: Value, count: int) -> Value:
        """For each active thread what stands at its place in `results`, which has a row or place for each."""
        spread = np.zeros(count, results.dtype)
        places = self.positions >= 0
        spread[self.positions[places]] = np.broadcast_to(results, self.positions.shape)[places]
        return spread


def _groups(batch: Batch, lanes: int, scope: Scope, mask: Value | None) -> Groups:
    size = batch.geometry.threads if scope is Scope.BLOCK else batch.warp_size
    each = min(lanes, size) if scope is Scope.BLOCK else lanes
    starts = np.arange(0, batch.geometry.threads, each)
    ranks = starts[:, None] + np.arange(each)
    exist = np.broadcast_to(ranks < batch.geometry.threads, (batch.blocks, *ranks.shape))
    blocks = np.arange(batch.blocks)[:, None, None] * batch.geometry.threads
    positions = positions_of(batch, blocks + ranks, exist).reshape(-1, each)
    positions = positions[(positions >= 0).any(axis=1)]
    takes_part = positions >= 0
    if mask is not None:
        masks = np.broadcast_to(mask, batch.active.count)
        positions = _apart(positions, masks)
        own = (masks >> batch.lanes()) & 1
        takes_part = (positions >= 0) & (own.take(positions) == 1)
    return Groups(positions, takes_part)


def _apart(positions: Value, masks: Value) -> Value:
    """Threads of one row that name different masks, in a row for each mask."""
    named = masks.take(positions)
    first = named[np.arange(len(named)), (positions >= 0).argmax(axis=1)]
    is_one = ((named == first[:, None]) | (positions < 0)).all(axis=1)
    if is_one.all():
        return positions
    rows = [positions[is_one]]
    for row, held in zip(positions[~is_one], named[~is_one], strict=True):
        found = np.unique(held[row >= 0])
        rows.append(np.where(held == found[:, None], row, -1))
    return np.concatenate(rows)


def reduce(compilation: Compilation, op: Reduce) -> Step:
    """A reduction over lanes by halves, as a butterfly of shuffles does it; or one along dimensions of a tile."""
    if op.lanes is None:
        return reduce_dimensions(compilation, op)
    kept = op.accumulate.dtype
    operand, find = code_of(compilation, op.operand, kept), _finder(compilation, op)
    combine, narrow = function(op.operator, kept, (kept, kept)), conversion(kept, op.type.dtype)
    slot = compilation.slot(op.id)

    def run(batch: Batch) -> None:
        groups = find(batch)
        value = np.broadcast_to(operand(batch), batch.active.count)
        totals = _by_halves(value[groups.positions], groups.takes_part, combine)
        batch.slots[slot] = narrow(groups.spread(totals, batch.active.count))

    return run


class _Finder:
    """The groups of an operation over lanes."""

    def __init__(self, lanes: Code, participants: Participants, op: Reduce | Scan) -> None:
        self._lanes, self._participants, self._scope, self._span = lanes, participants, op.scope, op.span

    def __call__(self, batch: Batch) -> Groups:
        lanes = self._lanes(batch)
        if lanes.ndim or lanes < 1:
            raise batch.stop(EventKind.NOT_EXECUTED, self._span, "groups of lanes of such sizes are not executed")
        mask = self._participants.mask(batch)
        meet(batch, mask, lanes if self._scope is Scope.WARP else None)
        return _groups(batch, int(lanes), self._scope, mask)


def _finder(compilation: Compilation, op: Reduce | Scan) -> _Finder:
    if op.scope not in _GROUPED or op.lanes is None:
        raise InputError(f"a reduction or scan over lanes of scope {op.scope} is not executed")
    participants = Participants(compilation, op.lanes_mask, op, EventKind.LANE_MISSING)
    return _Finder(code_of(compilation, op.lanes, INT64), participants, op)


def _by_halves(rows: Value, takes_part: Value, combine: Function) -> Value:
    """Each row combined to one number: place i with place i + half, halves of the next power of two."""
    width = 1 << (rows.shape[1] - 1).bit_length()
    missing = width - rows.shape[1]
    rows, takes_part = np.pad(rows, ((0, 0), (0, missing))), np.pad(takes_part, ((0, 0), (0, missing)))
    while width > 1:
        width //= 2
        left, right = rows[:, :width], rows[:, width:]
        has_left, has_right = takes_part[:, :width], takes_part[:, width:]
        both = combine(left, right)
        takes_part = has_left | has_right
        if (has_left & has_right).all():
            rows = both
        else:
            rows = np.where(has_left & has_right, both, np.where(has_left, left, right))
    return rows


def scan(compilation: Compilation, op: Scan) -> Step:
    """A scan over lanes, from lane to lane; or one along a dimension of a tile."""
    if op.lanes is None:
        return scan_dimension(compilation, op)
    if op.multiplier is not None or op.mask is not None:
        raise InputError("a scan over lanes with a multiplier or a mask is not executed")
    kept = (op.accumulate or op.type).dtype
    operand, find = code_of(compilation, op.operands[0], kept), _finder(compilation, op)
    initial = None if op.initial is None else code_of(compilation, op.initial, kept)
    combine, narrow = function(op.operator, kept, (kept, kept)), conversion(kept, op.type.dtype)
    slot = compilation.slot(op.id)

    def run(batch: Batch) -> None:
        groups = find(batch)
        value = np.broadcast_to(operand(batch), batch.active.count)
        rows = value[groups.positions]
        first = None if initial is None else np.broadcast_to(initial(batch), batch.active.count)[groups.positions[:, 0]]
        results = _running(op, rows, groups.takes_part, first, combine)
        batch.slots[slot] = narrow(groups.spread(results, batch.active.count))

    return run


def _running(op: Scan, rows: Value, takes_part: Value, initial: Value | None, combine: Function) -> Value:
    """The running combination along each row; a place that does not take part passes on what came before."""
    results = np.zeros_like(rows)
    before = np.zeros(len(rows), rows.dtype) if initial is None else initial
    has_before = np.full(len(rows), initial is not None)
    places = range(rows.shape[1])
    for place in reversed(places) if op.reverse else places:
        own, term = takes_part[:, place], rows[:, place]
        after = np.where(own, np.where(has_before, combine(before, term), term), before)
        results[:, place] = after if op.inclusive else before
        before, has_before = after, has_before | own
    return results
