"""Addresses kept as whole numbers: which element of which buffer such a number leads to."""

from __future__ import annotations

from dataclasses import replace

from portcheck.core.dtype import INT8, INT64
from portcheck.frontends.cuda.memory.bytes import quotient
from portcheck.frontends.cuda.memory.stepping import advance
from portcheck.frontends.cuda.memory.views import moved
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import scalar_type
from portcheck.frontends.cuda.model.values import CType, Pointer, Scalar
from portcheck.ir import ZERO, Apply, Const, Expr, Operator, Symbol

_BYTE = scalar_type(INT8)
_MOST_PARTS = 200


def pointer_at(state: State, expression: Expr, type_: CType = _BYTE) -> Pointer | None:
    """The address that a sum of one buffer's address and distances in bytes is; None for any other number."""
    buffer = ""
    distance: Expr = ZERO
    pending: list[tuple[Expr, bool]] = [(expression, False)]
    for _ in range(_MOST_PARTS):
        if not pending:
            break
        part, is_negative = pending.pop()
        match part:
            case Symbol(name) if name in state.buffers and not buffer and not is_negative:
                buffer = name
            case Apply(Operator.ADD, (left, right), _) if state.is_address(part):
                pending += [(right, is_negative), (left, is_negative)]
            case Apply(Operator.SUBTRACT, (left, right), _) if state.is_address(part):
                pending += [(right, not is_negative), (left, is_negative)]
            case Const(0):
                pass
            case _:
                distance = moved(distance, part, is_negative)
    if not buffer or pending:
        return None
    held = state.knowledge.dtype(state.buffers[buffer].dtype.name)
    if held is None or state.is_address(distance):
        return None
    whole, rest = quotient(distance, max(1, held.bits // 8))
    return Pointer(buffer, (whole,), type_, rest)


def moved_by_bytes(state: State, pointer: Pointer, distance: int) -> Pointer:
    """`pointer` that many bytes on; what it points to is not touched."""
    if not distance:
        return pointer
    stepped = advance(state, replace(pointer, type=_BYTE), Scalar(Const(distance, INT64), INT64))
    return replace(stepped, type=pointer.type)
