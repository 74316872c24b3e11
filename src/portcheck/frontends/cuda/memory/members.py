"""Members of vectors and records: where they lie in memory, and which of a value they are."""

from __future__ import annotations

from dataclasses import replace

from portcheck.core.dtype import INT32, INT64
from portcheck.frontends.cuda.memory.views import moved
from portcheck.frontends.cuda.model.layout import offset_of, size_of_dtype, storage
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import complete, scalar_type
from portcheck.frontends.cuda.model.values import BASE, Aggregate, CType, Handle, Place, Pointer, Slot, TypeKind, Value
from portcheck.ir import Const


def member_place(state: State, place: Place, name: str) -> Place | None:
    """A member of a vector or record in memory; those of bases and anonymous unions count as its own."""
    if place.remaining:
        return None
    fields = complete(state, place.type).fields
    own = next((type_ for field, type_ in fields if field == name), None)
    if own is not None:
        return part_of(state, place, name, own)
    for field, field_type in fields:
        inner = part_of(state, place, field, field_type) if field.startswith(BASE) else None
        found = member_place(state, inner, name) if inner is not None else None
        if found is not None:
            return found
    return None


def member_value(value: Aggregate, name: str) -> Value | None:
    """A member of a value; those of bases and anonymous unions count as its own."""
    own = value.member(name)
    if own is not None:
        return own.value if isinstance(own, Slot) and own.is_reference else own
    for field, member in value.members:
        inner = member_value(member, name) if field.startswith(BASE) and isinstance(member, Aggregate) else None
        if inner is not None:
            return inner
    return None


def as_base(state: State, value: Value, wanted: CType) -> Value:
    """`value`, or its address, as the base `wanted` of its record (or a pointer to that); itself where it is none.

    A base with virtual functions is left as what it is part of, which says what those are.
    """
    if isinstance(value, Handle):
        part = as_base(state, value.target, wanted.target) if wanted.target is not None else value
        return Handle(part) if isinstance(part, Aggregate) else value
    if isinstance(value, Pointer):
        whole = Place(value.buffer, value.index, value.type, rest=value.rest)
        part = as_base(state, whole, wanted.target) if wanted.target is not None else value
        return Pointer(part.buffer, part.index, part.type, part.rest) if isinstance(part, Place) else value
    record = state.records.get(wanted.name) if wanted.kind is TypeKind.RECORD else None
    if record is None or record.is_virtual or not isinstance(value, Aggregate | Place):
        return value
    name = f"{BASE}{record.name}"
    found = member_value(value, name) if isinstance(value, Aggregate) else member_place(state, value, name)
    return value if found is None or value.type.name == record.name else found


def part_of(state: State, place: Place, field: str, type_: CType) -> Place | None:
    """The member `field` of what lies at `place`; None where the layout is not known."""
    offset = offset_of(state, place.type, field)
    if offset is None or place.buffer not in state.buffers:
        return None
    if type_.kind is TypeKind.RECORD and place.type.constant:
        type_ = replace(type_, constant=True)
    return displaced(state, place, offset, replace(type_, volatile=True) if place.type.volatile else type_)


def displaced(state: State, place: Place, distance: int, type_: CType) -> Place:
    """What lies `distance` bytes after the beginning of `place`."""
    held = size_of_dtype(state, state.buffers[place.buffer].dtype)
    if not place.index or held is None or distance % held:
        return replace(place, type=type_, rest=moved(place.rest, Const(distance, INT64)))
    index = (*place.index[:-1], moved(place.index[-1], Const(distance // held, INT32)))
    return replace(place, type=type_, index=index)


def is_punned(state: State, type_: CType) -> bool:
    """Whether a value of `type_` is bytes that are seen as several types."""
    if type_.kind is not TypeKind.RECORD:
        return False
    record = state.records.get(type_.name)
    is_union = record is not None and record.is_union
    return is_union or any(is_punned(state, field) for _, field in type_.fields)


def words(state: State, place: Place) -> list[Place]:
    """The numbers that the memory at `place` is made of."""
    held = storage(state, place.type)
    if held is None:
        return []
    dtype, count = held
    width = size_of_dtype(state, dtype) or 1
    return [displaced(state, place, position * width, scalar_type(dtype)) for position in range(count)]
