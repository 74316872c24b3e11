"""Objects whose every use is atomic: a number that is one, or an element seen through a reference that makes it one."""

from __future__ import annotations

from dataclasses import replace

from portcheck.core.dtype import BOOL, DType
from portcheck.frontends.cuda.cooperation.atomics import OPERATORS, update
from portcheck.frontends.cuda.expressions.arithmetic import binary, one_of
from portcheck.frontends.cuda.memory.places import read, scalar, unwritable, write
from portcheck.frontends.cuda.memory.views import is_seen_as_held, seen_as
from portcheck.frontends.cuda.model.callsite import CallSite, qualified_name
from portcheck.frontends.cuda.model.conversions import convert, materialised
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import CType, Nothing, Place, Scalar, TypeKind, Value
from portcheck.frontends.cuda.parsing.syntax import Node, bare
from portcheck.ir import Compute, Expr, Fence, MemoryOrder, OpaqueKind, Operator, Scope
from portcheck.knowledge import Construct, Role, Semantics

_ASSIGNMENTS = {
    "+=": Semantics.ATOMIC_ADD, "-=": Semantics.ATOMIC_SUB, "&=": Semantics.ATOMIC_AND, "|=": Semantics.ATOMIC_OR,
    "^=": Semantics.ATOMIC_XOR, "++": Semantics.ATOMIC_ADD, "--": Semantics.ATOMIC_SUB,
}  # fmt: skip
_ACQUIRES = frozenset({MemoryOrder.ACQUIRE, MemoryOrder.ACQUIRE_RELEASE, MemoryOrder.SEQUENTIAL})
_RELEASES = frozenset({MemoryOrder.RELEASE, MemoryOrder.ACQUIRE_RELEASE, MemoryOrder.SEQUENTIAL})


def is_atomic_type(type_: CType) -> bool:
    """Whether what is of this type is used atomically."""
    return type_.kind is TypeKind.SCALAR and bool(type_.words)


def is_atomic_object(value: Value) -> bool:
    """Whether a value is an element or variable that is used atomically."""
    return isinstance(value, Place) and not value.remaining and is_atomic_type(value.type)


def seen_atomically(value: Value, type_: CType) -> Value | None:
    """An element as an atomic reference of `type_` sees it; None where it is none of that number."""
    is_element = isinstance(value, Place) and not value.remaining and value.type.dtype == type_.dtype
    return replace(value, type=type_) if is_element and isinstance(value, Place) else None


def object_method(state: State, call: CallSite, place: Place) -> Value:
    """`object.name(...)`."""
    construct = state.construct(f"{place.type.name}::{call.name}")
    found: Value | None = None
    held = _held(state, place)
    order = _order(state, call, construct) if construct is not None else None
    if construct is not None and order is not None and held is not None:
        found = _done(state, call, construct, (held, order))
    if found is not None:
        return found
    for argument in call.arguments if construct is None or order is None else ():
        read(state, state.evaluate(argument), argument)
    return state.opaque(
        call.node, f"{place.type.name}::{call.name} is not modelled", place.type.dtype or BOOL,
        writes=(place.buffer,), kind=OpaqueKind.LIBRARY, via=call.via,
    )  # fmt: skip


def _done(state: State, call: CallSite, construct: Construct, on: tuple[Place, MemoryOrder]) -> Value | None:
    place, order = on
    if construct.semantics is Semantics.HINT:
        return Nothing()
    if construct.semantics is Semantics.ATOMIC_LOAD:
        return _loaded(state, call, place, order)
    value_node, expected_node = call.at(construct, Role.VALUE), call.at(construct, Role.EXPECTED)
    dtype = place.type.dtype
    if value_node is None or dtype is None:
        return None
    if construct.semantics is Semantics.ATOMIC_CAS:
        return _compared(state, call, (place, order), (expected_node, value_node))
    value = _number(state, value_node, dtype)
    if construct.semantics is Semantics.ATOMIC_STORE:
        _fence(state, call, place, order if order in _RELEASES else MemoryOrder.RELAXED)
        state.store(place, value, via=call.via)
        return Nothing()
    if construct.semantics not in OPERATORS:
        return None
    used = call.node.key != state.statement
    return _updated(state, place, construct.semantics, value=value, used=used, via=call.via, order=order)


