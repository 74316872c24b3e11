"""Pointer variables that move: which buffer they point into where it may be one of several.

While a kernel is lowered it shows which buffers a variable may point into; it is then lowered again, with a register
beside the offset that holds the number of the buffer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from portcheck.core.dtype import INT32, INT64
from portcheck.frontends.cuda.memory.aims import REASON, are_alike, of_number, options_of, united
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import scalar_type
from portcheck.frontends.cuda.model.values import Place, Pointer, PointerCell, Value
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import Expr, OpaqueKind

_MOST_ATTEMPTS = 6
Lowered = TypeVar("Lowered")


def settled(state: State, attempt: Callable[[], Lowered]) -> Lowered:
    """What `attempt` gives once it shows no more buffers that a pointer variable may point into, or not."""
    state.several, state.doubted = {}, set()
    found = attempt()
    for _ in range(_MOST_ATTEMPTS):
        known = (dict(state.several), set(state.doubted))
        found = attempt() if any(known) else found
        if (state.several, state.doubted) == known:
            break
    return found


def pointed(state: State, cell: PointerCell) -> Pointer | None:
    """Where a pointer variable points now."""
    offset = state.load(Place(cell.offset, (), scalar_type(INT64)), INT64).expr
    buffer: str | None = cell.buffer
    if cell.selector:
        number = state.load(Place(cell.selector, (), scalar_type(INT32)), INT32).expr
        buffer = of_number(state, number, cell.options)
    return Pointer(buffer, (offset,), cell.type) if buffer is not None else None


def not_one_of(state: State, cell: PointerCell, buffer: str | None, node: Node) -> Value:
    """Notes that a pointer variable may point into another buffer, for the next time that the kernel is lowered."""
    state.doubted.add(cell.buffer)
    if buffer is not None:
        own = cell.options or options_of(state, cell.buffer)
        options = united(own, state.several.get(cell.offset, ()), options_of(state, buffer))
        if are_alike(state, options):
            state.several[cell.offset] = options
    written = (cell.offset, cell.selector) if cell.selector else (cell.offset,)
    return state.keep(node, REASON, (), written, kind=OpaqueKind.MEMORY)


def selecting(state: State, cell: PointerCell, number: Expr, name: str, depth: int | None = None) -> PointerCell:
    """`cell` with a variable that says which buffer it points into, at first that of this number."""
    options = state.several.get(cell.offset)
    if options is None:
        return cell
    selector = state.register(f"{name}.buffer", INT32, depth)
    with state.builder.region_at(depth):
        state.store(selector, number)
    return replace(cell, selector=selector.buffer, options=options)
