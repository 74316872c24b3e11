"""Reductions that threads make together: of one value a thread, or of several that follow each other."""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.core.dtype import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, INT32, DType, DTypeKind
from portcheck.frontends.cuda.cooperation.arrangements import items_of
from portcheck.frontends.cuda.cooperation.combining import (
    Combination,
    combination,
    combined,
    numbers_of,
    rebuilt,
    selected,
)
from portcheck.frontends.cuda.cooperation.teams import Shown, Team, meet, over, shown, shuffled
from portcheck.frontends.cuda.expressions.numbers import calculate
from portcheck.frontends.cuda.memory.places import read, scalar, write
from portcheck.frontends.cuda.memory.vectors import variable_members
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.conversions import convert, convert_constant, integer_bits, materialised
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Aggregate, Scalar, Value
from portcheck.ir import Access, Const, ExchangeKind, Expr, Load, Operator, Reduce, Scope, ValueType
from portcheck.knowledge import Construct, Role

_FLOATS = frozenset({FLOAT16, BFLOAT16, FLOAT32, FLOAT64})
_NONE, _ONE = Const(0, INT32), Const(1, INT32)


@dataclass(frozen=True, slots=True)
class Task:
    """What a team makes of its values, and at which call."""

    call: CallSite
    team: Team
    how: Combination


def reduced(state: State, call: CallSite, construct: Construct, team: Team) -> Value | None:
    """The combination of all threads' values, which is defined in the first thread alone (CUB)."""
    node, function, count_node = (call.at(construct, role) for role in (Role.SOURCE, Role.OPERATOR, Role.COUNT))
    items = items_of(state, node) if node is not None else None
    if node is None or not items:
        return None
    values = [read(state, item, node) for item in items]
    dtype = values[0].dtype if isinstance(values[0], Scalar) else None
    if function is not None:
        how = combination(state, call, state.evaluate(function), dtype)
    else:
        how = Combination(call, construct.operator)
    count = scalar(state, state.evaluate(count_node), count_node) if count_node is not None else None
    total = running(state, how, values)[-1]
    if total is None:
        return None
    count = convert(state, count, team.size.dtype) if count else None
    found = total_of(state, Task(call, team, how), total, count)
    return _of_the_first(state, team, found) if found is not None else None


def _of_the_first(state: State, team: Team, value: Value) -> Value:
    """`value` in the first thread of a team; in the others it is not defined."""
    is_first = calculate(state, "==", team.rank, 0).expr
    numbers = []
    for number in numbers_of(value) or ():
        place = state.register("total", number.dtype)
        state.store(place, materialised(state, number), team.name)
        access = Access(buffer=place.buffer, index=(), mask=is_first)
        numbers.append(state.result(Load, number.dtype, access=access, via=team.name))
    return rebuilt(value, numbers) if numbers else value


def running(state: State, how: Combination, values: list[Value]) -> list[Value | None]:
    """The first value, the first two combined, and so on."""
    found: list[Value | None] = [values[0]]
    for value in values[1:]:
        last = found[-1]
        found.append(combined(state, how, last, value) if last is not None else None)
    return found


def total_of(state: State, task: Task, value: Value, count: Scalar | None = None) -> Value | None:
    """The values of all threads, or of the first `count`, combined."""
    team, operator = task.team, task.how.operator
    if isinstance(value, Scalar) and operator is not None:
        neutral = neutral_of(operator, value.dtype)
        if count is None:
            return _reduce(state, task, operator, value)
        if neutral is not None:
            given = selected(state, calculate(state, "<", team.rank, count), value, neutral)
            return _reduce(state, task, operator, given) if isinstance(given, Scalar) else None
    state.note(f"{team.name}: values of several threads are combined in the order of the threads, which is not stated")
    return (_in_turn if team.scope is Scope.BLOCK else _doubling)(state, task, value, count)


