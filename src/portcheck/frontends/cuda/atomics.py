"""Atomic operations on elements."""

from __future__ import annotations

from dataclasses import replace

from portcheck.core.dtype import FLOAT32, DType
from portcheck.frontends.cuda.callsite import CallSite
from portcheck.frontends.cuda.conversions import convert, convert_constant, materialised
from portcheck.frontends.cuda.places import pointer_of, scalar, target, unwritable
from portcheck.frontends.cuda.state import State
from portcheck.frontends.cuda.syntax import Node
from portcheck.frontends.cuda.values import Scalar, Value
from portcheck.frontends.cuda.views import is_seen_as_held, seen_as
from portcheck.ir import ONE, Atomic, Expr, OpaqueKind, Operator, Scope
from portcheck.knowledge import Construct, Role, Semantics

_OPERATORS: dict[Semantics, Operator | None] = {
    Semantics.ATOMIC_ADD: Operator.ADD, Semantics.ATOMIC_SUB: Operator.SUBTRACT, Semantics.ATOMIC_MIN: Operator.MINIMUM,
    Semantics.ATOMIC_MAX: Operator.MAXIMUM, Semantics.ATOMIC_AND: Operator.BITWISE_AND,
    Semantics.ATOMIC_OR: Operator.BITWISE_OR, Semantics.ATOMIC_XOR: Operator.BITWISE_XOR,
    Semantics.ATOMIC_EXCHANGE: None, Semantics.ATOMIC_CAS: None, Semantics.ATOMIC_INCREMENT: Operator.ADD,
    Semantics.ATOMIC_DECREMENT: Operator.SUBTRACT,
}  # fmt: skip


_WRAPPING = frozenset({Semantics.ATOMIC_INCREMENT, Semantics.ATOMIC_DECREMENT})
"""Steps by one whose argument is where they start again."""


def is_atomic(construct: Construct) -> bool:
    """Whether a construct is an atomic update that the IR can say."""
    return construct.semantics in _OPERATORS


def atomic(state: State, call: CallSite, construct: Construct) -> Value | None:
    """Combines a value into an element indivisibly; the value of the call is the old element."""
    address, value_node = call.at(construct, Role.ADDRESS_OF), call.at(construct, Role.VALUE)
    expected = call.at(construct, Role.EXPECTED)
    if address is None or value_node is None:
        return None
    compare_node = expected if construct.semantics is Semantics.ATOMIC_CAS else None
    pointer = pointer_of(state, state.evaluate(address))
    if pointer is None:
        return state.opaque(call.node, f"{call.name} through an unknown pointer", kind=OpaqueKind.MEMORY, via=call.via)
    place = target(pointer)
    obstacle = unwritable(state, place)
    if obstacle is not None:
        dtype = place.type.dtype or FLOAT32
        return state.opaque(call.node, obstacle.reason, dtype, writes=(place.buffer,), kind=obstacle.kind, via=call.via)
    dtype = place.type.dtype or state.buffers[place.buffer].dtype
    if not is_seen_as_held(state, place):
        place = seen_as(state, place, dtype) or place
    value = _operand(state, value_node, dtype)
    compare = _operand(state, compare_node, dtype) if compare_node is not None else None
    limit: Expr | None = None
    if construct.semantics in _WRAPPING:
        value, limit = convert_constant(ONE, dtype), value
    access = replace(state.access(place), mask=state.mask)
    return state.result(
        Atomic, dtype, access=access, operator=_OPERATORS[construct.semantics], value=value, compare=compare,
        limit=limit, scope=construct.scope or Scope.DEVICE, result_used=call.node.key != state.statement, via=call.via,
    )  # fmt: skip


def _operand(state: State, node: Node, dtype: DType) -> Expr:
    value: Scalar = scalar(state, state.evaluate(node), node, dtype)
    return materialised(state, convert(state, value, dtype))
