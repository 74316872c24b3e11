"""Addresses: indexing, pointer arithmetic, reading and writing what a value names."""

from __future__ import annotations

from dataclasses import replace

from portcheck.core.dtype import INT32, INT64, UINT64, DType
from portcheck.frontends.cuda.bytes import quotient
from portcheck.frontends.cuda.conversions import DEEPEST_EXPRESSION, convert, materialised
from portcheck.frontends.cuda.obstacles import Obstacle
from portcheck.frontends.cuda.state import State
from portcheck.frontends.cuda.syntax import Node
from portcheck.frontends.cuda.types import scalar_type
from portcheck.frontends.cuda.values import (
    Aggregate,
    CType,
    Null,
    Place,
    Pointer,
    PointerCell,
    Scalar,
    TypeKind,
    Value,
)  # fmt: skip
from portcheck.frontends.cuda.vectors import lanes_of, loaded
from portcheck.ir import ZERO, Apply, Const, Expr, Opaque, OpaqueKind, Operator, Symbol, apply, is_within


def pointer_of(state: State, value: Value) -> Pointer | None:
    """`value` as an address: a pointer, a pointer variable's current value, an array's first element."""
    match value:
        case Pointer():
            return value
        case PointerCell(buffer=buffer, offset=offset, type=type_):
            cell = Place(offset, (), scalar_type(INT64))
            return Pointer(buffer, (state.load(cell, INT64).expr,), type_)
        case Place(remaining=remaining) if remaining > 0:
            first = whole(state, Place(value.buffer, value.index + (ZERO,) * remaining, value.type))
            return Pointer(first.buffer, first.index, first.type)
        case _:
            pass
    return None


def advance(state: State, pointer: Pointer, step: Scalar, backwards: bool = False) -> Pointer:
    """`pointer + step` (or `- step`)."""
    stride = stride_of(state, pointer)
    if stride is None or not _is_zero(pointer.rest):
        return in_bytes(state, pointer, step, backwards)
    return _advanced(state, pointer, scaled(step, stride), backwards)


def _advanced(state: State, pointer: Pointer, step: Scalar, backwards: bool) -> Pointer:
    """`pointer` moved by elements of its buffer."""
    *outer, last = pointer.index or (ZERO,)
    if outer and all(_is_zero(part) for part in pointer.index):
        outer = []
    if pointer.index == () and not _is_zero(step.expr):
        outer, last = [], ZERO
    index = (*outer, _kept(state, moved(last, step.expr, backwards)))
    return Pointer(pointer.buffer, index, pointer.type, pointer.rest)


def _kept(state: State, offset: Expr) -> Expr:
    """`offset`, put into a register where it grew too deep to carry along."""
    if is_within(offset, DEEPEST_EXPRESSION):
        return offset
    place = state.register("offset", INT64)
    state.store(place, materialised(state, Scalar(offset, INT64)), via="")
    return state.load(place, INT64).expr


