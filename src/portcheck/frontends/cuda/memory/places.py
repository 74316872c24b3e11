"""Addresses: indexing, pointer arithmetic, what a member, an element or a number in memory is."""

from __future__ import annotations

from dataclasses import replace

from portcheck.core.dtype import BOOL, INT32, INT64, UINT64, DType
from portcheck.frontends.cuda.memory.aims import NONE, are_alike, number_in, options_of, united
from portcheck.frontends.cuda.memory.members import is_punned, part_of, words
from portcheck.frontends.cuda.memory.pointer_variables import not_one_of, pointed, selecting
from portcheck.frontends.cuda.memory.stepping import advance, scaled_by
from portcheck.frontends.cuda.memory.views import (
    flat,
    is_seen_as_held,
    is_zero,
    load_element,
    store_element,
)  # fmt: skip
from portcheck.frontends.cuda.model.constants import constant_value
from portcheck.frontends.cuda.model.conversions import constructed, materialised
from portcheck.frontends.cuda.model.layout import size_of_dtype
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import array_of, complete, scalar_type
from portcheck.frontends.cuda.model.values import (
    Aggregate,
    CType,
    Handle,
    Lost,
    Nothing,
    Null,
    Place,
    Pointer,
    PointerCell,
    Scalar,
    Slot,
    TypeKind,
    Value,
)  # fmt: skip
from portcheck.frontends.cuda.parsing.obstacles import Obstacle
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import ZERO, Apply, Const, Expr, Opaque, OpaqueKind, Operator, Space, Symbol

_MOST_ELEMENTS = 64
"""Elements of an array that is copied as part of a value."""
_SEVERAL = frozenset({TypeKind.VECTOR, TypeKind.RECORD})


def pointer_of(state: State, value: Value) -> Pointer | None:
    """`value` as an address: a pointer, a pointer variable's current value, an array's first element."""
    match value:
        case Pointer():
            return value
        case Slot(value=held):
            return pointer_of(state, held)
        case PointerCell():
            return pointed(state, value)
        case Place(remaining=0, type=CType(kind=TypeKind.ARRAY, target=CType() as element_type)):
            return Pointer(value.buffer, value.index, element_type, value.rest)
        case Place(remaining=remaining) if remaining > 0:
            first = whole(state, Place(value.buffer, value.index + (ZERO,) * remaining, value.type))
            return Pointer(first.buffer, first.index, _row_type(state, value))
        case _:
            pass
    return None


def _row_type(state: State, array: Place) -> CType:
    """The type of the elements of an array, which are arrays themselves where it has several dimensions."""
    type_, first = array.type, len(array.index) + 1
    shape = state.buffers[array.buffer].shape if array.buffer in state.buffers else ()
    for extent in reversed(shape[first : first + array.remaining - 1]):
        count = constant_value(extent)
        if count is None:
            return array.type
        type_ = array_of(type_, count)
    return type_


def element(state: State, base: Value, index: Scalar) -> Place | None:
    """`base[index]`: an element, or a row of an array of several dimensions."""
    if isinstance(base, Place) and base.remaining > 0:
        return whole(state, Place(base.buffer, (*base.index, index.expr), base.type, base.remaining - 1))
    pointer = pointer_of(state, base)
    if pointer is None:
        return None
    return target(advance(state, pointer, index))


def whole(state: State, place: Place) -> Place:
    """An element of an array of vectors or records begins at the first of its numbers."""
    buffer = state.buffers.get(place.buffer)
    is_one = place.type.kind not in _SEVERAL
    if place.remaining or buffer is None or is_one or len(place.index) + 1 != len(buffer.shape):
        return place
    return Place(place.buffer, (*place.index, ZERO), place.type, rest=place.rest)


def target(pointer: Pointer) -> Place:
    """`*pointer`."""
    return Place(pointer.buffer, pointer.index, pointer.type, rest=pointer.rest)


def address(place: Place) -> Pointer:
    """`&place`."""
    return Pointer(place.buffer, place.index + (ZERO,) * place.remaining, place.type, place.rest)


