"""Pointer arithmetic: addresses moved by what they point to, in elements of the buffer and bytes."""

from __future__ import annotations

from dataclasses import replace

from portcheck.core.dtype import INT32, INT64
from portcheck.frontends.cuda.memory.bytes import quotient
from portcheck.frontends.cuda.memory.views import is_zero, moved
from portcheck.frontends.cuda.model.conversions import DEEPEST_EXPRESSION, materialised
from portcheck.frontends.cuda.model.layout import size_of, size_of_dtype
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Pointer, Scalar, TypeKind
from portcheck.ir import ZERO, Const, Expr, Operator, Symbol, apply, is_within


def advance(state: State, pointer: Pointer, step: Scalar, backwards: bool = False) -> Pointer:
    """`pointer + step` (or `- step`)."""
    stride = stride_of(state, pointer)
    if stride is None or not is_zero(pointer.rest):
        return in_bytes(state, pointer, step, backwards)
    return _advanced(state, pointer, scaled_by(step, Const(stride, INT32)), backwards)


def _advanced(state: State, pointer: Pointer, step: Scalar, backwards: bool) -> Pointer:
    """`pointer` moved by elements of its buffer."""
    *outer, last = pointer.index or (ZERO,)
    if outer and all(is_zero(part) for part in pointer.index):
        outer = []
    if pointer.index == () and not is_zero(step.expr):
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
    held, width = size_of_dtype(state, buffer.dtype), size_of(state, pointer.type)
    if is_zero(step.expr) or held is None:
        return pointer
    unit = Const(width, INT32) if width else Symbol(f"sizeof({pointer.type.name})", INT64)
    whole_, left = quotient(scaled_by(step, unit).expr, held)
    at = _advanced(state, pointer, Scalar(whole_, INT64), backwards)
    return replace(at, rest=moved(pointer.rest, left, backwards))


def stride_of(state: State, pointer: Pointer) -> int | None:
    """How many elements of the buffer the type pointed to takes; None where that is no known whole number."""
    buffer = state.buffers.get(pointer.buffer)
    wanted = size_of(state, pointer.type)
    held = size_of_dtype(state, buffer.dtype) if buffer is not None else None
    if not held or not wanted:
        return 1 if pointer.type.kind is TypeKind.SCALAR else None
    return wanted // held if wanted % held == 0 else None


def scaled_by(step: Scalar, unit: Expr) -> Scalar:
    """`step` times `unit`."""
    if unit == Const(1, INT32) or is_zero(step.expr):
        return step
    if isinstance(step.expr, Const) and isinstance(unit, Const) and step.dtype.is_integer:
        return Scalar(Const(int(step.expr.value) * int(unit.value), step.dtype), step.dtype)
    return Scalar(apply(Operator.MULTIPLY, step.expr, unit, dtype=INT64), INT64, step.size + 2)
