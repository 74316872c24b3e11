"""`c ? a : b`, `&&` and `||`: what is evaluated only sometimes is loaded under a mask, or put under a branch."""

from __future__ import annotations

from portcheck.core.dtype import BOOL, INT64
from portcheck.frontends.cuda.expressions.arithmetic import binary, connective, select
from portcheck.frontends.cuda.expressions.numbers import calculate
from portcheck.frontends.cuda.memory.aims import NONE, REASON, aimed
from portcheck.frontends.cuda.memory.places import read, scalar, write
from portcheck.frontends.cuda.memory.vectors import variable_members
from portcheck.frontends.cuda.memory.views import flat, is_zero
from portcheck.frontends.cuda.model.constants import folded
from portcheck.frontends.cuda.model.conversions import common, convert, materialised, truth
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Aggregate, Lost, Null, Place, Pointer, Scalar, Value
from portcheck.frontends.cuda.parsing.syntax import Node, bare
from portcheck.frontends.cuda.statements.declarations import condition_value
from portcheck.frontends.cuda.statements.strings import TEXTS
from portcheck.ir import (
    TRUE,
    Branch,
    Cast,
    Check,
    Compute,
    Const,
    Exchange,
    Expr,
    Load,
    Op,
    OpaqueKind,
    Operator,
    Reduce,
    Select,
    apply,
)

_MOST_POINTERS = 8
"""Pointers of an array that one of them is chosen of."""
_HARMLESS = (Load, Cast, Compute, Select, Check, Exchange, Reduce)
"""What may run although its value is not wanted: loads carry the mask."""


def condition(state: State, node: Node) -> Scalar:
    """The truth of an expression."""
    if bare(node).type in TEXTS:
        return Scalar(TRUE, BOOL)
    value = read(state, condition_value(state, node), node)
    if isinstance(value, Pointer | Null):
        from_address = scalar(state, value, node)
        return truth(state, from_address)
    return folded(truth(state, scalar(state, value, node, BOOL)))


def negated(expression: Expr) -> Expr:
    """The condition that holds where `expression` does not."""
    return apply(Operator.LOGICAL_NOT, expression)


def short_circuit(state: State, node: Node, left_node: Node, right_node: Node, text: str) -> Value:
    """`left && right`: the right side is loaded only where the left does not decide."""
    left = condition(state, left_node)
    is_and = connective(text) is Operator.LOGICAL_AND
    if isinstance(left.expr, Const) and bool(left.expr.value) != is_and:
        return left
    guard = left.expr if is_and else negated(left.expr)
    with state.builder.region() as emitted, state.masked(None if isinstance(left.expr, Const) else guard):
        right = condition(state, right_node)
    if all(isinstance(op, _HARMLESS) for op in emitted):
        _splice(state, emitted)
        return binary(state, text, left, right) or left
    place = state.register("condition", BOOL)
    state.store(place, left.expr, via=text)
    with state.builder.region() as body:
        _splice(state, emitted)
        state.store(place, right.expr, via=text)
    state.builder.emit(Branch, condition=guard, then=tuple(body), via=text)
    return state.load(place, BOOL)


def choose(state: State, node: Node) -> Value:
    """`condition ? consequence : alternative`."""
    condition_node, first, second = (node.field(name) for name in ("condition", "consequence", "alternative"))
    if condition_node is None or first is None or second is None:
        return state.opaque(node, "conditional expression")
    holds = condition(state, condition_node)
    if isinstance(holds.expr, Const):
        return _decided(state, *((first, second) if holds.expr.value else (second, first)))
    with state.builder.region() as then, state.masked(holds.expr):
        on_true = read(state, state.evaluate(first), first)
    with state.builder.region() as otherwise, state.masked(negated(holds.expr)):
        on_false = read(state, state.evaluate(second), second)
    is_harmless = all(isinstance(op, _HARMLESS) for op in (*then, *otherwise))
    if isinstance(on_true, Pointer | Null) and isinstance(on_false, Pointer | Null) and on_true != on_false:
        _splice(state, then)
        _splice(state, otherwise)
        return _choose_pointer(state, node, holds, on_true, on_false)
    if isinstance(on_true, Aggregate) and isinstance(on_false, Aggregate) and on_true.type.name == on_false.type.name:
        return _choose_members(state, node, holds, (then, on_true), (otherwise, on_false))
    if not (isinstance(on_true, Scalar) and isinstance(on_false, Scalar)):
        _splice(state, then)
        _splice(state, otherwise)
        for side in (on_true, on_false):
            if isinstance(side, Lost):
                return side
        return state.opaque(node, "choice between values that are no numbers", kind=OpaqueKind.DTYPE)
    if is_harmless:
        _splice(state, then)
        _splice(state, otherwise)
        return select(state, holds, on_true, on_false)
    return _branch(state, holds, (then, on_true), (otherwise, on_false))