def read(state: State, value: Value, node: Node, via: str = "") -> Value:
    """The value an expression stands for when it is used: variables and elements are loaded."""
    match value:
        case Place(remaining=0) if value.type.kind is not TypeKind.ARRAY:
            return _read_place(state, value, node, via)
        case Slot(value=held):
            return read(state, held, node)
        case Place() | PointerCell():
            return pointer_of(state, value) or value
        case Aggregate():
            return loaded(state, value, node)
        case _:
            pass
    return value


def loaded(state: State, value: Aggregate, node: Node) -> Aggregate:
    """An aggregate whose members are values, not places."""
    types = dict(value.type.fields)
    members = tuple((name, contents(state, member, types.get(name), node)) for name, member in value.members)
    return Aggregate(value.type, members)


def contents(state: State, value: Value, type_: CType | None, node: Node) -> Value:
    """What a variable or element of `type_` holds; an array's elements are members called by their number."""
    if type_ is not None and type_.kind is TypeKind.ARRAY and isinstance(value, Place):
        return _elements(state, value, type_, node)
    return read(state, value, node)


def _elements(state: State, place: Place, type_: CType, node: Node) -> Value:
    parts = elements_of(state, place, type_)
    if parts is None:
        return state.opaque(node, "copy of an array", kind=OpaqueKind.MEMORY)
    found = [(str(position), contents(state, part, type_.target, node)) for position, part in enumerate(parts)]
    return Aggregate(type_, tuple(found))


def elements_of(state: State, value: Value, type_: CType) -> list[Place] | None:
    """The elements of an array; None where there are too many, or it is not known how many."""
    count, inner = type_.extent, type_.target
    while inner is not None and inner.kind is TypeKind.ARRAY:
        count, inner = count * inner.extent, inner.target
    if not 0 < count <= _MOST_ELEMENTS:
        return None
    parts = [element(state, value, Scalar(Const(position, INT32), INT32)) for position in range(type_.extent)]
    found = [part for part in parts if part is not None]
    return found if len(found) == len(parts) else None


def _read_place(state: State, place: Place, node: Node, via: str) -> Value:
    type_ = complete(state, place.type)
    if type_.kind in _SEVERAL and type_.fields and place.buffer in state.buffers:
        if is_punned(state, type_):
            return _read_words(state, place, type_)
        parts = [(name, part_of(state, place, name, field), field) for name, field in type_.fields]
        if all(part is not None for _, part, _ in parts):
            loads = [(name, contents(state, part, field, node)) for name, part, field in parts if part is not None]
            return Aggregate(type_, tuple(loads))
    obstacle = unreadable(state, place)
    if obstacle is not None:
        shown = place.index if is_zero(place.rest) else (*place.index, place.rest)
        dtype = place.type.dtype or (state.buffers[place.buffer].dtype if place.buffer in state.buffers else INT32)
        return state.opaque(node, obstacle.reason, dtype, shown, kind=obstacle.kind)
    dtype = place.type.dtype or state.buffers[place.buffer].dtype
    number = load_element(state, place, dtype, via or ("[]" if place.index else ""))
    return number if number is not None else state.opaque(node, f"access as {dtype}", dtype, kind=OpaqueKind.DTYPE)


def _read_words(state: State, place: Place, type_: CType) -> Value:
    found: list[tuple[str, Value]] = []
    for position, word in enumerate(words(state, place)):
        number = load_element(state, word, word.type.dtype or INT32, "")
        found.append((str(position), number if number is not None else Nothing()))
    return Aggregate(type_, tuple(found))


def unreadable(state: State, place: Place, verb: str = "read") -> Obstacle | None:
    """Why an element cannot be read as it stands (or be what `verb` says); None where it can."""
    buffer = state.buffers.get(place.buffer)
    if buffer is None:
        return Obstacle(f"memory behind {place.buffer}", OpaqueKind.MEMORY)
    if buffer.space is Space.REGISTER and not buffer.shape and not all(map(is_zero, place.index)):
        return Obstacle(f"memory beside a variable {verb}", OpaqueKind.MEMORY)
    if place.type.kind is TypeKind.POINTER:
        return Obstacle(f"pointer {verb} in memory", OpaqueKind.MEMORY)
    if place.type.kind is not TypeKind.SCALAR or place.type.dtype is None:
        return Obstacle(f"access as {place.type.name or 'an unknown type'}", OpaqueKind.DTYPE)
    if not is_seen_as_held(state, place) and not size_of_dtype(state, place.type.dtype):
        return Obstacle(f"{buffer.dtype} memory {verb} as {place.type.name}", OpaqueKind.DTYPE)
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
        case Handle() if dtype == BOOL:
            return Scalar(Const(True, BOOL), BOOL)
        case Aggregate():
            number = state.number_of(value, node, dtype)
            if number is not None:
                return number
            match value.members:
                case ((_, Scalar() as only),):
                    return only
                case _:
                    pass
        case _:
            pass
    reason = f"{node.type.replace('_', ' ')} used as a number"
    return state.opaque(node, reason, dtype or INT32, kind=OpaqueKind.DTYPE)


