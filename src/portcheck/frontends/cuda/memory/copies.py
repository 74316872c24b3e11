"""Bytes copied and set: `memcpy`, `memset`, and values kept as the bytes they came as."""

from __future__ import annotations

from portcheck.core.dtype import INT32, INT64, UINT8
from portcheck.frontends.cuda.memory.bits import is_reinterpreted
from portcheck.frontends.cuda.memory.bytes import quotient
from portcheck.frontends.cuda.memory.places import pointer_of, read, scalar, target, write
from portcheck.frontends.cuda.memory.views import is_zero, moved, seen_as
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.constants import constant_value
from portcheck.frontends.cuda.model.conversions import convert
from portcheck.frontends.cuda.model.layout import size_of, size_of_dtype
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Aggregate, Handle, Place, TypeKind, Value
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import (
    ZERO,
    Access,
    Apply,
    Axis,
    AxisKind,
    Const,
    Copy,
    Expr,
    Operator,
    Space,
    Store,
    Symbol,
    integer,
)  # fmt: skip
from portcheck.knowledge import Construct, Role


def copy_bytes(state: State, call: CallSite, construct: Construct) -> Value | None:
    """`memcpy(destination, source, bytes)`; None where one of the two is not followed."""
    nodes = [call.at(construct, role) for role in (Role.DESTINATION, Role.SOURCE, Role.SIZE)]
    if nodes[0] is None or nodes[1] is None or nodes[2] is None:
        return None
    to, from_ = state.evaluate(nodes[0]), state.evaluate(nodes[1])
    count = scalar(state, state.evaluate(nodes[2]), nodes[2])
    done = moved_bytes(state, call.node, (to, from_), count.expr, call.via)
    return to if done else None


def moved_bytes(state: State, node: Node, sides: tuple[Value, Value], count: Expr, via: str) -> bool:
    """Copies `count` bytes between two addresses (destination, source); false where that cannot be said."""
    to, from_ = sides
    if isinstance(to, Handle) or isinstance(from_, Handle):
        return _through_value(state, node, sides, count)
    destination, source = pointer_of(state, to), pointer_of(state, from_)
    if destination is None or source is None:
        return False
    return _block(state, target(destination), target(source), count, via)


def _through_value(state: State, node: Node, sides: tuple[Value, Value], count: Expr) -> bool:
    """Copies a whole variable of several members, whose type says what the bytes are."""
    to, from_ = sides
    targets = [side.target for side in sides if isinstance(side, Handle)]
    held = next((target for target in targets if isinstance(target, Aggregate)), None)
    if held is None or size_of(state, held.type) != constant_value(count):
        return False
    places: list[Value] = []
    for side in (to, from_):
        pointer = pointer_of(state, side)
        if isinstance(side, Handle):
            places.append(side.target)
        elif pointer is not None:
            places.append(Place(pointer.buffer, pointer.index, held.type, rest=pointer.rest))
    if len(places) != len(sides):
        return False
    write(state, places[0], read(state, places[1], node), node)
    return True


def _block(state: State, to: Place, from_: Place, count: Expr, via: str) -> bool:
    """One copy of as many elements as the bytes make, in the number that both sides hold, else in the source's."""
    if to.buffer not in state.buffers or from_.buffer not in state.buffers or state.buffers[to.buffer].constant:
        return False
    dtype = state.buffers[from_.buffer].dtype
    width, own = size_of_dtype(state, dtype), size_of_dtype(state, state.buffers[to.buffer].dtype)
    if width is None or own is None:
        return False
    bytes_ = constant_value(count)
    if own < width:
        dtype, width = state.buffers[to.buffer].dtype, own
    if bytes_ is not None and bytes_ % width:
        dtype, width = UINT8, 1
    places = [seen_as(state, place, dtype) for place in (to, from_)]
    if places[0] is None or places[1] is None:
        return False
    elements = Const(bytes_ // width, INT32) if bytes_ is not None else _divided(count, width)
    axis = Axis(state.unique("lane"), AxisKind.FREE, elements)
    accesses = [_along(state, place, axis) for place in places if place is not None]
    state.builder.emit(Copy, destination=accesses[0], source=accesses[1], via=via)
    return True


def _divided(count: Expr, width: int) -> Expr:
    whole, left = quotient(count, width)
    if is_zero(left):
        return whole
    return moved(whole, Apply(Operator.TRUNCATED_DIVIDE, (left, Const(width, INT32)), INT64))


def _along(state: State, place: Place, axis: Axis) -> Access:
    index = (moved(place.index[-1] if place.index else ZERO, Symbol(axis.name, INT32)),)
    return Access(buffer=place.buffer, index=index, axes=(axis,), mask=state.mask, is_volatile=place.type.volatile)


def fill_bytes(state: State, call: CallSite, construct: Construct) -> Value | None:
    """`memset(destination, value, bytes)` of a value that is one byte again and again; None for any other."""
    nodes = [call.at(construct, role) for role in (Role.DESTINATION, Role.VALUE, Role.SIZE)]
    if nodes[0] is None or nodes[1] is None or nodes[2] is None:
        return None
    to = state.evaluate(nodes[0])
    value, count = (scalar(state, state.evaluate(node), node) for node in nodes[1:] if node is not None)
    pointer = pointer_of(state, to)
    if pointer is None or pointer.buffer not in state.buffers or state.buffers[pointer.buffer].constant:
        return None
    byte = constant_value(value.expr)
    buffer = state.buffers[pointer.buffer]
    dtype, width = (buffer.dtype, size_of_dtype(state, buffer.dtype)) if byte == 0 else (UINT8, 1)
    bytes_ = constant_value(count.expr)
    if width is None or (bytes_ is not None and bytes_ % width):
        dtype, width = UINT8, 1
    place = seen_as(state, target(pointer), dtype)
    if place is None:
        return None
    elements = Const(bytes_ // width, INT32) if bytes_ is not None else _divided(count.expr, width)
    axis = Axis(state.unique("lane"), AxisKind.FREE, elements)
    number = convert(state, value, dtype).expr
    state.builder.emit(Store, access=_along(state, place, axis), value=number, via=call.via)
    return to


def snapshot(state: State, value: Value, name: str) -> Value | None:
    """A local copy of memory that is seen as a type it does not hold, in the numbers it holds; None for any other."""
    if not isinstance(value, Place) or value.type.kind is not TypeKind.VECTOR or not is_reinterpreted(state, value):
        return None
    buffer = state.buffers[value.buffer]
    width, size = size_of_dtype(state, buffer.dtype), size_of(state, value.type)
    from_ = seen_as(state, value, buffer.dtype)
    if not width or not size or size % width or from_ is None or size == width:
        return None
    made = state.allocate(name, buffer.dtype, (integer(size // width),), Space.REGISTER)
    to = Place(made.name, (ZERO,), value.type)
    axis = Axis(state.unique("lane"), AxisKind.FREE, Const(size // width, INT32))
    state.builder.emit(Copy, destination=_along(state, to, axis), source=_along(state, from_, axis), via="=")
    return to
