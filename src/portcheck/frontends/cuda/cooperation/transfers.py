"""Asynchronous copies by calls: of one thread, or of a group together; and what waits for them."""

from __future__ import annotations

from portcheck.core.dtype import INT32
from portcheck.frontends.cuda.cooperation.asynchronous import copy_bytes, landed
from portcheck.frontends.cuda.cooperation.facilities import pipeline_wait
from portcheck.frontends.cuda.cooperation.groups import barrier
from portcheck.frontends.cuda.expressions.arithmetic import apply_operator
from portcheck.frontends.cuda.expressions.numbers import calculate
from portcheck.frontends.cuda.memory.places import pointer_of, read, scalar
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.conversions import convert
from portcheck.frontends.cuda.model.layout import size_of
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Group, Nothing, Pointer, Scalar, Value
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import Const, Operator
from portcheck.knowledge import Construct, Role


def _operands(state: State, call: CallSite, first: Value) -> tuple[Pointer, Pointer, Scalar] | None:
    """Where to, where from, and how many bytes; `first` is the first argument, a group or where to."""
    is_shared = isinstance(first, Group)
    nodes = call.arguments[1:] if is_shared else call.arguments
    if len(nodes) < 3:
        return None
    to = pointer_of(state, state.evaluate(nodes[0]) if is_shared else first)
    from_ = pointer_of(state, state.evaluate(nodes[1]))
    size = scalar(state, _without_promise(state, nodes[2]), nodes[2])
    return None if to is None or from_ is None else (to, from_, size)


_WITH_EXTENTS = 5
"""Arguments of a copy of a group that states how many elements there are on either side."""


def _elements(state: State, call: CallSite) -> tuple[Pointer, Pointer, Scalar] | None:
    """Where to, where from, and the bytes of as many elements as there are on both sides."""
    to_node, room_node, from_node, count_node = call.arguments[1:]
    to, from_ = (pointer_of(state, state.evaluate(node)) for node in (to_node, from_node))
    room, count = (
        convert(state, scalar(state, _without_promise(state, node), node), INT32) for node in (room_node, count_node)
    )
    size = size_of(state, to.type) if to is not None else None
    if to is None or from_ is None or size is None:
        return None
    if room.expr != count.expr:
        count = apply_operator(state, Operator.MINIMUM, (room, count), INT32, call.via)
    return to, from_, calculate(state, "*", count, size)


def _without_promise(state: State, node: Node) -> Value:
    """A size whose type promises that it is aligned is that size."""
    arguments = node.field("arguments")
    listed = arguments.named if node.type == "call_expression" and arguments is not None else []
    function = node.field("function")
    is_promise = function is not None and "aligned_size_t" in function.text
    return state.evaluate(listed[0]) if is_promise and len(listed) == 1 else state.evaluate(node)


def copy_asynchronously(state: State, call: CallSite, construct: Construct) -> Value | None:
    """A copy that nothing looks at before it was waited for; of a group, its first thread makes it for all."""
    first = read(state, state.evaluate(call.arguments[0]), call.arguments[0]) if call.arguments else Nothing()
    states_extents = construct.index_of(Role.GROUP) is not None and len(call.arguments) == _WITH_EXTENTS
    with_extents = isinstance(first, Group) and states_extents
    given = _elements(state, call) if with_extents else _operands(state, call, first)
    if given is None:
        return None
    to, from_, size = given
    if not isinstance(first, Group):
        left = call.arguments[3] if construct.index_of(Role.MASK) == 3 and len(call.arguments) > 3 else None
        limit = _remaining(state, size, left) if left is not None else None
        return Nothing() if copy_bytes(state, to, from_, size, limit, call.via) else None
    is_first = calculate(state, "==", first.rank, 0)
    with state.masked(is_first.expr):
        done = copy_bytes(state, to, from_, size, via=call.via)
    return Nothing() if done else None


def _remaining(state: State, size: Scalar, node: Node) -> Scalar:
    """How many bytes are copied where the last ones are filled with zeros."""
    zeros = convert(state, scalar(state, state.evaluate(node), node), size.dtype)
    return size if zeros.expr == Const(0, size.dtype) else calculate(state, "-", size, zeros)


def wait_for_copies(state: State, call: CallSite, construct: Construct) -> Value | None:
    """A wait of a group is its barrier, one of a pipeline what the pipeline says; else nothing is waited for."""
    del construct
    first = state.evaluate(call.arguments[0]) if call.arguments else Nothing()
    if isinstance(first, Group):
        return barrier(state, call, first)
    waited = pipeline_wait(state, call, first)
    if waited is not None:
        return waited
    landed(state, call.via)
    return Nothing()
