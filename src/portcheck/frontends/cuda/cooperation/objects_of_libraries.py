"""Objects of CUDA's libraries: what makes threads work together, and functions that stand for operators."""

from __future__ import annotations

from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import element_type_of
from portcheck.frontends.cuda.model.values import CType, Facility, Functor, TypeKind, Value
from portcheck.ir import Operator
from portcheck.knowledge import Semantics


def operator_named(state: State, name: str) -> Functor | None:
    """The operator that objects of the type `name` stand for."""
    construct = state.construct(name) if name else None
    if construct is None or construct.semantics is not Semantics.OBJECT or construct.operator is None:
        return None
    return Functor(Operator(construct.operator), construct.name)


def facility_of(state: State, type_: CType) -> Facility | None:
    """The object of a class whose objects make threads work together, or memory that is set aside for one."""
    element = element_type_of(type_)
    if element.kind is TypeKind.RECORD and element.fields:
        members = [facility_of(state, field) for _, field in element.fields]
        return members[0] if all(member is not None for member in members) else None
    if element.kind is not TypeKind.LIBRARY:
        return None
    construct = state.construct(element.name)
    scope = construct.scope if construct is not None and construct.scope is not None else ""
    return Facility(element.name, scope, element.extent, element.words)


def library_object(state: State, type_: CType, value: Value | None) -> Value | None:
    """A variable of a class of CUDA's libraries: what it is made of does not matter."""
    if value is None and type_.kind is TypeKind.UNKNOWN:
        return operator_named(state, type_.name)
    is_made = type_.kind is TypeKind.LIBRARY and isinstance(value, Facility) and value.name != type_.name
    return facility_of(state, type_) if is_made else None