def in_bytes(state: State, pointer: Pointer, step: Scalar, backwards: bool) -> Pointer:
    """`pointer` moved by a type that takes no whole number of elements: by elements as far as bytes make them."""
    buffer = state.buffers[pointer.buffer]
    held = state.knowledge.dtype(buffer.dtype.name)
    width = width_of(state, pointer.type)
    if _is_zero(step.expr) or held is None:
        return pointer
    unit = Const(width // 8, INT32) if width and width % 8 == 0 else Symbol(f"sizeof({pointer.type.name})", INT64)
    whole_, left = quotient(scaled_by(step, unit).expr, max(1, held.bits // 8))
    at = _advanced(state, pointer, Scalar(whole_, INT64), backwards)
    return replace(at, rest=moved(pointer.rest, left, backwards))


def moved(base: Expr, step: Expr, backwards: bool = False) -> Expr:
    """`base + step`, where a base of 0 is left out."""
    if _is_zero(step):
        return base
    if backwards:
        return apply(Operator.SUBTRACT, base, step, dtype=INT64)
    return step if _is_zero(base) else apply(Operator.ADD, base, step, dtype=INT64)


def element(state: State, base: Value, index: Scalar) -> Value | None:
    """`base[index]`: an element, or a row of an array of several dimensions."""
    if isinstance(base, Place) and base.remaining > 0:
        return whole(state, Place(base.buffer, (*base.index, index.expr), base.type, base.remaining - 1))
    pointer = pointer_of(state, base)
    if pointer is None:
        return None
    return target(advance(state, pointer, index))


def whole(state: State, place: Place) -> Place:
    """An element of an array of vectors begins at the vector's first member."""
    buffer = state.buffers.get(place.buffer)
    if place.remaining or buffer is None or lanes_of(place.type) == 1 or len(place.index) + 1 != len(buffer.shape):
        return place
    return Place(place.buffer, (*place.index, ZERO), place.type, rest=place.rest)


def member_place(place: Place, name: str) -> Place | None:
    """A member of a vector in memory."""
    names = [field for field, _ in place.type.fields]
    if place.type.kind is not TypeKind.VECTOR or name not in names or place.remaining or not place.index:
        return None
    position = names.index(name)
    index = (*place.index[:-1], moved(place.index[-1], Const(position, INT32)))
    member = place.type.fields[position][1]
    member = replace(member, volatile=True) if place.type.volatile else member
    return Place(place.buffer, index, member, rest=place.rest)


def stride_of(state: State, pointer: Pointer) -> int | None:
    """How many elements of the buffer the type pointed to takes; None where that is no known whole number."""
    buffer = state.buffers.get(pointer.buffer)
    wanted, held = width_of(state, pointer.type), buffer and state.knowledge.dtype(buffer.dtype.name)
    if not held:
        return lanes_of(pointer.type)
    if not wanted and pointer.type.kind not in (TypeKind.RECORD, TypeKind.UNKNOWN):
        return lanes_of(pointer.type)
    return wanted // held.bits if wanted and wanted % held.bits == 0 else None


def width_of(state: State, type_: CType) -> int:
    """How many bits a value of `type_` takes; 0 where that is not known."""
    first = type_.fields[0][1].dtype if type_.kind is TypeKind.VECTOR else type_.dtype
    facts = state.knowledge.dtype(first.name) if first is not None else None
    return 0 if facts is None else facts.bits * lanes_of(type_)


def scaled(step: Scalar, lanes: int) -> Scalar:
    """A distance in vectors as one in members."""
    return scaled_by(step, Const(lanes, INT32))


def scaled_by(step: Scalar, unit: Expr) -> Scalar:
    """`step` times `unit`."""
    if unit == Const(1, INT32) or _is_zero(step.expr):
        return step
    if isinstance(step.expr, Const) and isinstance(unit, Const):
        return Scalar(Const(int(step.expr.value) * int(unit.value), step.dtype), step.dtype)
    return Scalar(apply(Operator.MULTIPLY, step.expr, unit, dtype=INT64), INT64, step.size + 2)


def target(pointer: Pointer) -> Place:
    """`*pointer`."""
    return Place(pointer.buffer, pointer.index, pointer.type, rest=pointer.rest)


def address(place: Place) -> Pointer:
    """`&place`."""
    return Pointer(place.buffer, place.index + (ZERO,) * place.remaining, place.type, place.rest)


def read(state: State, value: Value, node: Node, via: str = "") -> Value:
    """The value an expression stands for when it is used: variables and elements are loaded."""
    match value:
        case Place(remaining=0):
            return _read_place(state, value, node, via)
        case Place() | PointerCell():
            return pointer_of(state, value) or value
        case Aggregate():
            return loaded(state, value)
        case _:
            pass
    return value


def _read_place(state: State, place: Place, node: Node, via: str) -> Value:
    if place.type.kind is TypeKind.VECTOR:
        members = [(name, member_place(place, name)) for name, _ in place.type.fields]
        first = members[0][1]
        if first is not None and not unreadable(state, first):
            loads = [(name, _read_place(state, part, node, via)) for name, part in members if part is not None]
            return Aggregate(place.type, tuple(loads))
    obstacle = unreadable(state, place)
    if obstacle is not None:
        shown = place.index if _is_zero(place.rest) else (*place.index, place.rest)
        dtype = place.type.dtype or state.buffers[place.buffer].dtype
        return state.opaque(node, obstacle.reason, dtype, shown, kind=obstacle.kind)
    via = via or ("[]" if place.index else "")
    return state.load(place, place.type.dtype or state.buffers[place.buffer].dtype, via)


def unreadable(state: State, place: Place, verb: str = "read") -> Obstacle | None:
    """Why an element cannot be read as it stands (or be what `verb` says); None where it can."""
    buffer = state.buffers.get(place.buffer)
    if buffer is None:
        return Obstacle(f"memory behind {place.buffer}", OpaqueKind.MEMORY)
    if place.type.kind is not TypeKind.SCALAR or place.type.dtype is None:
        return Obstacle(f"access as {place.type.name or 'an unknown type'}", OpaqueKind.DTYPE)
    if place.type.dtype != buffer.dtype:
        return Obstacle(f"{buffer.dtype} memory {verb} as {place.type.name}", OpaqueKind.DTYPE)
    if not _is_zero(place.rest):
        return Obstacle(f"an element of {place.buffer} {verb} as its address in bytes says", OpaqueKind.MEMORY)
    return None


def unwritable(state: State, place: Place) -> Obstacle | None:
    """Why an element cannot be written as it stands; None where it can."""
    buffer = state.buffers.get(place.buffer)
    if buffer is not None and buffer.constant:
        return Obstacle(f"write to constant {place.buffer}", OpaqueKind.MEMORY)
    return unreadable(state, place, "written")


def scalar(state: State, value: Value, node: Node, dtype: DType | None = None) -> Scalar:
    """The number an expression is; a pointer counts by its address, anything else is opaque."""
    value = read(state, value, node)
    match value:
        case Scalar():
            return value
        case Pointer():
            return Scalar(address_expression(state, value), UINT64)
        case Null():
            return Scalar(Const(0, UINT64), UINT64)
        case Aggregate(members=((_, Scalar() as only),)):
            return only
        case _:
            pass
    reason = f"{node.type.replace('_', ' ')} used as a number"
    return state.opaque(node, reason, dtype or INT32, kind=OpaqueKind.DTYPE)


def address_expression(state: State, pointer: Pointer) -> Expr:
    """A pointer as an expression, in bytes: the buffer's name stands for its address."""
    base: Expr = Symbol(pointer.buffer, UINT64)
    buffer = state.buffers.get(pointer.buffer)
    held = state.knowledge.dtype(buffer.dtype.name) if buffer is not None else None
    size = Const(max(1, held.bits // 8), INT32) if held is not None else Symbol(f"sizeof({pointer.buffer})", INT64)
    offset = scaled_by(Scalar(flat(state, pointer), INT64), size).expr
    for part in (offset, pointer.rest):
        base = base if _is_zero(part) else Apply(Operator.ADD, (base, part), UINT64)
    return base


def write(state: State, target_: Value, value: Value, node: Node, via: str = "=") -> Value:
    """Assigns `value` to what `target_` names and gives the value as stored."""
    if isinstance(target_, PointerCell):
        return _write_pointer(state, target_, value, node, via)
    if not isinstance(target_, Place) or target_.remaining:
        return state.opaque(node, "assignment to something that is no variable", kind=OpaqueKind.MEMORY)
    if isinstance(value, Aggregate) and target_.type.kind is TypeKind.VECTOR:
        parts = [(member_place(target_, name), member) for name, member in value.members]
        first = parts[0][0] if parts else None
        if first is not None and not unwritable(state, first) and len(parts) == len(target_.type.fields):
            for part, member in parts:
                if part is not None:
                    write(state, part, read(state, member, node), node, via)
            return value
    obstacle = unwritable(state, target_)
    if obstacle is not None:
        operands = (value.expr,) if isinstance(value, Scalar) else ()
        return state.keep(node, obstacle.reason, operands, (target_.buffer,), kind=obstacle.kind)
    dtype = target_.type.dtype or state.buffers[target_.buffer].dtype
    converted = convert(state, scalar(state, value, node), dtype)
    state.store(target_, materialised(state, converted), via)
    return converted


def _write_pointer(state: State, cell: PointerCell, value: Value, node: Node, via: str) -> Value:
    pointer = pointer_of(state, value)
    if pointer is None or pointer.buffer != cell.buffer:
        reason = "pointer that may point into several buffers"
        return state.keep(node, reason, (), (cell.offset,), kind=OpaqueKind.MEMORY)
    if not _is_zero(pointer.rest):
        return state.keep(node, "pointer that moves by bytes", (), (cell.offset,), kind=OpaqueKind.MEMORY)
    offset = materialised(state, Scalar(flat(state, pointer), INT64))
    state.store(Place(cell.offset, (), scalar_type(INT64)), offset, via)
    return pointer


def cell_for(state: State, name: str, pointer: Pointer) -> PointerCell:
    """A variable that starts at `pointer` and may move within its buffer."""
    offset = state.register(f"{name}.offset", INT64)
    start = Scalar(flat(state, pointer), INT64)
    if not _is_zero(pointer.rest):
        start = state.result(Opaque, INT64, reason="pointer to an address in bytes", operands=(pointer.rest,))
    state.store(offset, materialised(state, start))
    return PointerCell(pointer.buffer, offset.buffer, pointer.type)


def flat(state: State, pointer: Pointer) -> Expr:
    """Where a pointer points, in elements from the start of its buffer."""
    if not pointer.index:
        return ZERO
    shape = state.buffers[pointer.buffer].shape if pointer.buffer in state.buffers else ()
    offset = pointer.index[0]
    for position, index in enumerate(pointer.index[1:], start=1):
        extent = shape[position] if position < len(shape) else ZERO
        row = offset if _is_zero(offset) else apply(Operator.MULTIPLY, offset, extent, dtype=INT64)
        offset = moved(row, index)
    return offset


def _is_zero(expression: Expr) -> bool:
    return isinstance(expression, Const) and expression.value == 0 and not isinstance(expression.value, bool)
