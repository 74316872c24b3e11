"""Memory as bytes: an element read or written as another number than its buffer holds."""

from __future__ import annotations

from dataclasses import replace

from portcheck.core.dtype import INT32, INT64, DType
from portcheck.frontends.cuda.memory.bytes import quotient
from portcheck.frontends.cuda.model.conversions import convert, materialised
from portcheck.frontends.cuda.model.layout import size_of_dtype
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import scalar_type
from portcheck.frontends.cuda.model.values import Buffer, Place, Scalar
from portcheck.ir import ZERO, Alloc, Apply, Cast, Const, Expr, Operator, Rounding, Space, ValueType, apply


def moved(base: Expr, step: Expr, backwards: bool = False) -> Expr:
    """`base + step`, where a base or step of 0 is left out and two numbers are added."""
    if is_zero(step):
        return base
    if is_zero(base) and not backwards:
        return step
    if isinstance(base, Const) and isinstance(step, Const) and base.dtype.is_integer and step.dtype.is_integer:
        return Const(int(base.value) + (-int(step.value) if backwards else int(step.value)), INT64)
    if isinstance(step, Const) and isinstance(base, Apply) and base.operator is Operator.ADD and base.dtype == INT64:
        known = base.arguments[1]
        if isinstance(known, Const):
            return moved(base.arguments[0], moved(known, step, backwards))
    if backwards:
        return apply(Operator.SUBTRACT, base, step, dtype=INT64)
    return apply(Operator.ADD, base, step, dtype=INT64)


def scaled(step: Expr, factor: int) -> Expr:
    """`step` times `factor`."""
    if factor == 1 or is_zero(step):
        return step
    if isinstance(step, Const) and isinstance(step.value, int):
        return Const(int(step.value) * factor, step.dtype)
    return apply(Operator.MULTIPLY, step, Const(factor, INT32), dtype=INT64)


def is_zero(expression: Expr) -> bool:
    """Whether `expression` is the number 0."""
    return isinstance(expression, Const) and expression.value == 0 and not isinstance(expression.value, bool)


def flat(state: State, name: str, indices: tuple[Expr, ...]) -> Expr:
    """Where an element lies, in elements from the start of its buffer."""
    if not indices:
        return ZERO
    shape = state.buffers[name].shape if name in state.buffers else ()
    offset = indices[0]
    for position, index in enumerate(indices[1:], start=1):
        extent = shape[position] if position < len(shape) else ZERO
        row = offset if is_zero(offset) else apply(Operator.MULTIPLY, offset, extent, dtype=INT64)
        offset = moved(row, index)
    return offset


def is_seen_as_held(state: State, place: Place) -> bool:
    """Whether a place is a whole element of its buffer, of the buffer's own number."""
    return place.type.dtype == state.buffers[place.buffer].dtype and is_zero(place.rest)


def load_element(state: State, place: Place, dtype: DType, via: str) -> Scalar | None:
    """The number at `place`, as the bytes there read in `dtype`; None where they cannot."""
    buffer = state.buffers[place.buffer]
    if is_seen_as_held(state, place):
        return state.load(place, dtype, via)
    if is_zero(place.rest) and _is_same_width(state, buffer, dtype):
        if buffer.dtype.is_integer and dtype.is_integer:
            return convert(state, state.load(place, buffer.dtype, via), dtype)
        if buffer.space is Space.REGISTER:
            operand = state.load(place, buffer.dtype, via).expr
            return state.result(Cast, dtype, operand=operand, rounding=Rounding.EXACT, bitwise=True)
    seen = seen_as(state, place, dtype)
    return None if seen is None else state.load(seen, dtype, via)


def store_element(state: State, place: Place, value: Scalar, via: str) -> bool:
    """Writes `value`, of the type of `place`, to its bytes; false where that cannot be said."""
    buffer = state.buffers[place.buffer]
    if is_seen_as_held(state, place):
        state.store(place, materialised(state, value), via)
        return True
    if is_zero(place.rest) and _is_same_width(state, buffer, value.dtype):
        if buffer.dtype.is_integer and value.dtype.is_integer:
            state.store(place, materialised(state, convert(state, value, buffer.dtype)), via)
            return True
        if buffer.space is Space.REGISTER:
            operand = materialised(state, value)
            bits = state.result(Cast, buffer.dtype, operand=operand, rounding=Rounding.EXACT, bitwise=True)
            state.store(place, bits.expr, via)
            return True
    seen = seen_as(state, place, value.dtype)
    if seen is not None:
        state.store(seen, materialised(state, value), via)
    return seen is not None


def _is_same_width(state: State, buffer: Buffer, dtype: DType) -> bool:
    width = size_of_dtype(state, dtype)
    return width is not None and width == size_of_dtype(state, buffer.dtype)


def seen_as(state: State, place: Place, dtype: DType) -> Place | None:
    """The same bytes as an element of a view in `dtype`; None where the width of either is not known.

    An address is a multiple of the width of what lies there (an access elsewhere is an error in CUDA), so that what is
    left over of a division is nothing.
    """
    buffer = state.buffers.get(place.buffer)
    held, wanted = size_of_dtype(state, buffer.dtype) if buffer is not None else None, size_of_dtype(state, dtype)
    if buffer is None or not held or not wanted or (dtype != buffer.dtype and buffer.name in state.aims):
        return None
    distance = moved(scaled(flat(state, place.buffer, place.index), held), place.rest)
    whole, left = quotient(distance, wanted)
    if not is_zero(left):
        left = Apply(Operator.TRUNCATED_DIVIDE, (left, Const(wanted, INT32)), INT64)
    name = place.buffer if dtype == buffer.dtype else _view(state, buffer, dtype, (held, wanted))
    type_ = replace(scalar_type(dtype), volatile=place.type.volatile)
    return Place(name, (moved(whole, left),), type_)


def _view(state: State, buffer: Buffer, dtype: DType, widths: tuple[int, int]) -> str:
    """The view of `buffer` in `dtype`, made once, where the buffer is."""
    key = (buffer.name, dtype)
    if key in state.views:
        return state.views[key]
    held, wanted = widths
    shape: tuple[Expr, ...] = ()
    if buffer.shape or buffer.space is Space.REGISTER:
        count: Expr = Const(1, INT32)
        for extent in buffer.shape:
            count = extent if count == Const(1, INT32) else apply(Operator.MULTIPLY, count, extent, dtype=INT64)
        whole, left = quotient(scaled(count, held), wanted)
        if not is_zero(left):
            left = Apply(Operator.TRUNCATED_DIVIDE, (left, Const(wanted, INT32)), INT64)
        shape = (moved(whole, left),)
    name = state.unique(f"{buffer.name}.{dtype}")
    state.views[key] = name
    state.buffers[name] = Buffer(name, dtype, shape, buffer.constant, buffer.space)
    with state.builder.region() as made:
        type_ = ValueType(dtype, shape, buffer.space)
        state.builder.emit(Alloc, name=name, type=type_, base=buffer.name, via="")
    if buffer.name in state.locals:
        state.locals.add(name)
    if buffer.name not in state.locals or not state.builder.insert_after(buffer.name, made[0]):
        state.hoisted.extend(made)
    return name
