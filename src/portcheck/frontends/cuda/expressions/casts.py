"""Casts as written, and comparisons of addresses."""

from __future__ import annotations

from portcheck.core.dtype import BOOL, INT64, UINT64
from portcheck.frontends.cuda.expressions.numbers import bits_of
from portcheck.frontends.cuda.memory.addresses import pointer_at
from portcheck.frontends.cuda.memory.places import address_expression, pointer_of, read, scalar
from portcheck.frontends.cuda.memory.stepping import stride_of
from portcheck.frontends.cuda.memory.views import flat, is_zero
from portcheck.frontends.cuda.model.conversions import constructed, convert, pure, saturates
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import type_of_value
from portcheck.frontends.cuda.model.values import (
    Aggregate,
    CType,
    Handle,
    Lost,
    Nothing,
    Null,
    Pointer,
    Scalar,
    TypeKind,
    Value,
)  # fmt: skip
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import Const, OpaqueKind, Operator

_BYTE = 8
_COMPARISONS = {
    "==": Operator.EQUAL, "!=": Operator.NOT_EQUAL, "<": Operator.LESS, "<=": Operator.LESS_EQUAL,
    ">": Operator.GREATER, ">=": Operator.GREATER_EQUAL,
}  # fmt: skip


def cast_to(state: State, node: Node, inner: Node, type_: CType, via: str) -> Value:
    """`inner` cast to `type_`."""
    value = state.evaluate(inner)
    match type_.kind:
        case TypeKind.VOID:
            read(state, value, inner)
            return Nothing()
        case TypeKind.SCALAR if type_.dtype is not None:
            if type_.reference:
                return value
            return constructed(state, scalar(state, value, inner), type_, type_.dtype, via)
        case TypeKind.POINTER:
            if type_.reference:
                return value
            return _cast_pointer(state, node, value, type_)
        case TypeKind.DEDUCED:
            return value
        case _:
            pass
    if isinstance(value, Lost):
        return value
    if type_.kind is TypeKind.RECORD or (type_.kind is TypeKind.VECTOR and has_record(value)):
        return read(state, state.make(type_, [inner], node, ""), node)
    loaded = read(state, value, inner)
    if isinstance(loaded, Aggregate) and loaded.type.name == type_.name:
        return loaded
    widened = packed(state, [loaded], type_, via) or _widened(state, loaded, type_, via)
    if widened is not None:
        return widened
    return state.opaque(node, f"cast to {type_.name}", kind=OpaqueKind.DTYPE)


def _widened(state: State, value: Value, type_: CType, via: str) -> Value | None:
    """A vector of numbers of 8 bits as one of wider numbers, which is the only cast between vectors there is."""
    if not isinstance(value, Aggregate) or type_.kind is not TypeKind.VECTOR:
        return None
    parts = [part for _, part in value.members if isinstance(part, Scalar)]
    if len(parts) != len(type_.fields) or any(bits_of(state, part.dtype) != _BYTE for part in parts):
        return None
    if not all(part.dtype.is_float for part in parts):
        return None
    pairs = zip(type_.fields, parts, strict=True)
    members = [
        (name, convert(state, part, field.dtype, via)) for (name, field), part in pairs if field.dtype is not None
    ]
    return Aggregate(type_, tuple(members))


def packed(state: State, values: list[Value], type_: CType, via: str = "") -> Value | None:
    """A vector that keeps its numbers within its range, of wider vectors; None for any other, or of other values."""
    if not is_packed(state, type_):
        return None
    parts = [part for value in values if isinstance(value, Aggregate) for _, part in value.members]
    numbers = [part for part in parts if isinstance(part, Scalar) and part.dtype.is_float]
    if len(numbers) != len(parts) or len(numbers) != len(type_.fields):
        return None
    members = [
        (name, constructed(state, number, type_, field.dtype, via))
        for (name, field), number in zip(type_.fields, numbers, strict=True) if field.dtype is not None
    ]  # fmt: skip
    return Aggregate(type_, tuple(members))


def is_packed(state: State, type_: CType) -> bool:
    """Whether `type_` is a vector that keeps its numbers within its range."""
    return type_.kind is TypeKind.VECTOR and saturates(state, type_)


