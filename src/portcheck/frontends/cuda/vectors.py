"""Values of several members: short vectors and plain records, in variables and in memory."""

from __future__ import annotations

from portcheck.core.dtype import FLOAT32, DType
from portcheck.frontends.cuda.conversions import convert, materialised
from portcheck.frontends.cuda.state import State
from portcheck.frontends.cuda.values import Aggregate, CType, Place, Scalar, TypeKind, Value
from portcheck.ir import Const


def element_type(state: State, type_: CType) -> tuple[DType, tuple[int, ...]] | None:
    """The number an array of `type_` holds, and the extent a vector adds; None where there is no one number."""
    if type_.kind is TypeKind.SCALAR and type_.dtype is not None:
        return type_.dtype, ()
    if type_.kind is TypeKind.VECTOR:
        dtype = type_.fields[0][1].dtype
        return None if dtype is None else (dtype, (len(type_.fields),))
    return None


def lanes_of(type_: CType) -> int:
    """How many numbers a value of `type_` holds in a row."""
    return len(type_.fields) if type_.kind is TypeKind.VECTOR else 1


def variable_members(state: State, name: str, type_: CType, value: Aggregate | Scalar | None, changes: bool) -> Value:
    """A variable of several members: each an alias, or a register where the variable is changed.

    A number where members were wanted (text that was not understood) stands for each of them.
    """
    shape = value.type if isinstance(value, Aggregate) else type_
    members: list[tuple[str, Value]] = []
    for field, field_type in shape.fields:
        given = value.member(field) if isinstance(value, Aggregate) else value
        dtype = field_type.dtype
        if dtype is not None and isinstance(given, Scalar):
            given = convert(state, given, dtype)
        members.append((field, _member(state, f"{name}.{field}", dtype, given, changes)))
    return Aggregate(shape, tuple(members))


def _member(state: State, name: str, dtype: DType | None, given: Value | None, changes: bool) -> Value:
    if given is not None and not (changes and isinstance(given, Scalar)):
        return given
    if given is None and not changes and dtype is not None:
        return Scalar(Const(0.0 if dtype.is_float else 0, dtype), dtype)
    place: Place = state.register(name, dtype or FLOAT32)
    if isinstance(given, Scalar):
        state.store(place, materialised(state, convert(state, given, dtype or FLOAT32)))
    return place


def loaded(state: State, value: Aggregate) -> Aggregate:
    """An aggregate whose members are values, not places."""
    members = tuple(
        (name, state.load(member, member.type.dtype) if isinstance(member, Place) and member.type.dtype else member)
        for name, member in value.members
    )
    return Aggregate(value.type, members)
