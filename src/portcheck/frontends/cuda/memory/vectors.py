"""Variables of several members: short vectors and records in registers, and what an array of them is made of."""

from __future__ import annotations

from portcheck.core.dtype import FLOAT32, INT32, UINT64, DType
from portcheck.frontends.cuda.memory.members import is_punned
from portcheck.frontends.cuda.memory.places import write
from portcheck.frontends.cuda.model.conversions import convert, materialised
from portcheck.frontends.cuda.model.layout import storage
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import complete
from portcheck.frontends.cuda.model.values import (
    BIT_FIELD,
    Aggregate,
    CType,
    Lost,
    Nothing,
    Null,
    Place,
    PointerCell,
    Scalar,
    Slot,
    TypeKind,
    Value,
)
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import ZERO, Const, Expr, OpaqueKind, integer

MOST_POINTERS = 64
"""Pointers of an array: each is a variable, or a parameter, of its own."""


def element_type(state: State, type_: CType) -> tuple[DType, tuple[int, ...]] | None:
    """The number an array of `type_` holds, and the extent a vector or record adds; None where that is not known."""
    if type_.kind is TypeKind.SCALAR and type_.dtype is not None:
        return type_.dtype, ()
    if type_.kind is TypeKind.POINTER:
        return UINT64, ()
    held = storage(state, type_) if type_.kind in (TypeKind.VECTOR, TypeKind.RECORD) else None
    return None if held is None else (held[0], (held[1],))


def variable_members(
    state: State, name: str, type_: CType, value: Aggregate | Scalar | None, node: Node, changes: bool
) -> Value:
    """A variable of several members: each an alias, or a register where the variable is changed.

    A number where members were wanted (text that was not understood) stands for each of them.
    """
    shape = complete(state, value.type if isinstance(value, Aggregate) else type_)
    if any(field.name == BIT_FIELD for _, field in shape.fields):
        return state.opaque(node, f"{type_.name}, which has bit-fields", kind=OpaqueKind.DTYPE)
    is_shown = state.mutations is not None and state.mutations.is_shown(name)
    if is_punned(state, shape) or (is_shown and not _has_pointer(shape) and storage(state, shape) is not None):
        return in_memory(state, name, shape, value, node)
    members: list[tuple[str, Value]] = []
    for field, field_type in shape.fields:
        given = value.member(field) if isinstance(value, Aggregate) else value
        members.append((field, _member(state, f"{name}.{field}", field_type, given, (node, changes, shape))))
    return Aggregate(shape, tuple(members))


def _has_pointer(type_: CType) -> bool:
    """Whether a pointer is a member of a record, or of one of its members: it has no bytes here."""
    if type_.kind is TypeKind.ARRAY and type_.target is not None:
        return _has_pointer(type_.target)
    return type_.kind is TypeKind.POINTER or any(_has_pointer(field) for _, field in type_.fields)


def kept_variable(state: State, value: Aggregate, node: Node) -> Aggregate:
    """A variable that holds a value which is none yet, so that it has an address."""
    made = variable_members(state, value.type.name, value.type, value, node, True)
    return made if isinstance(made, Aggregate) else value


def is_variable(value: Aggregate) -> bool:
    """Whether the members are places, not only values."""
    return any(
        isinstance(member, Place | Slot | PointerCell) or (isinstance(member, Aggregate) and is_variable(member))
        for _, member in value.members
    )


def in_memory(state: State, name: str, type_: CType, value: Value | None, node: Node) -> Value:
    """A variable whose bytes are seen as several types: a local array of the numbers it is made of."""
    held = storage(state, type_)
    if held is None:
        return state.opaque(node, f"variable of type {type_.name}", kind=OpaqueKind.DTYPE)
    buffer = state.allocate(name, held[0], (integer(held[1]),))
    place = Place(buffer.name, (ZERO,), type_)
    if value is not None:
        write(state, place, value, node)
    return place


