"""What an inlined function hands back: its value where it surely returns, else registers that every return writes."""

from __future__ import annotations

from dataclasses import replace

from portcheck.core.dtype import INT32, INT64, DType
from portcheck.frontends.cuda.memory.aims import NONE
from portcheck.frontends.cuda.memory.places import read, write
from portcheck.frontends.cuda.model.conversions import convert
from portcheck.frontends.cuda.model.frames import Frame
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import scalar_type
from portcheck.frontends.cuda.model.values import (
    Aggregate,
    Buffer,
    CType,
    Nothing,
    Null,
    Place,
    Pointer,
    PointerCell,
    Scalar,
    TypeKind,
    Value,
)  # fmt: skip
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import Alloc, OpaqueKind, ValueType


def leave_result(state: State, frame: Frame, value: Value, node: Node) -> None:
    """Writes what one of several returns gives to where the result is left."""
    if frame.slot is None:
        frame.slot = _slot(state, frame, f"{frame.name}.result", value, frame.result_type)
    if frame.result_type.kind in (TypeKind.VECTOR, TypeKind.RECORD) and frame.slot is not None:
        write(state, frame.slot, value, node, "return")
        return
    if frame.slot is None or not _write(state, frame.slot, value, node):
        state.keep(node, "a value returned from several places", kind=OpaqueKind.MEMORY)


def result_of(state: State, frame: Frame, node: Node) -> Value:
    """The value of the call once the body is done."""
    if frame.result_type.kind is TypeKind.VOID:
        return Nothing()
    if frame.value is None:
        return read(state, frame.slot, node) if frame.slot is not None else Nothing()
    value, dtype = frame.value, frame.result_type.dtype
    if isinstance(value, Scalar) and frame.result_type.kind is TypeKind.SCALAR and dtype is not None:
        return convert(state, value, dtype)
    return value


def allocate_registers(state: State, frame: Frame) -> None:
    """Allocates what the body writes its result to; stands ahead of the body."""
    for name, dtype in frame.registers:
        state.builder.emit(Alloc, name=name, type=ValueType(dtype))


def _slot(state: State, frame: Frame, name: str, value: Value, type_: CType) -> Value | None:
    match value:
        case Scalar(dtype=dtype):
            dtype = type_.dtype if type_.kind is TypeKind.SCALAR and type_.dtype is not None else dtype
            return _register(state, frame, name, dtype)
        case Pointer() | Null():
            return _pointer_slot(state, frame, name, value, type_)
        case Aggregate():
            types = dict(value.type.fields)
            members = [
                (member, _slot(state, frame, f"{name}.{member}", part, types.get(member, type_)))
                for member, part in value.members
            ]
            kept = tuple((member, part) for member, part in members if part is not None)
            return Aggregate(value.type, kept) if len(kept) == len(members) else None
        case _:
            pass
    return None


def _pointer_slot(state: State, frame: Frame, name: str, value: Pointer | Null, type_: CType) -> PointerCell:
    offset = _register(state, frame, f"{name}.offset", INT64)
    if isinstance(value, Pointer):
        cell = PointerCell(value.buffer, offset.buffer, value.type)
    else:
        cell = PointerCell(NONE, offset.buffer, type_.target or type_)
    options = state.several.get(offset.buffer, ())
    if not options:
        return cell
    return replace(cell, selector=_register(state, frame, f"{name}.buffer", INT32).buffer, options=options)


def _register(state: State, frame: Frame, name: str, dtype: DType) -> Place:
    buffer = Buffer(state.unique(name), dtype, ())
    state.buffers[buffer.name] = buffer
    state.locals.add(buffer.name)
    frame.registers.append((buffer.name, dtype))
    return Place(buffer.name, (), scalar_type(dtype))


def _write(state: State, slot: Value, value: Value, node: Node) -> bool:
    match slot:
        case Place():
            if not isinstance(value, Scalar):
                return False
            write(state, slot, value, node, "return")
        case PointerCell():
            if not isinstance(value, Pointer | Null):
                return False
            write(state, slot, value, node, "return")
        case Aggregate():
            parts = [
                (part, value.member(name) if isinstance(value, Aggregate) else None) for name, part in slot.members
            ]
            return all(other is not None and _write(state, part, other, node) for part, other in parts)
        case _:
            return False
    return True
