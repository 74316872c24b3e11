"""Who takes part in an operation of a warp: the lanes that a mask names, those that are here, those that live."""

from __future__ import annotations

from typing import cast

import numpy as np

from portcheck.core.dtype import INT64
from portcheck.execution.arithmetic.formats import Value
from portcheck.execution.simt.batch import Batch
from portcheck.execution.simt.compilation import Compilation
from portcheck.execution.simt.events import EventKind
from portcheck.execution.simt.expressions import code_of
from portcheck.execution.simt.ordering import Meeting, meeting
from portcheck.ir import Expr, Operation
from portcheck.knowledge import Role, load


class Participants:
    """The lanes that take part in an operation: those of its mask, or all where the source states a full one."""

    def __init__(self, compilation: Compilation, mask: Expr | None, op: Operation, kind: EventKind) -> None:
        construct = load().construct(op.via)
        self._mask = None if mask is None else code_of(compilation, mask, INT64)
        self._full = cast(Value, np.int64((1 << compilation.warp_size) - 1))
        self._is_named = construct is not None and any(part.role is Role.MASK for part in construct.parameters)
        self._span, self._kind = op.span, kind

    def mask(self, batch: Batch) -> Value | None:
        """The mask, None for all lanes; reports lanes that are named and do not come, or come and are not named."""
        given = None if self._mask is None else self._mask(batch)
        if given is not None or (self._is_named and not batch.is_everyone):
            self._check(batch, self._full if given is None else given)
        return given

    def _check(self, batch: Batch, mask: Value) -> None:
        key = ("named", int(mask), batch.living, self._is_named) if mask.ndim == 0 else None
        cache = batch.active.cache
        if key is not None and key in cache:
            return
        lanes = batch.lanes()
        missing = np.flatnonzero(mask & _living(batch) & ~_here(batch))
        strangers = np.flatnonzero((mask >> lanes) & 1 == 0) if self._is_named else missing
        if missing.size:
            self._report(batch, missing, "waits for lanes of its warp that do not come")
        elif strangers.size:
            self._report(batch, strangers, "is not among the lanes that its mask names")
        elif key is not None:
            cache[key] = lanes

    def _report(self, batch: Batch, positions: Value, text: str) -> None:
        batch.report(self._kind, self._span, text, batch.numbers()[positions[0]], len(positions), subject="mask")


def meet(batch: Batch, mask: Value | None = None, size: Value | None = None) -> None:
    """The active lanes that a mask, or a part of a warp of some size, brings together wait for each other."""
    is_uniform = (mask is None or mask.ndim == 0) and (size is None or size.ndim == 0)
    key = (
        (None if mask is None else int(mask), None if size is None else int(size), batch.living) if is_uniform else None
    )
    known = None if key is None else batch.active.meetings.get(key)
    if known is None:
        known = _meeting(batch, mask, size)
        if key is not None:
            batch.active.meetings[key] = known
    batch.meet(known)


def _meeting(batch: Batch, mask: Value | None, size: Value | None) -> Meeting:
    lanes, bits = batch.lanes(), _here(batch)
    if mask is not None:
        bits = bits & mask
    elif size is not None:
        first = lanes // size * size
        bits = bits & (((np.int64(1) << size) - 1) << first)
    return meeting(batch.places(), bits, _living(batch), batch.warp_size)


def _here(batch: Batch) -> Value:
    """For each active thread the active lanes of its warp, as a bit mask."""
    cache = batch.active.cache
    found = cache.get("here")
    if found is None:
        found = cache["here"] = _bits(batch, batch.warps(), batch.lanes())[batch.warps()]
    return found


def _living(batch: Batch) -> Value:
    """For each active thread the lanes of its warp that have not returned, as a bit mask."""
    key, cache = ("living", batch.living), batch.active.cache
    found = cache.get(key)
    if found is None:
        everywhere = np.arange(batch.threads)
        alive = everywhere if batch.returned is None else everywhere[~batch.returned]
        lanes = alive % batch.geometry.threads % batch.warp_size
        found = cache[key] = _bits(batch, batch.warps_of(alive), lanes)[batch.warps()]
    return found


def _bits(batch: Batch, warps: Value, lanes: Value) -> Value:
    return np.bincount(warps, np.exp2(lanes), batch.warp_count).astype(np.int64)