def _choose_members(
    state: State, node: Node, holds: Scalar, first: tuple[list[Op], Aggregate], second: tuple[list[Op], Aggregate]
) -> Value:
    """A choice between two values of several members: a variable that either branch sets."""
    chosen = variable_members(state, "choice", first[1].type, None, node, True)
    regions: list[tuple[Op, ...]] = []
    for emitted, value in (first, second):
        with state.builder.region() as body:
            _splice(state, emitted)
            write(state, chosen, value, node, via="?:")
        regions.append(tuple(body))
    state.builder.emit(Branch, condition=holds.expr, then=regions[0], otherwise=regions[1], via="?:")
    return read(state, chosen, node)  # a copy, which nobody can change in place of what was chosen


def _decided(state: State, chosen: Node, other: Node) -> Value:
    """The arm a constant chooses; a number comes in the type that both arms have in common."""
    value = state.evaluate(chosen)
    if not isinstance(value, Scalar | Place):
        return value
    with state.builder.region():
        dropped = read(state, state.evaluate(other), other)
    number = read(state, value, chosen) if isinstance(dropped, Scalar) else value
    if not (isinstance(number, Scalar) and isinstance(dropped, Scalar)) or number.dtype == dropped.dtype:
        return value
    return convert(state, number, common(number.dtype, dropped.dtype))


def _branch(state: State, holds: Scalar, first: tuple[list[Op], Scalar], second: tuple[list[Op], Scalar]) -> Scalar:
    dtype = common(first[1].dtype, second[1].dtype)
    place = state.register("choice", dtype)
    regions: list[tuple[Op, ...]] = []
    for emitted, value in (first, second):
        with state.builder.region() as body:
            _splice(state, emitted)
            state.store(place, materialised(state, convert(state, value, dtype)), via="?:")
        regions.append(tuple(body))
    state.builder.emit(Branch, condition=holds.expr, then=regions[0], otherwise=regions[1], via="?:")
    return state.load(place, dtype)


def _choose_pointer(state: State, node: Node, holds: Scalar, first: Pointer | Null, second: Pointer | Null) -> Value:
    if isinstance(first, Null):
        return _or_none(state, node, holds.expr, second)
    if isinstance(second, Null):
        return _or_none(state, node, negated(holds.expr), first)
    if first.buffer != second.buffer:
        return _choose_buffer(state, node, holds, first, second)
    if len(first.index) != len(second.index) or first.rest != second.rest:
        return state.opaque(node, REASON, kind=OpaqueKind.MEMORY)
    index = tuple(
        select(state, holds, Scalar(one, INT64), Scalar(other, INT64)).expr
        for one, other in zip(first.index, second.index, strict=True)
    )
    return Pointer(first.buffer, index, first.type, first.rest)


def pointer_at(state: State, node: Node, array: Aggregate, index: Scalar) -> Value | None:
    """What an array of pointers holds at an index that is no constant; None where it holds anything else."""
    held = [read(state, member, node) for _, member in array.members]
    pointers = [value for value in held if isinstance(value, Pointer | Null)]
    if len(pointers) != len(held) or len(held) > _MOST_POINTERS or not any(isinstance(one, Pointer) for one in held):
        return None
    found: Value = pointers[-1]
    for position, pointer in reversed(list(enumerate(pointers[:-1]))):
        if not isinstance(found, Pointer | Null):
            return found
        holds = calculate(state, "==", index, position)
        found = found if found == pointer else _choose_pointer(state, node, holds, pointer, found)
    return found


def _or_none(state: State, node: Node, is_none: Expr, pointer: Pointer | Null) -> Value:
    """The null pointer in one case, which points at no element."""
    if isinstance(pointer, Null):
        return pointer
    buffer = aimed(state, is_none, NONE, pointer.buffer)
    if buffer is None or not is_zero(pointer.rest):
        return state.opaque(node, REASON, kind=OpaqueKind.MEMORY)
    place = Scalar(flat(state, pointer.buffer, pointer.index), INT64)
    none = Scalar(Const(0, INT64), INT64)
    index = place if is_zero(place.expr) else select(state, Scalar(is_none, BOOL), none, place)
    return Pointer(buffer, (index.expr,), pointer.type)


def _choose_buffer(state: State, node: Node, holds: Scalar, first: Pointer, second: Pointer) -> Value:
    buffer = aimed(state, holds.expr, first.buffer, second.buffer)
    if buffer is None or not is_zero(first.rest) or not is_zero(second.rest):
        return state.opaque(node, REASON, kind=OpaqueKind.MEMORY)
    one, other = (Scalar(flat(state, side.buffer, side.index), INT64) for side in (first, second))
    is_one = one.expr == other.expr or (is_zero(one.expr) and is_zero(other.expr))
    return Pointer(buffer, (one.expr if is_one else select(state, holds, one, other).expr,), first.type)


def _splice(state: State, emitted: list[Op]) -> None:
    """Moves operations that were collected apart into the current region."""
    state.builder.adopt(emitted)