def address_expression(state: State, pointer: Pointer) -> Expr:
    """A pointer as an expression, in bytes: the buffer's name stands for its address."""
    base = _address_of(state, pointer.buffer)
    buffer = state.buffers.get(pointer.buffer)
    held = size_of_dtype(state, buffer.dtype) if buffer is not None else None
    size = Const(held, INT32) if held is not None else Symbol(f"sizeof({pointer.buffer})", INT64)
    offset = scaled_by(Scalar(flat(state, pointer.buffer, pointer.index), INT64), size).expr
    for part in (offset, pointer.rest):
        base = base if is_zero(part) else Apply(Operator.ADD, (base, part), UINT64)
    return base


def _address_of(state: State, name: str) -> Expr:
    aim = state.aims.get(name)
    if aim is None:
        return Symbol(name, UINT64) if name != NONE else Const(0, UINT64)
    either = (_address_of(state, aim.first), _address_of(state, aim.second))
    return Apply(Operator.SELECT, (aim.holds, *either), UINT64)


def write(state: State, target_: Value, value: Value, node: Node, via: str = "=") -> Value:
    """Assigns `value` to what `target_` names and gives the value as stored."""
    if isinstance(target_, Slot):
        return _write_slot(state, target_, value, node, via)
    if isinstance(target_, PointerCell):
        return _write_pointer(state, target_, value, node, via)
    if isinstance(value, Lost) and has_parts(target_):
        _write_lost(state, target_, value, node, via)
        return value
    if isinstance(value, Aggregate):
        parts = _parts(state, target_, value)
        for part, member in parts or ():
            write(state, part, member, node, via)
        if parts is not None:
            return value
    if isinstance(target_, Lost):
        return state.keep(node, "assignment through an unknown address", kind=OpaqueKind.MEMORY)
    if not isinstance(target_, Place) or target_.remaining:
        return state.opaque(node, "assignment to something that is no variable", kind=OpaqueKind.MEMORY)
    obstacle = unwritable(state, target_)
    if obstacle is not None:
        operands = (value.expr,) if isinstance(value, Scalar) else ()
        return state.keep(node, obstacle.reason, operands, (target_.buffer,), kind=obstacle.kind)
    dtype = target_.type.dtype or state.buffers[target_.buffer].dtype
    converted = constructed(state, scalar(state, value, node), target_.type, dtype)
    if not store_element(state, target_, converted, via):
        return state.keep(node, f"access as {dtype}", (converted.expr,), (target_.buffer,), kind=OpaqueKind.DTYPE)
    return converted


def has_parts(value: Value) -> bool:
    """Whether a value is a variable or element of several members."""
    if isinstance(value, Aggregate):
        return bool(value.members)
    return isinstance(value, Place) and not value.remaining and value.type.kind in _SEVERAL


def _write_lost(state: State, target_: Value, value: Lost, node: Node, via: str) -> None:
    """Writes what was not understood to each of several members: none of them is known then."""
    parts: list[Value] = []
    if isinstance(target_, Aggregate):
        parts = [member for _, member in target_.members if isinstance(member, Place | Aggregate)]
    elif isinstance(target_, Place):
        parts = list(words(state, target_))
    for part in parts:
        write(state, part, value, node, via)
    if not parts and isinstance(target_, Place):
        state.keep(node, f"access as {target_.type.name}", (value.expr,), (target_.buffer,), kind=OpaqueKind.DTYPE)