def _member(state: State, name: str, type_: CType, given: Value | None, how: tuple[Node, bool, CType]) -> Value:
    node, changes, owner = how
    if type_.kind in (TypeKind.VECTOR, TypeKind.RECORD) and not isinstance(given, Lost):
        return variable_members(state, name, type_, given if isinstance(given, Aggregate) else None, node, changes)
    if type_.kind is TypeKind.ARRAY:
        return _array_member(state, name, type_, given, node)
    if type_.reference or (type_.kind is TypeKind.UNKNOWN and changes):
        held = given if given is not None else Nothing()
        return Slot(state.builder.depth, held, name, moves=False, is_reference=type_.reference)
    if type_.kind is TypeKind.POINTER and changes and not isinstance(given, Lost):
        return _pointer_member(state, name, type_, given, (node, owner))
    if type_.kind in (TypeKind.POINTER, TypeKind.UNKNOWN) and not isinstance(given, Scalar):
        nothing = Null() if type_.kind is TypeKind.POINTER else Nothing()
        return given if given is not None else nothing
    dtype = type_.dtype
    if dtype is not None and isinstance(given, Scalar):
        given = convert(state, given, dtype)
    if given is not None and not (changes and isinstance(given, Scalar)):
        return given
    if given is None and not changes and dtype is not None:
        return Scalar(Const(0.0 if dtype.is_float else 0, dtype), dtype)
    place = state.register(name, dtype or FLOAT32)
    if isinstance(given, Scalar):
        state.store(place, materialised(state, convert(state, given, dtype or FLOAT32)))
    return place


def _pointer_member(state: State, name: str, type_: CType, given: Value | None, how: tuple[Node, CType]) -> Value:
    """A pointer that is a member of a variable; it moves if a function of the record or this body sets it."""
    node, owner = how
    changes, record = state.mutations, state.records.get(owner.name)
    is_set = record is not None and name.rpartition(".")[2] in record.moving
    moves = is_set or changes is None or changes.changes(name.partition(".")[0])
    target = type_.target if type_.target is not None and type_.target.kind is not TypeKind.VOID else None
    slot = Slot(state.builder.depth, Null(), name, target, moves)
    if given is not None and not isinstance(given, Null):
        write(state, slot, given, node)
    return slot


def pointers(state: State, name: str, type_: CType, given: Value | None, node: Node) -> Value:
    """An array of pointers in registers: each is a variable of its own."""
    element = type_.target
    if element is None or not 0 < type_.extent <= MOST_POINTERS:
        return state.opaque(node, f"array of type {type_.name}", UINT64, kind=OpaqueKind.DTYPE)
    members: list[tuple[str, Value]] = []
    for position in range(type_.extent):
        held = given.member(str(position)) if isinstance(given, Aggregate) else None
        members.append((str(position), _pointer_member(state, f"{name}.{position}", element, held, (node, type_))))
    return Aggregate(type_, tuple(members))


def _array_member(state: State, name: str, type_: CType, given: Value | None, node: Node) -> Value:
    """An array that is a member of a variable: a local array of its own."""
    extents: list[Expr] = []
    element: CType | None = type_
    while element is not None and element.kind is TypeKind.ARRAY:
        extents.append(integer(element.extent, INT32))
        element = element.target
    if element is not None and element.kind is TypeKind.POINTER and len(extents) == 1:
        return pointers(state, name, type_, given, node)
    held = element_type(state, element) if element is not None else None
    if held is None or element is None or any(extent == integer(0, INT32) for extent in extents):
        return state.opaque(node, f"array of type {type_.name}", kind=OpaqueKind.DTYPE)
    buffer = state.allocate(name, held[0], (*extents, *map(integer, held[1])))
    place = Place(buffer.name, (), element, len(extents))
    if isinstance(given, Aggregate):
        write(state, place, given, node)
    return place


def loaded(state: State, value: Aggregate) -> Aggregate:
    """An aggregate of numbers whose members are values, not places."""
    members = tuple(
        (name, state.load(member, member.type.dtype) if isinstance(member, Place) and member.type.dtype else member)
        for name, member in value.members
    )
    return Aggregate(value.type, members)
