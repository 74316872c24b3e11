"""Asynchronous copies: the copy happens at once, and what waits for it orders memory and nothing else.

A program that reads what was copied only after it waited, as it must, sees the same.
"""

from __future__ import annotations

from portcheck.core.dtype import INT32, INT64, DType
from portcheck.frontends.cuda.expressions.numbers import bits_of
from portcheck.frontends.cuda.memory.bytes import quotient
from portcheck.frontends.cuda.memory.places import target
from portcheck.frontends.cuda.memory.views import flat, moved, seen_as
from portcheck.frontends.cuda.model.constants import constant_value
from portcheck.frontends.cuda.model.conversions import convert, materialised
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Place, Pointer, Scalar
from portcheck.ir import (
    ZERO,
    Access,
    Axis,
    AxisKind,
    Const,
    Copy,
    Expr,
    Fence,
    Load,
    MemoryOrder,
    Operator,
    Scope,
    Store,
    Symbol,
    ValueType,
    apply,
    integer,
)  # fmt: skip


def copy_bytes(
    state: State, to: Pointer, from_: Pointer, size: Scalar, limit: Scalar | None = None, via: str = ""
) -> bool:
    """Moves `size` bytes between buffers; beyond `limit` bytes zeros are written. False where it cannot."""
    buffer = state.buffers.get(to.buffer)
    if buffer is None or buffer.constant:
        return False
    places = [seen_as(state, target(pointer), buffer.dtype) for pointer in (to, from_)]
    width = bits_of(state, buffer.dtype) // 8
    count = _elements(state, size, width)
    if count is None or places[0] is None or places[1] is None:
        return False
    axis = Axis(state.unique("lane"), AxisKind.FREE, count)
    reads = _along(state, places[1], axis)
    writes = _along(state, places[0], axis)
    if limit is None or _reaches(limit.expr, size.expr):
        state.builder.emit(Copy, destination=writes, source=reads, via=via)
        return True
    _copy_part(state, (writes, reads), axis, (limit, width), buffer.dtype)
    return True


def _elements(state: State, size: Scalar, width: int) -> Expr | None:
    """How many elements so many bytes are; None where they are no whole number of them."""
    if not width:
        return None
    known = constant_value(size.expr)
    if known is None:
        total = materialised(state, convert(state, size, INT64))
        whole, left = quotient(total, width)
        return whole if left == ZERO else apply(Operator.TRUNCATED_DIVIDE, total, Const(width, INT64), dtype=INT64)
    return integer(known // width) if known % width == 0 else None


def _reaches(limit: Expr, size: Expr) -> bool:
    return limit == size or (isinstance(limit, Const) and isinstance(size, Const) and limit.value >= size.value)


def _copy_part(
    state: State, accesses: tuple[Access, Access], axis: Axis, limit: tuple[Scalar, int], dtype: DType
) -> None:
    """The first bytes are copied, zeros follow."""
    writes, reads = accesses
    end = materialised(state, convert(state, limit[0], INT32))
    begin = apply(Operator.MULTIPLY, Symbol(axis.name, INT32), Const(limit[1], INT32), dtype=INT32)
    inside = apply(Operator.LESS, begin, end)
    mask = inside if reads.mask is None else apply(Operator.LOGICAL_AND, reads.mask, inside)
    read = Access(buffer=reads.buffer, index=reads.index, axes=(axis,), mask=mask)
    extent = axis.extent if axis.extent is not None else ZERO
    zero = Const(0.0 if dtype.is_float else 0, dtype)
    value = state.builder.result(Load, access=read, type=ValueType(dtype, (extent,)), fill=zero)
    state.builder.emit(Store, access=writes, value=value)


def _along(state: State, place: Place, axis: Axis) -> Access:
    offset: Expr = flat(state, place.buffer, place.index)
    index = moved(offset, Symbol(axis.name, INT64))
    return Access(buffer=place.buffer, index=(index,), axes=(axis,), mask=state.mask)


def landed(state: State, via: str) -> None:
    """What was copied can be looked at: nothing else is ordered."""
    state.builder.emit(Fence, scope=Scope.BLOCK, order=MemoryOrder.RELAXED, via=via)
