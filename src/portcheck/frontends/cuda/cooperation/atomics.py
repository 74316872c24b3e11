"""Atomic operations on elements."""

from __future__ import annotations

from dataclasses import replace

from portcheck.core.dtype import FLOAT32, DType
from portcheck.frontends.cuda.memory.members import member_place
from portcheck.frontends.cuda.memory.places import pointer_of, read, scalar, target, unwritable
from portcheck.frontends.cuda.memory.views import is_seen_as_held, seen_as
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.conversions import convert, convert_constant, materialised
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Aggregate, Place, Scalar, TypeKind, Value
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import ONE, Atomic, Expr, MemoryOrder, OpaqueKind, Operator, Scope
from portcheck.knowledge import Construct, Role, Semantics

OPERATORS: dict[Semantics, Operator | None] = {
    Semantics.ATOMIC_ADD: Operator.ADD, Semantics.ATOMIC_SUB: Operator.SUBTRACT, Semantics.ATOMIC_MIN: Operator.MINIMUM,
    Semantics.ATOMIC_MAX: Operator.MAXIMUM, Semantics.ATOMIC_AND: Operator.BITWISE_AND,
    Semantics.ATOMIC_OR: Operator.BITWISE_OR, Semantics.ATOMIC_XOR: Operator.BITWISE_XOR,
    Semantics.ATOMIC_EXCHANGE: None, Semantics.ATOMIC_CAS: None, Semantics.ATOMIC_INCREMENT: Operator.ADD,
    Semantics.ATOMIC_DECREMENT: Operator.SUBTRACT,
}  # fmt: skip
WRAPPING = frozenset({Semantics.ATOMIC_INCREMENT, Semantics.ATOMIC_DECREMENT})
"""Steps by one whose argument is where they start again."""


def is_atomic(construct: Construct) -> bool:
    """Whether a construct is an atomic update that the IR can say."""
    return construct.semantics in OPERATORS


def atomic(state: State, call: CallSite, construct: Construct) -> Value | None:
    """Combines a value into an element indivisibly; the value of the call is the old element.

    A vector is combined member by member, each of them indivisibly.
    """
    address, value_node = call.at(construct, Role.ADDRESS_OF), call.at(construct, Role.VALUE)
    expected = call.at(construct, Role.EXPECTED)
    if address is None or value_node is None:
        return None
    compare_node = expected if construct.semantics is Semantics.ATOMIC_CAS else None
    pointer = pointer_of(state, state.evaluate(address))
    if pointer is None:
        reason = f"{call.name} through an unknown pointer"
        if call.node.key == state.statement:
            return state.keep(call.node, reason, kind=OpaqueKind.MEMORY)
        return state.opaque(call.node, reason, kind=OpaqueKind.MEMORY, via=call.via)
    place = target(pointer)
    if place.type.kind is TypeKind.VECTOR and compare_node is None:
        return _vector(state, call, construct, place, value_node)
    obstacle = unwritable(state, place)
    if obstacle is not None:
        dtype = place.type.dtype or FLOAT32
        return state.opaque(call.node, obstacle.reason, dtype, writes=(place.buffer,), kind=obstacle.kind, via=call.via)
    dtype = place.type.dtype or state.buffers[place.buffer].dtype
    if not is_seen_as_held(state, place):
        place = seen_as(state, place, dtype) or place
    value = _operand(state, value_node, dtype)
    compare = _operand(state, compare_node, dtype) if compare_node is not None else None
    return update(
        state, place, construct.semantics, value=value, compare=compare, scope=construct.scope or Scope.DEVICE,
        used=call.node.key != state.statement, via=call.via,
    )  # fmt: skip


def update(
    state: State, place: Place, semantics: Semantics, *, value: Expr, compare: Expr | None = None,
    scope: Scope = Scope.DEVICE, used: bool = False, via: str = "", order: MemoryOrder = MemoryOrder.RELAXED,
) -> Scalar:  # fmt: skip
    """The atomic `semantics` on one element that can be written; gives the old element."""
    dtype = place.type.dtype or state.buffers[place.buffer].dtype
    limit: Expr | None = None
    if semantics in WRAPPING:
        value, limit = convert_constant(ONE, dtype), value
    access = replace(state.access(place), mask=state.mask)
    return state.result(
        Atomic, dtype, access=access, operator=OPERATORS[semantics], value=value, compare=compare, limit=limit,
        scope=scope, order=order, result_used=used, via=via,
    )  # fmt: skip


def _vector(state: State, call: CallSite, construct: Construct, place: Place, node: Node) -> Value | None:
    value = read(state, state.evaluate(node), node)
    if not isinstance(value, Aggregate):
        return None
    names = [name for name, _ in place.type.fields]
    parts = [(member_place(state, place, name), value.member(name)) for name in names]
    old: list[tuple[str, Value]] = []
    for name, (part, given) in zip(names, parts, strict=True):
        if part is None or part.type.dtype is None or not isinstance(given, Scalar) or unwritable(state, part):
            return None
        operand = materialised(state, convert(state, given, part.type.dtype))
        used = call.node.key != state.statement
        scope = construct.scope or Scope.DEVICE
        changed = update(state, part, construct.semantics, value=operand, scope=scope, used=used, via=call.via)
        old.append((name, changed))
    return Aggregate(place.type, tuple(old))


def _operand(state: State, node: Node, dtype: DType) -> Expr:
    value: Scalar = scalar(state, state.evaluate(node), node, dtype)
    return materialised(state, convert(state, value, dtype))
