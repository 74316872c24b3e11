"""Items of threads that work together: taken from memory, put there, and handed from thread to thread.

In a blocked arrangement a thread has items that follow each other, in a striped one every thread has one in turn.
"""

from __future__ import annotations

from collections.abc import Callable

from portcheck.core.dtype import INT32
from portcheck.frontends.cuda.cooperation.groups import warp_size
from portcheck.frontends.cuda.cooperation.teams import Team, meet, shown, shuffled
from portcheck.frontends.cuda.expressions.numbers import calculate
from portcheck.frontends.cuda.memory.places import element, elements_of, pointer_of, read, scalar, write
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.conversions import convert
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import CType, Lost, Nothing, Place, Scalar, TypeKind, Value
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import Branch, Const, ExchangeKind, Expr
from portcheck.knowledge import Construct, Role, Semantics

Arrangement = Callable[[State, Team, int, int], Scalar]
"""Where item so many of so many of this thread's lies among those of all threads."""


def items_of(state: State, node: Node) -> list[Value] | None:
    """The items of one thread that an argument names: the elements of an array, or what it is itself."""
    value = state.evaluate(node)
    found: list[Place] | None = None
    if isinstance(value, Place) and value.remaining == 1 and value.buffer in state.buffers:
        shape = state.buffers[value.buffer].shape
        extent = shape[len(value.index)] if len(value.index) < len(shape) else None
        count = int(extent.value) if isinstance(extent, Const) else 0
        found = elements_of(state, value, CType(kind=TypeKind.ARRAY, target=value.type, extent=count))
    elif isinstance(value, Place) and value.type.kind is TypeKind.ARRAY:
        found = elements_of(state, value, value.type)
    else:
        return None if isinstance(value, Lost) or pointer_of(state, value) is not None else [value]
    return [*found] if found is not None else None


def blocked(state: State, team: Team, item: int, count: int) -> Scalar:
    """Items of a thread follow each other."""
    start = calculate(state, "*", team.rank, count)
    return calculate(state, "+", start, item) if item else start


def striped(state: State, team: Team, item: int, count: int) -> Scalar:
    """Items that follow each other are those of threads that do."""
    del count
    return calculate(state, "+", calculate(state, "*", team.size, item), team.rank) if item else team.rank


def striped_by_warps(state: State, team: Team, item: int, count: int) -> Scalar:
    """Striped among the lanes of each warp; the items of a warp follow each other."""
    lanes = warp_size(state)
    lane = calculate(state, "%", team.rank, convert(state, lanes, team.rank.dtype))
    first = calculate(state, "*", calculate(state, "-", team.rank, lane), count)
    return calculate(state, "+", calculate(state, "+", first, int(_number(lanes.expr)) * item), lane)


def _number(expression: Expr) -> float:
    return expression.value if isinstance(expression, Const) else 0


def transferred(
    state: State, call: CallSite, construct: Construct, team: Team, arrangement: Arrangement
) -> Value | None:
    """Items loaded or stored one by one; of those from a stated number on, a default is taken, or nothing done."""
    is_load = construct.semantics is Semantics.LOAD_VECTOR
    pointer_node, count_node, default_node = (
        call.at(construct, role) for role in (Role.ADDRESS_OF, Role.COUNT, Role.VALUE)
    )
    items_node = call.at(construct, Role.DESTINATION if is_load else Role.SOURCE)
    items = items_of(state, items_node) if items_node is not None else None
    pointer = pointer_of(state, state.evaluate(pointer_node)) if pointer_node is not None else None
    if not items or pointer is None:
        return None
    count = scalar(state, state.evaluate(count_node), count_node) if count_node is not None else None
    default = read(state, state.evaluate(default_node), default_node) if default_node is not None else None
    node = call.node
    for number, item in enumerate(items):
        index = arrangement(state, team, number, len(items))
        place = element(state, pointer, index)
        if place is None:
            return None
        target, source = (item, place) if is_load else (place, item)
        with state.builder.region() as moving:
            write(state, target, read(state, source, node), node, call.via)
        if count is None:
            state.builder.adopt(moving)
            continue
        with state.builder.region() as otherwise:
            if default is not None:
                write(state, target, default, node, call.via)
        inside = calculate(state, "<", convert(state, index, INT32), convert(state, count, INT32))
        state.builder.emit(Branch, condition=inside.expr, then=tuple(moving), otherwise=tuple(otherwise), via=call.via)
    return Nothing()


def rearranged(
    state: State, call: CallSite, team: Team, before: Arrangement | None, after: Arrangement
) -> Value | None:
    """Items handed from one arrangement to another, in place or to a second array.

    Without an arrangement `before`, the last argument says where each item goes.
    """
    given = [items_of(state, node) for node in call.arguments]
    if any(items is None for items in given) or not given:
        return None
    listed = [items for items in given if items is not None]
    ranks = listed.pop() if before is None and len(listed) > 1 else None
    sources, targets = listed[0], listed[-1]
    if len(listed) > 2 or len(sources) != len(targets) or (before is None and ranks is None):
        return None
    node, count = call.node, len(sources)
    values = [read(state, item, node) for item in sources]
    room = shown(state, team, node.key, values[0], count)
    if room is None:
        return None
    for number, value in enumerate(values):
        goal = before(state, team, number, count) if before is not None else None
        if ranks is not None:
            goal = scalar(state, read(state, ranks[number], node), node)
        if goal is not None:
            room.put(state, goal.expr, value)
    meet(state, team)
    for number, target in enumerate(targets):
        write(state, target, room.at(state, after(state, team, number, count).expr), node, call.via)
    return Nothing()


def broadcast(state: State, call: CallSite, construct: Construct, team: Team) -> Value | None:
    """What one lane of a warp has, for all of them."""
    node, lane = call.at(construct, Role.SOURCE), call.at(construct, Role.LANE)
    if node is None or lane is None:
        return None
    value = read(state, state.evaluate(node), node)
    number = scalar(state, state.evaluate(lane), lane)
    return shuffled(state, team, value, ExchangeKind.INDEX, convert(state, number, INT32).expr)