def _reduce(state: State, task: Task, operator: Operator, value: Scalar) -> Scalar:
    return state.result(
        Reduce, value.dtype, operator=operator, operand=materialised(state, value), accumulate=ValueType(value.dtype),
        lanes=materialised(state, task.team.size), scope=task.team.scope, via=task.team.name,
    )  # fmt: skip


def neutral_of(operator: Operator, dtype: DType) -> Scalar | None:
    """The number that changes nothing it is combined with."""
    value: float | int | None = None
    if operator in (Operator.ADD, Operator.BITWISE_OR, Operator.BITWISE_XOR):
        value = 0
    elif operator is Operator.MULTIPLY:
        value = 1
    elif operator in (Operator.MAXIMUM, Operator.MINIMUM) and dtype in _FLOATS:
        value = float("inf") if operator is Operator.MINIMUM else float("-inf")
    elif operator in (Operator.MAXIMUM, Operator.MINIMUM, Operator.BITWISE_AND) and dtype.is_integer:
        value = _extreme(operator, dtype)
    if value is None:
        return None
    return Scalar(Const(float(value), dtype) if dtype.is_float else convert_constant(Const(value, INT32), dtype), dtype)


def _extreme(operator: Operator, dtype: DType) -> int:
    is_signed = dtype.kind is DTypeKind.SIGNED
    most = 2 ** (integer_bits(dtype) - is_signed) - 1
    if operator is Operator.BITWISE_AND:
        return -1
    return int(most) if operator is Operator.MINIMUM else -(most + 1) * is_signed


def _in_turn(state: State, task: Task, value: Value, count: Scalar | None) -> Value | None:
    """Every thread goes through what all threads of the block show."""
    room = displayed(state, task, value)
    end = count if count is not None else task.team.size
    return collected(state, task, room, end.expr) if room is not None else None


def displayed(state: State, task: Task, value: Value) -> Shown | None:
    """One value of each thread of the block, at the thread's number."""
    room = shown(state, task.team, ("value", *task.call.node.key), value, 1)
    if room is not None:
        room.put(state, task.team.rank.expr, value)
        meet(state, task.team)
    return room


def collected(state: State, task: Task, room: Shown, stop: Expr, initial: Value | None = None) -> Value | None:
    """What threads below `stop` show, combined in turn: after `initial`, else from the first one, which is there."""
    node = task.call.node
    total = variable(state, task, initial if initial is not None else room.at(state, _NONE))
    with over(state, _ONE if initial is None else _NONE, stop, task.team.name) as place:
        found = combined(state, task.how, read(state, total, node), room.at(state, place))
        if found is not None:
            write(state, total, found, node)
    return read(state, total, node) if found is not None else None


def variable(state: State, task: Task, value: Value) -> Value:
    """A variable that holds `value`."""
    if isinstance(value, Aggregate):
        return variable_members(state, "combined", value.type, value, task.call.node, True)
    if not isinstance(value, Scalar):
        return value
    place = state.register("combined", value.dtype)
    state.store(place, materialised(state, value))
    return place


def _doubling(state: State, task: Task, value: Value, count: Scalar | None) -> Value | None:
    """Lanes take what later ones have, at twice the distance each time: the first one has all of it."""
    size = lanes_of(task.team)
    offset, found = 1, value
    while size and offset < size:
        other = shuffled(state, task.team, found, ExchangeKind.DOWN, Const(offset, INT32))
        both = combined(state, task.how, found, other)
        if both is None:
            return None
        if count is not None:
            inside = calculate(state, "<", calculate(state, "+", task.team.rank, offset), count)
            both = selected(state, inside, both, found)
        found, offset = both, 2 * offset
    return found if size else None


def lanes_of(team: Team) -> int:
    """How many lanes a team has; 0 where they are no power of two, or not known."""
    size = int(team.size.expr.value) if isinstance(team.size.expr, Const) else 0
    return size if size & (size - 1) == 0 else 0
