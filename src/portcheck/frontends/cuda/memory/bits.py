"""Copies of bits: memory moved as a wider type than the one it holds."""

from __future__ import annotations

from portcheck.core.dtype import INT32
from portcheck.frontends.cuda.memory.views import moved
from portcheck.frontends.cuda.model.layout import size_of, size_of_dtype
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Nothing, Place, TypeKind, Value
from portcheck.ir import ZERO, Access, Axis, AxisKind, Copy, Symbol, integer


def is_reinterpreted(state: State, value: Value) -> bool:
    """Whether `value` is memory seen as another type than the one it holds."""
    if not isinstance(value, Place) or value.remaining or not value.index:
        return False
    buffer = state.buffers.get(value.buffer)
    dtype = value.type.fields[0][1].dtype if value.type.kind is TypeKind.VECTOR else value.type.dtype
    return buffer is not None and dtype is not None and dtype != buffer.dtype


def copy_bits(state: State, target: Value, source: Value) -> Value | None:
    """Moves elements that both sides hold in one type; None where they do not, or where the width does not fit."""
    if not isinstance(target, Place) or not isinstance(source, Place) or not is_reinterpreted(state, target):
        return None
    if target.rest != ZERO or source.rest != ZERO:
        return None
    to, from_ = state.buffers[target.buffer], state.buffers[source.buffer]
    width, held = size_of(state, source.type), size_of_dtype(state, to.dtype)
    is_same_width = width is not None and width == size_of(state, target.type)
    if to.constant or to.dtype != from_.dtype or not held or not width or not is_same_width or width % held:
        return None
    axis = Axis(state.unique("lane"), AxisKind.FREE, integer(width // held))
    accesses = [
        Access(
            buffer=place.buffer, index=(*place.index[:-1], moved(place.index[-1], Symbol(axis.name, INT32))),
            axes=(axis,), mask=state.mask, is_volatile=place.type.volatile,
        )
        for place in (target, source)
    ]  # fmt: skip
    state.builder.emit(Copy, destination=accesses[0], source=accesses[1], via="=")
    return Nothing()