def packed_of(state: State, type_: CType, listed: list[Node], node: Node) -> Value:
    """A vector that keeps its numbers within its range: a copy of one, or made of wider ones."""
    values = [read(state, state.evaluate(item), item) for item in listed]
    is_same = isinstance(values[0], Aggregate) and values[0].type.name == type_.name
    if len(values) == 1 and (isinstance(values[0], Lost) or is_same):
        return values[0]
    made = packed(state, values, type_, type_.name)
    return made or state.opaque(node, f"initialiser of a {type_.name}", kind=OpaqueKind.DTYPE)


def has_record(value: Value) -> bool:
    """Whether a value is a record, which may say how it is converted."""
    type_ = type_of_value(value)
    return type_ is not None and type_.kind is TypeKind.RECORD


def _cast_pointer(state: State, node: Node, value: Value, type_: CType) -> Value:
    if isinstance(value, Null) or (isinstance(value, Scalar) and _is_zero(value)):
        return Null()
    if isinstance(value, Lost):
        return value
    if isinstance(value, Handle) and type_.target is not None and type_.target.name == _pointee(value):
        return value
    pointer = pointer_of(state, value)
    target = type_.target
    if pointer is None and isinstance(value, Scalar) and target is not None and target.kind is not TypeKind.VOID:
        pointer = pointer_at(state, value.expr, target)
    if pointer is None or target is None:
        reason = f"reinterpret_cast to {type_.name.removesuffix('*')}"
        return state.opaque(node, reason, UINT64, kind=OpaqueKind.DTYPE)
    if target.kind is TypeKind.VOID:
        return pointer
    return Pointer(pointer.buffer, pointer.index, target, pointer.rest)


def _pointee(address: Handle) -> str:
    """What the type is called that `address` points to."""
    type_ = type_of_value(address, through_pointer=True)
    return type_.name if type_ is not None else ""


def _is_zero(value: Scalar) -> bool:
    return isinstance(value.expr, Const) and value.expr.value == 0


def pointer_comparison(state: State, left: Value, right: Value, text: str) -> Scalar | None:
    """`left == right` and the like for addresses; None where it is none."""
    operator = _COMPARISONS.get(text)
    none = _comparison_with_none(state, left, right, operator)
    if none is not None:
        return none
    addresses = [_address(state, value) for value in (left, right)]
    if operator is None or addresses[0] is None or addresses[1] is None:
        return None
    first, second = addresses[0], addresses[1]
    if isinstance(first.expr, Const) and isinstance(second.expr, Const):
        return Scalar(Const(operator in (Operator.EQUAL, Operator.LESS_EQUAL, Operator.GREATER_EQUAL), BOOL), BOOL)
    return pure(state, operator, (first, second), BOOL)


def _comparison_with_none(state: State, left: Value, right: Value, operator: Operator | None) -> Scalar | None:
    """Whether a variable or array of the kernel lies at the null pointer: it never does."""
    sides = (left, right)
    is_equality = operator in (Operator.EQUAL, Operator.NOT_EQUAL)
    is_none = any(isinstance(side, Null) or (isinstance(side, Scalar) and _is_zero(side)) for side in sides)
    if not is_equality or not is_none or not any(is_own(state, side) for side in sides):
        return None
    return Scalar(Const(operator is Operator.NOT_EQUAL, BOOL), BOOL)


def is_own(state: State, value: Value) -> bool:
    """Whether a value is the address of a variable or array of the kernel, which is never null."""
    if isinstance(value, Pointer):
        return state.is_own_address(address_expression(state, value))
    return isinstance(value, Handle)


def distance(state: State, left: Value, right: Value) -> Scalar | None:
    """`left - right` for addresses in one buffer, in elements of the type pointed to; None for others."""
    if not isinstance(left, Pointer) or not isinstance(right, Pointer) or left.buffer != right.buffer:
        return None
    stride = stride_of(state, left)
    if not stride or not is_zero(left.rest) or not is_zero(right.rest):
        return None
    ends = (Scalar(flat(state, left.buffer, left.index), INT64), Scalar(flat(state, right.buffer, right.index), INT64))
    steps = pure(state, Operator.SUBTRACT, ends, INT64)
    size = Scalar(Const(stride, INT64), INT64)
    return steps if stride == 1 else pure(state, Operator.TRUNCATED_DIVIDE, (steps, size), INT64)


def _address(state: State, value: Value) -> Scalar | None:
    match value:
        case Pointer():
            return Scalar(address_expression(state, value), UINT64)
        case Null():
            return Scalar(Const(0, UINT64), UINT64)
        case Scalar() if _is_zero(value):
            return Scalar(Const(0, UINT64), UINT64)
        case _:
            pass
    return None