def _loaded(state: State, call: CallSite, place: Place, order: MemoryOrder) -> Value:
    number = read(state, place, call.node, call.via)
    _fence(state, call, place, order if order in _ACQUIRES else MemoryOrder.RELAXED)
    return number


def _fence(state: State, call: CallSite, place: Place, order: MemoryOrder) -> None:
    if order is not MemoryOrder.RELAXED:
        state.builder.emit(Fence, scope=_scope(place), order=order, via=call.via)


def _compared(
    state: State, call: CallSite, on: tuple[Place, MemoryOrder], nodes: tuple[Node | None, Node]
) -> Value | None:
    """Whether the element was as expected, and was changed; what was expected becomes what it was."""
    (place, order), (expected_node, value_node) = on, nodes
    dtype = place.type.dtype
    if expected_node is None or dtype is None or not dtype.is_integer:
        return None
    variable = state.evaluate(expected_node)
    if not isinstance(variable, Place):
        return None
    seen = scalar(state, variable, expected_node, dtype)
    expected, value = materialised(state, convert(state, seen, dtype)), _number(state, value_node, dtype)
    old = _updated(
        state, place, Semantics.ATOMIC_CAS, value=value, compare=expected, used=True, via=call.via, order=order
    )
    same = state.result(
        Compute, BOOL, operator=Operator.EQUAL, operands=(materialised(state, old), expected), via=call.via
    )
    write(state, variable, old, call.node, call.via)
    return same


def object_assignment(state: State, node: Node, place: Place, value: Scalar, text: str) -> Value | None:
    """`object += value`, and the like: the new value; None for an operator that there is not."""
    semantics, held = _ASSIGNMENTS.get(text), _held(state, place)
    if semantics is None or held is None or held.type.dtype is None:
        return None
    number = convert(state, value, held.type.dtype)
    used, order = node.key != state.statement, MemoryOrder.SEQUENTIAL
    operand = materialised(state, number)
    old = _updated(state, held, semantics, value=operand, used=used, via=text, order=order)
    return binary(state, text[:1], old, number, via=text) if used else old


def object_step(state: State, node: Node, place: Place, text: str, is_before: bool) -> Value | None:
    """`++object`, `object--` and the like."""
    if place.type.dtype is None:
        return None
    one, held = one_of(place.type.dtype), _held(state, place)
    if is_before or held is None:
        return object_assignment(state, node, place, one, text)
    used = node.key != state.statement
    return _updated(state, held, _ASSIGNMENTS[text], value=one.expr, used=used, via=text, order=MemoryOrder.SEQUENTIAL)


def _updated(
    state: State, place: Place, semantics: Semantics, *, value: Expr, order: MemoryOrder, used: bool, via: str,
    compare: Expr | None = None,
) -> Scalar:  # fmt: skip
    return update(
        state, place, semantics, value=value, compare=compare, scope=_scope(place), used=used, via=via, order=order
    )


def _scope(place: Place) -> Scope:
    return Scope(place.type.words[0])


def _held(state: State, place: Place) -> Place | None:
    """The element in memory as its own number; None where it cannot be written."""
    if unwritable(state, place) is not None or place.type.dtype is None:
        return None
    return place if is_seen_as_held(state, place) else seen_as(state, place, place.type.dtype)


def _number(state: State, node: Node, dtype: DType) -> Expr:
    return materialised(state, convert(state, scalar(state, state.evaluate(node), node, dtype), dtype))


def _order(state: State, call: CallSite, construct: Construct) -> MemoryOrder | None:
    """What a use orders: as its argument says, everything without one."""
    node = call.at(construct, Role.ORDER)
    if node is None:
        return MemoryOrder.SEQUENTIAL
    named = state.construct(qualified_name(state, bare(node))[0])
    return named.memory_order if named is not None else None
