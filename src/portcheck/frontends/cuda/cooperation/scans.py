"""Running combinations over threads: of one value a thread, or of several that follow each other."""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.core.dtype import INT32
from portcheck.frontends.cuda.cooperation.arrangements import items_of
from portcheck.frontends.cuda.cooperation.collectives import (
    Task,
    collected,
    displayed,
    lanes_of,
    neutral_of,
    running,
    total_of,
)
from portcheck.frontends.cuda.cooperation.combining import (
    Combination,
    applied,
    combination,
    combined,
    is_function,
    selected,
)
from portcheck.frontends.cuda.cooperation.groups import warp_size
from portcheck.frontends.cuda.cooperation.teams import Team, meet, shown, shuffled
from portcheck.frontends.cuda.expressions.numbers import calculate
from portcheck.frontends.cuda.memory.places import read, write
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.conversions import convert, materialised
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Nothing, Scalar, Value
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import Branch, Const, ExchangeKind, Scan, Scope
from portcheck.knowledge import Construct, Role

_SOURCE_AND_OUTPUT = 2
_BOTH = 2
"""The value of a scan that writes what it gives with each thread's own value and what it gives without."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a scan is given besides its values: how to combine, what comes first, what is done with the whole."""

    how: Combination
    initial: Value | None
    rest: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class _Before:
    """What the threads before this one have, combined; defined where `condition` holds (None: everywhere)."""

    value: Value
    condition: Scalar | None = None


def scanned(state: State, call: CallSite, construct: Construct, team: Team) -> Value | None:
    """Writes a running combination over the threads; then, where asked for, that of all of them."""
    source, output = call.at(construct, Role.SOURCE), call.at(construct, Role.DESTINATION)
    items = items_of(state, source) if source is not None else None
    targets = items_of(state, output) if output is not None else None
    if construct.value == _BOTH:
        return _scanned_twice(state, call, team, source)
    if source is None or not items or not targets or len(items) != len(targets):
        return None
    values = [read(state, item, source) for item in items]
    asked = _asked(state, call, construct, values[0])
    if asked is None or len(asked.rest) > 1:
        return None
    task = Task(call, team, asked.how)
    found = _results(state, task, asked, values, construct.value != 0)
    if found is None:
        return None
    results, total = found
    for target, result in zip(targets, results, strict=True):
        write(state, target, result, call.node, call.via)
    if asked.rest and not is_function(state, asked.rest[0]):
        whole = total_of(state, task, total)
        if whole is None:
            return None
        write(state, asked.rest[0], whole, call.node, call.via)
    return Nothing()


def _scanned_twice(state: State, call: CallSite, team: Team, source: Node | None) -> Value | None:
    """Writes the running combination with each thread's own value, and the one without it."""
    targets = [state.evaluate(node) for node in call.arguments[1:3]]
    given = [state.evaluate(node) for node in call.arguments[3:]]
    if source is None or not given or len(targets) != _SOURCE_AND_OUTPUT:
        return None
    value = read(state, state.evaluate(source), source)
    dtype = value.dtype if isinstance(value, Scalar) else None
    how = combination(state, call, given[-1], dtype)
    initial = read(state, given[0], call.node) if len(given) == _SOURCE_AND_OUTPUT else None
    if isinstance(initial, Scalar) and dtype is not None:
        initial = convert(state, initial, dtype)
    asked = _Asked(how, initial, ())
    both = [_results(state, Task(call, team, how), asked, [value], is_inclusive) for is_inclusive in (True, False)]
    found = [result for result in both if result is not None]
    if len(found) != len(both):
        return None
    for target, (results, _) in zip(targets, found, strict=True):
        write(state, target, results[0], call.node, call.via)
    return Nothing()


def _asked(state: State, call: CallSite, construct: Construct, sample: Value) -> _Asked | None:
    """What follows the values: a first value, what to combine with, a place for the whole or a function of it."""
    given = [state.evaluate(node) for node in call.arguments[_SOURCE_AND_OUTPUT:]]
    dtype = sample.dtype if isinstance(sample, Scalar) else None
    if construct.operator is not None:
        return _Asked(Combination(call, construct.operator), None, tuple(given))
    position = next((place for place, value in enumerate(given[:2]) if is_function(state, value)), None)
    if position is None:
        return None
    how = combination(state, call, given[position], dtype)
    initial = read(state, given[0], call.node) if position else None
    if isinstance(initial, Scalar) and dtype is not None:
        initial = convert(state, initial, dtype)
    return _Asked(how, initial, tuple(given[position + 1 :]))


