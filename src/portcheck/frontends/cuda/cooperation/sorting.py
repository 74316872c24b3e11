"""Items that threads put in order together: each finds its place by counting those that come before it."""

from __future__ import annotations

from portcheck.core.dtype import BOOL, INT32, UINT32, DTypeKind
from portcheck.frontends.cuda.cooperation.arrangements import Arrangement, blocked, items_of
from portcheck.frontends.cuda.cooperation.combining import related
from portcheck.frontends.cuda.cooperation.teams import Team, meet, over, shown
from portcheck.frontends.cuda.expressions.arithmetic import apply_operator, logical, select
from portcheck.frontends.cuda.expressions.numbers import bits_of, calculate, reinterpreted, unsigned_of
from portcheck.frontends.cuda.memory.places import read, write
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.conversions import convert, materialised
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Nothing, Place, Scalar, Value
from portcheck.ir import Const, Operator
from portcheck.knowledge import Construct, Role

_ZERO = Const(0, INT32)


def sort_items(
    state: State, call: CallSite, construct: Construct, team: Team, arrangement: Arrangement
) -> Value | None:
    """Keys in ascending order (descending: a `value` of 1), or as a function says; values go with their keys.

    Equal keys keep their order. Floats are compared by their bits, zeros of both signs as one number.
    """
    has_function = construct.index_of(Role.OPERATOR) is not None and bool(call.arguments)
    function_node = call.arguments[-1] if has_function else None
    nodes = [node for node in call.arguments if node is not function_node]
    listed = [items_of(state, node) for node in nodes]
    lists = [items for items in listed if items is not None]
    if not lists or len(lists) != len(listed) or len(lists) > 2 or {len(items) for items in lists} != {len(lists[0])}:
        return None
    if not all(isinstance(item, Place) for items in lists for item in items):
        return None
    node = call.node
    given = [[read(state, item, node) for item in items] for items in lists]
    function = state.evaluate(function_node) if function_node is not None else None
    keys = given[0] if function is not None else _ordered(state, given[0])
    places = _counted(state, call, team, keys, (function, construct.value == 1)) if keys is not None else None
    if places is None:
        return None
    for number, (items, values) in enumerate(zip(lists, given, strict=True)):
        room = shown(state, team, ("sorted", number, *node.key), values[0], len(values))
        if room is None:
            return None
        for place, value in zip(places, values, strict=True):
            room.put(state, state.load(place, INT32).expr, value)
        meet(state, team)
        for item, target in enumerate(items):
            write(state, target, room.at(state, arrangement(state, team, item, len(items)).expr), node, call.via)
    return Nothing()


def _counted(
    state: State, call: CallSite, team: Team, keys: list[Value], how: tuple[Value | None, bool]
) -> list[Place] | None:
    """How many keys come before each of this thread's."""
    room = shown(state, team, ("keys", *call.node.key), keys[0], len(keys))
    if room is None:
        return None
    own = [blocked(state, team, number, len(keys)) for number in range(len(keys))]
    for place, key in zip(own, keys, strict=True):
        room.put(state, place.expr, key)
    meet(state, team)
    counts = [state.register("place", INT32) for _ in keys]
    for count in counts:
        state.store(count, _ZERO)
    total = calculate(state, "*", team.size, len(keys))
    with over(state, _ZERO, total.expr, team.name) as other:
        theirs = room.at(state, other)
        for place, key, count in zip(own, keys, counts, strict=True):
            is_earlier = calculate(state, "<", Scalar(other, INT32), convert(state, place, INT32))
            before = _comes_first(state, call, (theirs, key), is_earlier, how)
            if before is None:
                return None
            one = convert(state, before, INT32)
            state.store(count, materialised(state, calculate(state, "+", state.load(count, INT32), one)))
    return counts


def _comes_first(
    state: State, call: CallSite, pair: tuple[Value, Value], is_earlier: Scalar, how: tuple[Value | None, bool]
) -> Scalar | None:
    """Whether the first of two keys comes before the second; of two that are alike, the one that was before."""
    (theirs, own), (function, is_descending) = pair, how
    if function is not None:
        wins, loses = related(state, call, function, theirs, own), related(state, call, function, own, theirs)
    elif isinstance(theirs, Scalar) and isinstance(own, Scalar):
        operators = (Operator.GREATER, Operator.LESS) if is_descending else (Operator.LESS, Operator.GREATER)
        wins, loses = (apply_operator(state, operator, (theirs, own), BOOL, call.via) for operator in operators)
    else:
        return None
    if wins is None or loses is None:
        return None
    alike = apply_operator(state, Operator.LOGICAL_NOT, (loses,), BOOL, call.via)
    ties = logical(state, Operator.LOGICAL_AND, alike, is_earlier, call.via)
    return logical(state, Operator.LOGICAL_OR, wins, ties, call.via)


def _ordered(state: State, keys: list[Value]) -> list[Value] | None:
    """Numbers that compare as the keys are ordered."""
    found: list[Value] = []
    for key in keys:
        if not isinstance(key, Scalar):
            return None
        found.append(_bits(state, key) if key.dtype.is_float else key)
    return found


def _bits(state: State, key: Scalar) -> Scalar:
    """A float's bits, so that unsigned numbers compare as the floats do."""
    dtype = unsigned_of(bits_of(state, key.dtype))
    zero = Scalar(Const(0.0, key.dtype), key.dtype)
    is_zero = apply_operator(state, Operator.EQUAL, (key, zero), BOOL, "")
    word = select(state, is_zero, Scalar(Const(0, dtype), dtype), reinterpreted(state, key, dtype))
    wide = word if dtype.kind is DTypeKind.UNSIGNED and bits_of(state, dtype) >= bits_of(state, UINT32) else None
    word = wide if wide is not None else convert(state, word, UINT32)
    top = 1 << (bits_of(state, dtype) - 1)
    mask = Scalar(Const((top << 1) - 1, word.dtype), word.dtype)
    flipped = calculate(state, "^", word, mask)
    raised = calculate(state, "|", word, Scalar(Const(top, word.dtype), word.dtype))
    is_negative = calculate(state, "!=", calculate(state, "&", word, Scalar(Const(top, word.dtype), word.dtype)), 0)
    return select(state, is_negative, flipped, raised)