def _parts(state: State, target_: Value, value: Aggregate) -> list[tuple[Value, Value]] | None:
    """What each member of `value` is written to; None where the target has other members."""
    if isinstance(target_, Aggregate):
        found = [(target_.member(name), member) for name, member in value.members]
    elif not isinstance(target_, Place) or target_.buffer not in state.buffers:
        return None
    elif value.type.kind is TypeKind.ARRAY:
        indices = [Scalar(Const(position, INT32), INT32) for position in range(len(value.members))]
        found = [
            (element(state, target_, index), member) for index, (_, member) in zip(indices, value.members, strict=True)
        ]
    elif target_.remaining or target_.type.kind not in _SEVERAL:
        return None
    elif is_punned(state, target_.type):
        held = words(state, target_)
        if len(held) != len(value.members):
            return None
        found = [(word, member) for word, (_, member) in zip(held, value.members, strict=True)]
    else:
        types = dict(complete(state, target_.type).fields)
        found = [
            (part_of(state, target_, name, types[name]) if name in types else None, member)
            for name, member in value.members
        ]
    listed = [(part, member) for part, member in found if part is not None]
    return listed if len(listed) == len(found) else None


def _write_pointer(state: State, cell: PointerCell, value: Value, node: Node, via: str) -> Value:
    pointer = pointer_of(state, value)
    buffer = NONE if isinstance(value, Null) else pointer.buffer if pointer is not None else None
    if buffer is None or (cell.selector == "" and buffer != cell.buffer):
        return not_one_of(state, cell, buffer, node)
    if pointer is not None and not is_zero(pointer.rest):
        return state.keep(node, "pointer that moves by bytes", (), (cell.offset,), kind=OpaqueKind.MEMORY)
    if cell.selector:
        number = number_in(state, buffer, cell.options)
        if number is None:
            return not_one_of(state, cell, buffer, node)
        state.store(Place(cell.selector, (), scalar_type(INT32)), number, via)
    index = flat(state, pointer.buffer, pointer.index) if pointer is not None else ZERO
    state.store(Place(cell.offset, (), scalar_type(INT64)), materialised(state, Scalar(index, INT64)), via)
    return pointer if pointer is not None else value


def _write_slot(state: State, slot: Slot, value: Value, node: Node, via: str) -> Value:
    """Sets a pointer variable: to any address where it was made, within one buffer in a loop or branch."""
    value = read(state, value, node)
    pointer = pointer_of(state, value)
    if pointer is not None and slot.target is not None:
        pointer = replace(pointer, type=slot.target)
    is_own = slot.depth == state.builder.depth
    if is_own and pointer is not None:
        slot.value = cell_for(state, slot.name, pointer) if slot.moves else pointer
    elif is_own:
        slot.value, slot.is_null = value, isinstance(value, Null)
    elif pointer is not None and isinstance(slot.value, Null):
        offset = state.register(f"{slot.name}.offset", INT64, slot.depth)
        cell = PointerCell(pointer.buffer, offset.buffer, pointer.type)
        if slot.is_null and are_alike(state, options_of(state, pointer.buffer)):
            state.several.setdefault(cell.offset, united((NONE,), options_of(state, pointer.buffer)))
        elif slot.is_null:
            state.doubted.add(pointer.buffer)
        slot.value = selecting(state, cell, ZERO, slot.name, slot.depth)
        return _write_pointer(state, slot.value, pointer, node, via)
    elif isinstance(slot.value, PointerCell):
        return _write_pointer(state, slot.value, value, node, via)
    elif not isinstance(slot.value, Lost):
        with state.builder.region_at(slot.depth):
            reason = "pointer that is set in a loop or branch"
            slot.value = state.opaque(node, reason, UINT64, (ZERO,), kind=OpaqueKind.MEMORY)
    return value


def cell_for(state: State, name: str, pointer: Pointer) -> PointerCell:
    """A variable that starts at `pointer` and may move within its buffer."""
    offset = state.register(f"{name}.offset", INT64)
    start = Scalar(flat(state, pointer.buffer, pointer.index), INT64)
    if not is_zero(pointer.rest):
        start = state.result(Opaque, INT64, reason="pointer to an address in bytes", operands=(pointer.rest,))
    state.store(offset, materialised(state, start))
    cell = PointerCell(pointer.buffer, offset.buffer, pointer.type)
    number = number_in(state, pointer.buffer, state.several.get(offset.buffer, ()))
    return selecting(state, cell, number, name) if number is not None else cell