def _results(
    state: State, task: Task, asked: _Asked, values: list[Value], is_inclusive: bool
) -> tuple[list[Value], Value] | None:
    """The running combination at each value of this thread, and that of all its values."""
    own = running(state, task.how, values)
    total = own[-1]
    if total is None:
        return None
    has_callback = bool(asked.rest) and is_function(state, asked.rest[0])
    if len(values) == 1 and not has_callback and isinstance(total, Scalar):
        direct = _direct(state, task, total, asked.initial, is_inclusive)
        if direct is not None:
            return [direct], total
    before = _before(state, task, total, asked.initial)
    if before is not None and has_callback:
        before = _after_prefix(state, task, before, total, asked.rest[0])
    if before is None:
        return None
    if not is_inclusive:
        own = [None, *own[:-1]]
    results = [before.value if value is None else _joined(state, task, before, value) for value in own]
    known = [result for result in results if result is not None]
    return (known, total) if len(known) == len(results) else None


def _direct(state: State, task: Task, value: Scalar, initial: Value | None, is_inclusive: bool) -> Scalar | None:
    """A scan of one number a thread with an operator; without a first value, the first result may be anything."""
    operator = task.how.operator
    if operator is None or not isinstance(initial, Scalar | None):
        return None
    first = initial if initial is not None or is_inclusive else neutral_of(operator, value.dtype)
    if first is None and not is_inclusive:
        return None
    return state.result(
        Scan, value.dtype, operator=operator, operands=(materialised(state, value),), inclusive=is_inclusive,
        initial=materialised(state, first) if first is not None else None, lanes=materialised(state, task.team.size),
        scope=task.team.scope, via=task.team.name,
    )  # fmt: skip


def _before(state: State, task: Task, total: Value, initial: Value | None) -> _Before | None:
    """What `initial` and the threads before this one have, combined."""
    if isinstance(total, Scalar):
        direct = _direct(state, task, total, initial, False)
        if direct is not None:
            return _Before(direct)
    state.note(f"{task.team.name}: values of several threads are combined in the order of the threads")
    team = task.team
    has_some = None if initial is not None else calculate(state, "!=", team.rank, 0)
    if team.scope is Scope.BLOCK:
        room = displayed(state, task, total)
        found = collected(state, task, room, team.rank.expr, initial) if room is not None else None
        return None if found is None else _Before(found, has_some)
    found = _inclusive(state, task, total)
    if found is None:
        return None
    found = shuffled(state, team, found, ExchangeKind.UP, Const(1, INT32))
    if initial is None:
        return _Before(found, has_some)
    both = combined(state, task.how, initial, found)
    is_first = calculate(state, "==", team.rank, 0)
    return None if both is None else _Before(selected(state, is_first, initial, both))


def _inclusive(state: State, task: Task, value: Value) -> Value | None:
    """Lanes take what earlier ones have, at twice the distance each time."""
    size, offset = lanes_of(task.team), 1
    found: Value = value
    while offset < size:
        other = shuffled(state, task.team, found, ExchangeKind.UP, Const(offset, INT32))
        both = combined(state, task.how, other, found)
        if both is None:
            return None
        found = selected(state, calculate(state, ">=", task.team.rank, offset), both, found)
        offset *= 2
    return found if size else None


def _joined(state: State, task: Task, before: _Before, value: Value) -> Value | None:
    both = combined(state, task.how, before.value, value)
    if both is None or before.condition is None:
        return both
    return selected(state, before.condition, both, value)


def _after_prefix(state: State, task: Task, before: _Before, total: Value, function: Value) -> _Before | None:
    """`before` after the value that `function` makes of the whole: the first warp calls it, its first lane counts."""
    whole = total_of(state, task, total)
    team = task.team
    room = shown(state, team, ("prefix", *task.call.node.key), whole, 1) if whole is not None else None
    if whole is None or room is None:
        return None
    with state.builder.region() as calling:
        prefix = applied(state, task.call, function, [whole])
        if prefix is None:
            return None
        with state.builder.region() as telling:
            room.put(state, Const(0, INT32), prefix)
        state.builder.emit(Branch, condition=calculate(state, "==", team.rank, 0).expr, then=tuple(telling))
    is_caller = calculate(state, "<", team.rank, warp_size(state))
    state.builder.emit(Branch, condition=is_caller.expr, then=tuple(calling), via=team.name)
    meet(state, team)
    first = room.at(state, Const(0, INT32))
    both = combined(state, task.how, first, before.value)
    if both is None:
        return None
    return _Before(both if before.condition is None else selected(state, before.condition, both, first))
