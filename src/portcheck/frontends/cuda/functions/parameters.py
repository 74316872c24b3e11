"""A kernel's parameters: buffers for pointers, numbers, and the members of a record one by one."""

from __future__ import annotations

from dataclasses import replace

from portcheck.core.dtype import INT32, UINT8, UINT64, DType
from portcheck.core.source import Span
from portcheck.frontends.cuda.memory.members import is_punned
from portcheck.frontends.cuda.memory.places import cell_for, loaded
from portcheck.frontends.cuda.memory.vectors import MOST_POINTERS, element_type, variable_members
from portcheck.frontends.cuda.model.conversions import materialised
from portcheck.frontends.cuda.model.layout import storage
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import Declared, arrays_of, base_type, complete, declare, pointer_to
from portcheck.frontends.cuda.model.values import (
    Aggregate,
    Buffer,
    CType,
    Nothing,
    Place,
    Pointer,
    Scalar,
    TypeKind,
    Value,
)
from portcheck.frontends.cuda.parsing.definitions import Function
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import ZERO, Expr, Parameter, Space, Symbol, ValueType, integer

_SEVERAL = frozenset({TypeKind.VECTOR, TypeKind.RECORD})


def read_parameters(state: State, function: Function) -> list[tuple[Parameter, Declared]]:
    """The kernel's parameters as the IR has them."""
    found: list[tuple[Parameter, Declared]] = []
    for position, node in enumerate(function.parameters):
        base = base_type(state, node)
        declared = declare(state, base, node.field("declarator"))
        if declared.extents:
            row = arrays_of(state, Declared(declared.name, declared.type, declared.extents[1:]))
            declared = Declared(declared.name, pointer_to(row))
        if not declared.name or any(declared.name == other.name for _, other in found):
            declared = Declared(f"parameter{position}", declared.type)
        state.names.add(declared.name)
        found.append((typed_parameter(state, declared.name, declared.type, node.span), declared))
    return found


def typed_parameter(state: State, name: str, type_: CType, span: Span) -> Parameter:
    """A parameter of a type: a buffer for a pointer, else a number."""
    if type_.kind is TypeKind.POINTER and type_.target is not None:
        target = type_.target
        dtype = _held_by(state, target)
        if dtype is None:
            state.note(f"parameter {name} points to {target.name or 'an unknown type'}, whose layout is not known")
        value_type = ValueType(dtype or INT32, space=Space.GLOBAL)
        return Parameter(name=name, type=value_type, is_buffer=True, span=span, constant=target.constant)
    return Parameter(name=name, type=ValueType(type_.dtype or INT32), is_buffer=False, span=span)


def _held_by(state: State, target: CType) -> DType | None:
    """The number that memory for values of `target` is counted in; bytes where it is memory of any type."""
    while target.kind is TypeKind.ARRAY and target.target is not None:
        target = target.target
    if target.kind is TypeKind.VOID:
        return UINT8
    if target.kind is TypeKind.POINTER:
        return UINT64
    lanes = element_type(state, target)
    return lanes[0] if lanes is not None else None


def bind_parameter(state: State, parameter: Parameter, declared: Declared, body: Node) -> tuple[Parameter, ...]:
    """Binds a parameter; gives the parameters it is to the IR, which takes a record's members one by one."""
    name, type_ = declared.name, declared.type
    changes = state.mutations
    is_changed = changes is not None and changes.is_changed(name, body.start, body.end)
    is_straight = changes is not None and changes.is_straight(name, body.start, body)
    if parameter.is_buffer and type_.target is not None:
        state.buffers[name] = Buffer(name, parameter.type.dtype, (), parameter.constant)
        pointer = Pointer(name, (ZERO,), type_.target)
        value: Value = pointer
        if is_changed and not is_straight:
            value = cell_for(state, name, pointer)
        state.bind(name, value)
        return (parameter,)
    if type_.kind in _SEVERAL:
        aggregate, listed = _members(state, name, complete(state, type_), parameter.span)
        if is_changed and isinstance(aggregate, Aggregate):
            aggregate = variable_members(state, name, type_, loaded(state, aggregate, body), body, True)
        state.bind(name, aggregate)
        return tuple(listed)
    number = Scalar(Symbol(name, parameter.type.dtype), parameter.type.dtype)
    if is_changed and not (is_straight and parameter.type.dtype.is_integer):
        place = state.register(name, number.dtype)
        state.store(place, materialised(state, number))
        state.bind(name, place)
        return (parameter,)
    state.bind(name, number)
    return (parameter,)


def _members(state: State, name: str, type_: CType, span: Span) -> tuple[Value, list[Parameter]]:
    """A parameter of several members: each is a parameter of its own; one seen as several types is its numbers."""
    if is_punned(state, type_):
        held = storage(state, type_)
        if held is None:
            return Nothing(), []
        return _array(state, name, type_, (held[0], (integer(held[1]),)), span)
    members: list[tuple[str, Value]] = []
    listed: list[Parameter] = []
    for field, field_type in type_.fields:
        value, parts = _member(state, f"{name}.{field}", complete(state, field_type), span)
        members.append((field, value))
        listed.extend(parts)
    return Aggregate(type_, tuple(members)), listed


def _member(state: State, name: str, type_: CType, span: Span) -> tuple[Value, list[Parameter]]:
    state.names.add(name)
    match type_.kind:
        case TypeKind.POINTER if type_.target is not None:
            parameter = typed_parameter(state, name, type_, span)
            state.buffers[name] = Buffer(name, parameter.type.dtype, (), parameter.constant)
            return Pointer(name, (ZERO,), type_.target), [parameter]
        case TypeKind.SCALAR if type_.dtype is not None:
            return Scalar(Symbol(name, type_.dtype), type_.dtype), [typed_parameter(state, name, type_, span)]
        case TypeKind.VECTOR | TypeKind.RECORD:
            return _members(state, name, type_, span)
        case TypeKind.ARRAY if type_.target is not None and type_.extent > 0:
            return _array_member(state, name, type_, span)
        case _:
            pass
    return Nothing(), []


def _array_member(state: State, name: str, type_: CType, span: Span) -> tuple[Value, list[Parameter]]:
    """An array: a buffer of its own; of pointers, each is a parameter."""
    extents: list[Expr] = []
    element: CType = type_
    while element.kind is TypeKind.ARRAY and element.target is not None:
        extents.append(integer(element.extent, INT32))
        element = element.target
    if element.kind is TypeKind.POINTER and type_.extent <= MOST_POINTERS and len(extents) == 1:
        pairs = [_member(state, f"{name}[{position}]", element, span) for position in range(type_.extent)]
        members = tuple((str(position), value) for position, (value, _) in enumerate(pairs))
        return Aggregate(type_, members), [part for _, parts in pairs for part in parts]
    held = element_type(state, element)
    if held is None or element.kind is TypeKind.POINTER:
        return Nothing(), []
    value, listed = _array(state, name, element, (held[0], (*extents, *map(integer, held[1]))), span)
    return (replace(value, index=(), remaining=len(extents)) if isinstance(value, Place) else value), listed


def _array(
    state: State, name: str, type_: CType, held: tuple[DType, tuple[Expr, ...]], span: Span
) -> tuple[Value, list[Parameter]]:
    """Memory that is handed over with the parameters, which nobody writes."""
    dtype, shape = held
    state.buffers[name] = Buffer(name, dtype, shape, True, Space.CONSTANT)
    value_type = ValueType(dtype, shape, Space.CONSTANT)
    parameter = Parameter(name=name, type=value_type, is_buffer=True, span=span, constant=True)
    return Place(name, (ZERO,), type_), [parameter]
