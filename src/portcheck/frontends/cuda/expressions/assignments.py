"""Operators on values of several members, and assignments: into variables, elements, names that are aliases."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from portcheck.core.dtype import INT32
from portcheck.frontends.cuda.cooperation.atomic_objects import is_atomic_object, object_assignment, object_step
from portcheck.frontends.cuda.expressions.arithmetic import binary, logical, one_of
from portcheck.frontends.cuda.expressions.choices import condition
from portcheck.frontends.cuda.expressions.regrouping import holds_wreck, regrouped, separated
from portcheck.frontends.cuda.memory.bits import copy_bits, is_reinterpreted
from portcheck.frontends.cuda.memory.places import read, scalar, write
from portcheck.frontends.cuda.memory.stepping import advance
from portcheck.frontends.cuda.memory.vectors import is_variable, variable_members
from portcheck.frontends.cuda.model.conversions import convert
from portcheck.frontends.cuda.model.reach import memory
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import type_of_value
from portcheck.frontends.cuda.model.values import (
    Aggregate,
    Lost,
    Nothing,
    Place,
    Pointer,
    PointerCell,
    Scalar,
    Slot,
    TypeKind,
    Value,
)  # fmt: skip
from portcheck.frontends.cuda.parsing.syntax import Node, bare
from portcheck.ir import ZERO, Branch, Const, Op, OpaqueKind, Operator

_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_EFFECTS = ("call_expression", "assignment_expression", "update_expression")


def operands(node: Node) -> tuple[Node | None, Node | None, str]:
    """The two sides of an operator and how it is written."""
    operator = node.field("operator")
    return node.field("left"), node.field("right"), operator.text if operator is not None else ""


def has_members(value: Value) -> bool:
    """Whether a value may have an operator of its own."""
    if isinstance(value, Place):
        return not value.remaining and value.type.kind in (TypeKind.VECTOR, TypeKind.RECORD)
    return isinstance(value, Aggregate)


def is_vector(value: Value) -> bool:
    """Whether a value is a short vector."""
    return isinstance(value, Aggregate) and value.type.kind is TypeKind.VECTOR


def memberwise(state: State, node: Node, sides: tuple[Value, Value], text: str) -> Value:
    """An operator on vectors: member by member, a number against each; a comparison holds where it does for all."""
    shape = next(side for side in sides if isinstance(side, Aggregate))
    members: list[tuple[str, Value]] = []
    for name, _ in shape.members:
        parts = [side.member(name) if isinstance(side, Aggregate) else side for side in sides]
        left, right = parts
        if shape.type.kind is not TypeKind.VECTOR or not (isinstance(left, Scalar) and isinstance(right, Scalar)):
            return state.opaque(node, f"operator {text} on {shape.type.name}", kind=OpaqueKind.DTYPE)
        result = binary(state, text, left, right)
        if result is None:
            return state.opaque(node, f"operator {text} on {shape.type.name}", kind=OpaqueKind.DTYPE)
        members.append((name, result))
    if text in _COMPARISONS:
        holds = [member for _, member in members if isinstance(member, Scalar)]
        return reduce(lambda one, other: logical(state, Operator.LOGICAL_AND, one, other, text), holds)
    return Aggregate(shape.type, tuple(members))


def assignment(state: State, node: Node) -> Value:
    """`left = right`, `left += right` and the like; the right side comes first."""
    left, right, text = operands(node)
    if left is None or right is None:
        return state.keep(node, "assignment without operands")
    if right.type == "initializer_list":
        return _assigned_list(state, node, left, right, text)
    source = state.evaluate(right)
    return _onto(state, node, settled(state, left), (right, source), text)


def settled(state: State, left: Node) -> Node:
    """What `(a += b)`, `++a` and `(a, b)` name, once they are done; any other expression as it is."""
    left = bare(left)
    left = bare(regrouped(state, left) or (separated(left) if holds_wreck(left) else None) or left)
    first, second = left.field("left"), left.field("right")
    if left.type == "comma_expression" and first is not None and second is not None:
        state.evaluate(first)
        return settled(state, second)
    named = _innermost(left)
    if named is left or named.found(*_EFFECTS):
        return left
    state.evaluate(left)
    return named


def _innermost(node: Node) -> Node:
    """The name or element that nested assignments and leading steps are about."""
    while node.type == "assignment_expression" or (node.type == "update_expression" and node.text[0] in "+-"):
        inner = node.field("left") or node.field("argument")
        if inner is None:
            break
        node = bare(inner)
    return node


def _onto(state: State, node: Node, left: Node, given: tuple[Node, Value], text: str) -> Value:
    """Assigns what is on the right to `left`, or to that of two which a condition chooses."""
    if left.type == "conditional_expression":
        right, source = given
        kept = source if has_members(source) else read(state, source, right)
        return _either(state, node, left, lambda arm: _onto(state, node, settled(state, arm), (right, kept), text))
    return _assigned(state, node, left, given, text)


def _either(state: State, node: Node, chosen: Node, change: Callable[[Node], Value]) -> Value:
    """Changes that arm of `c ? a : b` which the condition chooses."""
    parts = [chosen.field(name) for name in ("condition", "consequence", "alternative")]
    if parts[0] is None or parts[1] is None or parts[2] is None:
        return state.keep(node, "conditional expression")
    holds = condition(state, parts[0]).expr
    if isinstance(holds, Const):
        return change(parts[1] if holds.value else parts[2])
    regions: list[tuple[Op, ...]] = []
    for arm in parts[1:]:
        with state.builder.region() as body:
            change(arm or node)
        regions.append(tuple(body))
    state.builder.emit(Branch, condition=holds, then=regions[0], otherwise=regions[1], via="?:")
    if node.key == state.statement:
        return Nothing()
    return state.opaque(node, "value of an assignment to one of two", kind=OpaqueKind.MEMORY)


def _assigned(state: State, node: Node, left: Node, given: tuple[Node, Value], text: str) -> Value:
    right, source = given
    if text == "=" and is_reinterpreted(state, source):
        place = state.evaluate(left)
        copied = copy_bits(state, place, source)
        if copied is not None:
            return copied
        return _assign(state, bare(left), place, read(state, source, right), node, text)
    value = source if has_members(source) else read(state, source, right)
    place = state.evaluate(left)
    if has_members(place):
        assigned = _overloaded(state, node, (bare(left), place), (right, value), text)
        if assigned is not None:
            return assigned
    value = read(state, value, right)
    if text != "=" and isinstance(place, Place) and is_atomic_object(place):
        number = scalar(state, value, right)
        changed = object_assignment(state, node, place, number, text)
        return changed or state.opaque(node, f"operator {text}", writes=(place.buffer,), kind=OpaqueKind.DTYPE)
    if text != "=":
        old = read(state, place, left)
        if isinstance(old, Aggregate) or isinstance(value, Aggregate):
            value = memberwise(state, node, (old, value), text.removesuffix("="))
        elif isinstance(old, Pointer) and isinstance(value, Scalar) and text in ("+=", "-="):
            value = advance(state, old, value, backwards=text == "-=")
        else:
            old_number, number = scalar(state, old, left), scalar(state, value, right)
            combined = binary(state, text.removesuffix("="), old_number, number, via=text)
            lost = next((side for side in (old_number, number) if isinstance(side, Lost)), None)
            value = combined or lost or state.opaque(node, f"operator {text}", old_number.dtype, kind=OpaqueKind.DTYPE)
    return _assign(state, bare(left), place, value, node, text)


def _assigned_list(state: State, node: Node, left: Node, right: Node, text: str) -> Value:
    """`x = {a, b}`: a value of the type of `x` made of the list."""
    place = state.evaluate(left)
    type_ = type_of_value(place)
    if type_ is None:
        return state.keep(node, "assignment of a list", kind=OpaqueKind.DTYPE)
    value = read(state, state.make(type_, right.named, right, ""), right)
    return _assign(state, bare(left), place, value, node, text)


def _overloaded(
    state: State, node: Node, target_: tuple[Node, Value], given: tuple[Node, Value], text: str
) -> Value | None:
    """An assignment by an operator function; it changes registers, which a name that was an alias then stands for."""
    left, place = target_
    variable = place
    if isinstance(place, Aggregate) and not is_variable(place) and place.members:
        variable = variable_members(state, place.type.name, place.type, place, node, True)
    found = state.operator_call(node, f"operator{text}", [(left, variable), given])
    if found is not None and variable is not place:
        _assign(state, left, place, read(state, variable, left), node, text)
    return found


def _assign(state: State, left: Node, place: Value, value: Value, node: Node, via: str) -> Value:
    """Stores into a variable or element; a name that is an alias becomes an alias of the new value."""
    if isinstance(place, Place | PointerCell | Slot):
        return write(state, place, value, node, via)
    if isinstance(place, Aggregate) and isinstance(value, Aggregate) and is_variable(place):
        for name, member in place.members:
            part = value.member(name)
            if isinstance(member, Place) and part is not None:
                write(state, member, part, node, via)
        return value
    if isinstance(place, Lost) and left.type == "identifier":
        if state.lookup(left.text) is None:  # it may be another name of anything
            return state.keep(node, f"assignment to the unknown name {left.text}", writes=memory(state))
        return place
    if isinstance(place, Aggregate) and isinstance(value, Aggregate) and place.type.kind is TypeKind.RECORD:
        return write(state, place, value, node, via)
    if left.type == "identifier" and state.lookup(left.text) is not None:
        kept = convert(state, value, place.dtype) if isinstance(place, Scalar) and isinstance(value, Scalar) else value
        return kept if state.rebind(left.text, kept) else _unbound(state, node)
    return _assign_member(state, left, value, node)


def _assign_member(state: State, left: Node, value: Value, node: Node) -> Value:
    argument, field = left.field("argument"), left.field("field")
    owner = state.lookup(argument.text) if left.type == "field_expression" and argument is not None else None
    if argument is None or field is None or not isinstance(owner, Aggregate):
        return state.keep(node, f"assignment to {left.type.replace('_', ' ')}", kind=OpaqueKind.MEMORY)
    members = dict(owner.members)
    old = members.get(field.text)
    if old is None:
        return state.keep(node, f"member {field.text}", kind=OpaqueKind.DTYPE)
    if isinstance(old, Place | PointerCell):
        return write(state, old, value, node)
    if isinstance(old, Scalar) and isinstance(value, Scalar):
        value = convert(state, value, old.dtype)
    members[field.text] = value
    changed = Aggregate(owner.type, tuple(members.items()))
    return value if state.rebind(argument.text, changed) else _unbound(state, node)


def _unbound(state: State, node: Node) -> Nothing:
    return state.keep(node, "assignment in a macro or lambda", kind=OpaqueKind.MEMORY)


def update(state: State, node: Node) -> Value:
    """`++x`, `x++` and the like."""
    argument, operator = node.field("argument"), node.field("operator")
    if argument is None or operator is None:
        return state.keep(node, "increment without operand")
    return _stepped(state, node, settled(state, argument), operator)


def _stepped(state: State, node: Node, argument: Node, operator: Node) -> Value:
    if argument.type == "conditional_expression":
        return _either(state, node, argument, lambda arm: _stepped(state, node, settled(state, arm), operator))
    place = state.evaluate(argument)
    if has_members(place):
        marker = [(argument, Scalar(ZERO, INT32))] if operator.start > argument.start else []
        found = state.operator_call(node, f"operator{operator.text}", [(argument, place), *marker])
        if found is not None:
            return found
    if isinstance(place, Place) and is_atomic_object(place):
        stepped = object_step(state, node, place, operator.text, operator.start == node.start)
        return stepped or state.opaque(node, f"operator {operator.text}", kind=OpaqueKind.DTYPE)
    old = read(state, place, argument)
    step = operator.text[:1]
    if isinstance(old, Pointer):
        new: Value = advance(state, old, one_of(INT32), backwards=step == "-")
    else:
        number = scalar(state, old, argument)
        new = binary(state, step, number, one_of(number.dtype), via=operator.text) or number
    new = _assign(state, argument, place, new, node, operator.text)
    return new if operator.start == node.start else old
