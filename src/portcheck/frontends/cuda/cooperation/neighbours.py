"""What threads of a block make of their items and the ones beside them."""

from __future__ import annotations

from portcheck.core.dtype import INT32
from portcheck.frontends.cuda.cooperation.arrangements import items_of
from portcheck.frontends.cuda.cooperation.combining import related, selected
from portcheck.frontends.cuda.cooperation.teams import Team, meet, shown
from portcheck.frontends.cuda.expressions.numbers import calculate
from portcheck.frontends.cuda.memory.places import read, scalar, write
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.conversions import convert
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Nothing, Scalar, Value
from portcheck.ir import Branch, Const
from portcheck.knowledge import Construct, Role, Semantics


def beside(state: State, call: CallSite, construct: Construct, team: Team) -> Value | None:
    """A function of each item and the one before (a `value` of 0) or after it.

    The first or last of all is compared with what is given for that; else it is marked, or stays as it is.
    """
    nodes = [call.at(construct, role) for role in (Role.SOURCE, Role.DESTINATION, Role.OPERATOR)]
    source, output, function_node = nodes
    if source is None or output is None or function_node is None:
        return None
    items, targets = items_of(state, source), items_of(state, output)
    if not items or not targets or len(items) != len(targets):
        return None
    values = [read(state, item, source) for item in items]
    function, is_before = state.evaluate(function_node), construct.value == 0
    end_node = call.at(construct, Role.INITIAL)
    outer = read(state, state.evaluate(end_node), end_node) if end_node is not None else None
    edge = _over_the_edge(state, call, team, values, is_before)
    if edge is None:
        return None
    neighbours = [edge, *values[:-1]] if is_before else [*values[1:], edge]
    is_flag = construct.semantics is Semantics.NEIGHBOUR_FLAGS
    found = [_of_pair(state, call, function, (value, other), is_flag and is_before)
             for value, other in zip(values, neighbours, strict=True)]  # fmt: skip
    place = 0 if is_before else len(values) - 1
    at_end = values[place] if not is_flag else Scalar(Const(1, INT32), INT32)
    if outer is not None:
        given = _of_pair(state, call, function, (values[place], outer), is_flag and is_before)
        at_end = given if given is not None else at_end
    last = calculate(state, "-", team.size, 1)
    is_end = calculate(state, "==", team.rank, 0 if is_before else last)
    for number, (target, result) in enumerate(zip(targets, found, strict=True)):
        if result is None:
            return None
        result = convert(state, result, INT32) if is_flag and isinstance(result, Scalar) else result
        chosen = selected(state, is_end, _as(state, at_end, result), result) if number == place else result
        write(state, target, chosen, call.node, call.via)
    return Nothing()


def _as(state: State, value: Value, like: Value) -> Value:
    is_number = isinstance(value, Scalar) and isinstance(like, Scalar)
    return convert(state, value, like.dtype) if is_number else value  # type: ignore[arg-type, union-attr]


def _of_pair(
    state: State, call: CallSite, function: Value, pair: tuple[Value, Value], is_reversed: bool
) -> Value | None:
    left, right = reversed(pair) if is_reversed else pair
    return related(state, call, function, left, right)


def _over_the_edge(state: State, call: CallSite, team: Team, values: list[Value], is_before: bool) -> Value | None:
    """The last item of the thread before, or the first of the one after; its own at the end."""
    room = shown(state, team, ("beside", *call.node.key), values[0], 1)
    if room is None:
        return None
    room.put(state, team.rank.expr, values[-1 if is_before else 0])
    meet(state, team)
    other = calculate(state, "-" if is_before else "+", team.rank, 1)
    last = 0 if is_before else calculate(state, "-", team.size, 1)
    end = Scalar(Const(0, team.rank.dtype), team.rank.dtype) if isinstance(last, int) else last
    is_end = calculate(state, "==", team.rank, end)
    index = selected(state, is_end, convert(state, end, team.rank.dtype), other)
    return room.at(state, index.expr) if isinstance(index, Scalar) else None


def offset(state: State, call: CallSite, construct: Construct, team: Team) -> Value | None:
    """What the thread so many places further on has; beyond the last nothing is written, or it starts again."""
    source, output = call.at(construct, Role.SOURCE), call.at(construct, Role.DESTINATION)
    distance_node = call.at(construct, Role.DELTA)
    if source is None or output is None:
        return None
    value = read(state, state.evaluate(source), source)
    target = state.evaluate(output)
    distance = Scalar(Const(1, INT32), INT32)
    if distance_node is not None:
        distance = convert(state, scalar(state, state.evaluate(distance_node), distance_node), INT32)
    room = shown(state, team, ("offset", *call.node.key), value, 1)
    if room is None:
        return None
    room.put(state, team.rank.expr, value)
    meet(state, team)
    size = convert(state, team.size, INT32)
    other = calculate(state, "+", convert(state, team.rank, INT32), distance)
    if construct.value == 1:
        wrapped = calculate(state, "%", other, size)
        write(state, target, room.at(state, wrapped.expr), call.node, call.via)
        return Nothing()
    is_inside = calculate(state, "&&", calculate(state, ">=", other, 0), calculate(state, "<", other, size))
    with state.builder.region() as taking:
        write(state, target, room.at(state, other.expr), call.node, call.via)
    state.builder.emit(Branch, condition=is_inside.expr, then=tuple(taking), via=call.via)
    return Nothing()
