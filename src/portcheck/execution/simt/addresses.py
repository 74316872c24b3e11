"""From an access to the elements it touches: indices, masks, what lies outside, and whose copy it is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np

from portcheck.core.dtype import BOOL, INT64
from portcheck.core.errors import InputError
from portcheck.core.source import Span
from portcheck.execution.arithmetic.formats import Value
from portcheck.execution.simt.batch import Batch
from portcheck.execution.simt.compilation import Code, Compilation
from portcheck.execution.simt.events import EventKind
from portcheck.execution.simt.expressions import called_with, code_of, compiled, extent_of
from portcheck.execution.simt.storage import Owner, View
from portcheck.ir import Access, Expr, Operator, Outside, apply, integer


@dataclass(frozen=True, slots=True)
class Elements:
    """The elements of one access: `flat` counts them over all owners of the view, for the positions `selected`.

    Positions run over the active threads and the axes, of the extents `shape` in all; `selected` is None where every
    one takes part. Without axes `flat` may be one number for all threads.
    """

    view: View
    flat: Value
    shape: tuple[int, ...]
    selected: Value | None = None

    def threads(self, batch: Batch) -> Value:
        """The numbers in the batch of the threads that touch the elements, one by one."""
        return self.of_threads(batch.numbers())

    def of_threads(self, values: Value) -> Value:
        """For each of the elements what `values` has for the thread that touches it."""
        each = math.prod(self.shape[1:])
        if self.selected is None:
            return values if each == 1 else np.repeat(values, each)
        return values.take(self.selected if each == 1 else self.selected // each)


Addressing: TypeAlias = Callable[[Batch], Elements]


@dataclass(frozen=True, slots=True)
class _Plan:
    """An access compiled: its extents along the axes, the code of its element number and of its mask."""

    name: str
    extents: tuple[int, ...]
    element: Code
    mask: Code | None
    outside: Outside
    span: Span
    verb: str


def addressing(compilation: Compilation, access: Access, span: Span, verb: str) -> Addressing:
    """How to find the elements of `access`; `verb` says in a report what was done to them."""
    if compilation.buffers[access.buffer].is_variable:
        raise InputError(f"the variable {access.buffer} is not accessed like an array")
    axes = tuple((axis.name, extent_of(compilation, axis.extent)) for axis in access.axes)
    rank = len(axes)
    with compilation.along(axes):
        element = _row_major(compilation, access, rank)
        mask = _mask(compilation, access, rank)
    extents = tuple(extent for _, extent in axes)
    plan = _Plan(access.buffer, extents, element, mask, access.outside, span, verb)
    return lambda batch: _elements(plan, batch)


def _mask(compilation: Compilation, access: Access, rank: int) -> Code | None:
    if access.mask is None:
        return None
    found = compiled(compilation, access.mask, BOOL, rank)
    return None if found.constant is not None and bool(found.constant) else found.code


def _row_major(compilation: Compilation, access: Access, rank: int) -> Code:
    """The number of the element; what depends on the thread alone is multiplied and added once."""
    if not access.index:
        return lambda batch: cast(Value, np.int64(0))
    if len(access.index) == 1:
        return code_of(compilation, access.index[0], INT64, rank)
    shape = compilation.buffers[access.buffer].shape
    strides = [math.prod(shape[position + 1 :]) for position in range(len(access.index))]
    parts = [_scaled(index, stride) for index, stride in zip(access.index, strides, strict=True)]
    total = code_of(compilation, parts[0], INT64, rank)
    for part in parts[1:]:
        total = called_with(np.add, [total, code_of(compilation, part, INT64, rank)])
    return total


def _scaled(index: Expr, stride: int) -> Expr:
    return index if stride == 1 else apply(Operator.MULTIPLY, index, integer(stride), dtype=INT64)


def _elements(plan: _Plan, batch: Batch) -> Elements:
    view = batch.views[plan.name]
    element = plan.element(batch)
    count = batch.active.count
    shape = (count, *plan.extents)
    selected: Value | None = None
    if plan.mask is not None:
        mask = plan.mask(batch)
        if not mask.all():
            selected = np.flatnonzero(np.broadcast_to(mask, shape))
    if plan.extents or selected is not None:
        element = np.broadcast_to(element, shape).reshape(-1)
    if selected is not None:
        element = element.take(selected)
    element, selected = _inside(plan, view, batch, Elements(view, element, shape, selected))
    return Elements(view, _owned(view, batch, element, shape, selected), shape, selected)


def _inside(plan: _Plan, view: View, batch: Batch, found: Elements) -> tuple[Value, Value | None]:
    """The elements that lie inside the buffer, after what `outside` says was done to the others."""
    element, selected = found.flat, found.selected
    if element.ndim == 0:
        if 0 <= element < view.extent:
            return element, selected
        element = np.full(found.shape[0], element)
    if not element.size or element.view(np.uint64).max() < view.extent:
        return element, selected
    if plan.outside is Outside.CLAMP:
        return np.clip(element, 0, view.extent - 1), selected
    if plan.outside is Outside.WRAP:
        return element % view.extent, selected
    if plan.outside is Outside.MIRROR:
        period = element % (2 * view.extent)
        return np.minimum(period, 2 * view.extent - 1 - period), selected
    is_inside = (element >= 0) & (element < view.extent)
    positions = np.flatnonzero(is_inside)
    if plan.outside in (Outside.UNDEFINED, Outside.ERROR):
        first = int(np.flatnonzero(~is_inside)[0])
        threads = Elements(view, element, found.shape, selected).threads(batch)
        text = f"{plan.verb} element {element[first]} of {plan.name}, which has {view.extent}"
        subject, outside = f"{plan.verb} {plan.name}", len(element) - len(positions)
        batch.report(EventKind.OUT_OF_BOUNDS, plan.span, text, threads[first], outside, subject=subject)
    return element.take(positions), positions if selected is None else selected.take(positions)


def _owned(view: View, batch: Batch, element: Value, shape: tuple[int, ...], selected: Value | None) -> Value:
    """Elements counted over all owners."""
    if view.storage.owner is Owner.GRID:
        return element
    owners = batch.block_numbers() if view.storage.owner is Owner.BLOCK else batch.numbers()
    key = ("start", view.storage.owner, view.stride)
    cache = batch.active.cache
    start = cache.get(key)
    if start is None:
        start = cache[key] = owners * view.stride
    if len(shape) > 1:
        start = np.repeat(start, int(np.prod(shape[1:], dtype=np.int64)))
    return element + (start if selected is None else start.take(selected))
