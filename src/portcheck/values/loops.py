"""What a loop leaves behind: reductions, elements written one an iteration, shared-memory trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from portcheck.ir import Exchange, Loop, Op, Polynomial, Range, Sequence, number, operations, writes
from portcheck.ir.algebra import ceiling_divide, polynomial_of
from portcheck.ir.polynomial import symbol
from portcheck.ir.ranges import INDEX_MARK
from portcheck.values import lanes, trees
from portcheck.values.conditions import truth
from portcheck.values.evaluation import State
from portcheck.values.iterations import Iterations
from portcheck.values.memory import Buffer, Event, Havoc, Marker, Write
from portcheck.values.terms import AtLeast, Bound

Run = Callable[[State, tuple[Op, ...]], None]
_MOST_UNROLLED = 64
_JUMPED = "a jump leaves an iteration early"


def run_loop(state: State, loop: Loop, run: Run) -> None:
    """Carries out `loop`: unrolled where it exchanges lanes, as a tree or a reduction where it is one."""
    values = _unrolled(state, loop)
    if values is not None:
        _run_each(state, loop, values, run)
    elif isinstance(loop.values, Sequence):
        _run_sequence(state, loop, loop.values, run)
    else:
        _run_range(state, loop, loop.values, run)


def _unrolled(state: State, loop: Loop) -> list[int] | None:
    """The values of the loop variable, if they are numbers and lanes are exchanged in the body."""
    if not any(isinstance(op, Exchange) for op in operations(loop.body)):
        return None
    values = loop.values
    start = state.polynomial(values.start).constant
    if start is None:
        return None
    found: list[int] = []
    current = start
    while _continues(state, loop, current):
        found.append(current)
        if len(found) > _MOST_UNROLLED:
            return None
        following = _following(state, loop, current)
        if following is None or following == current:
            return None
        current = following
    return found if _is_decided(state, loop, current) else None


def _bound_to(state: State, loop: Loop, value: int) -> dict[str, Polynomial]:
    return {**state.symbols, loop.variable: number(value)}


def _continues(state: State, loop: Loop, current: int) -> bool:
    return _test(state, loop, current) is True


def _is_decided(state: State, loop: Loop, current: int) -> bool:
    return _test(state, loop, current) is False


def _test(state: State, loop: Loop, current: int) -> bool | None:
    inner = replace(state, symbols=_bound_to(state, loop, current))
    match loop.values:
        case Range(stop=stop, step=step):
            ahead = state.polynomial(stop) - current
            backwards = (state.polynomial(step).constant or 1) < 0
            return truth(AtLeast(-ahead - 1 if backwards else ahead - 1), state.ranges)
        case Sequence(condition=condition):
            truths = [truth(part, state.ranges) for part in inner.conditions(condition)]
            return False if False in truths else (None if None in truths else True)


def _following(state: State, loop: Loop, current: int) -> int | None:
    symbols = _bound_to(state, loop, current)
    match loop.values:
        case Range(step=step):
            forward = state.polynomial(step).constant
            return None if forward is None else current + forward
        case Sequence(next=following):
            return polynomial_of(following, state.ranges, symbols).constant


def _run_each(state: State, loop: Loop, values: list[int], run: Run) -> None:
    outer, jumps = state.symbols, state.jumps
    for value in values:
        state.symbols = _bound_to(state, loop, value)
        run(state, loop.body)
    state.symbols = outer
    if state.jumps != jumps:
        state.jumps = jumps
        for name in _changed(state, loop):
            state.buffers[name] = state.buffers[name].then(Havoc(_JUMPED))
    for name, buffer in state.buffers.items():
        if buffer.per_thread and buffer.events:
            state.buffers[name] = replace(buffer, events=tuple(_settled(event, state) for event in buffer.events))


def _settled(event: Event, state: State) -> Event:
    if not isinstance(event, Write):
        return event
    return replace(event, scope=replace(event.scope, value=lanes.settled(event.scope.value, state.ranges)))


def _run_sequence(state: State, loop: Loop, values: Sequence, run: Run) -> None:
    variable = f"{INDEX_MARK}{loop.variable}.{loop.id}"
    before = dict(state.buffers)
    outer, ranges, jumps = state.symbols, state.ranges, state.jumps
    limit = trees.limit_of(state, loop, values)
    changed = _mark(state, loop)
    state.symbols = {**outer, loop.variable: symbol(variable)}
    if limit is not None:
        state.ranges = ranges.with_extent(variable, limit)
    run(state, loop.body)
    state.symbols, state.ranges = outer, ranges
    for name in changed:
        tree = None
        if state.jumps == jumps:
            tree = trees.recognised(state, loop, values, variable, before[name], state.buffers[name])
        state.buffers[name] = tree or before[name].then(Havoc("a loop with a step that is not followed"))
    state.jumps = jumps
    _leave_scope(state, before)


def _changed(state: State, loop: Loop) -> list[str]:
    """The buffers that the body writes."""
    return sorted({name for op in operations(loop.body) for name in writes(op)} & state.buffers.keys())


def _mark(state: State, loop: Loop) -> list[str]:
    """Marks the start of an iteration in every buffer that the body writes."""
    changed = _changed(state, loop)
    for name in changed:
        state.buffers[name] = state.buffers[name].then(Marker(name))
    return changed


def _leave_scope(state: State, before: dict[str, Buffer]) -> None:
    for name in state.buffers.keys() - before.keys():
        state.buffers[name] = state.buffers[name].then(Havoc("a tile of the last iteration is read after the loop"))


def _run_range(state: State, loop: Loop, values: Range, run: Run) -> None:
    start, stop, step = (state.polynomial(limit) for limit in (values.start, values.stop, values.step))
    variable = f"{INDEX_MARK}{loop.variable}.{loop.id}"
    own = {bound.variable for bound in state.threads.block}
    backwards = step.constant is not None and step.constant < 0
    if backwards:
        start, stop, step = _forwards(start, stop, step, state)
    value = symbol(variable)
    if backwards or (not start.symbols & own and (start != number(0) or step != number(1))):
        stop_count = ceiling_divide(stop - start, step, state.ranges) if not backwards else stop
        value = start + step * value
        start, stop, step = number(0), stop_count, number(1)
    bound = Bound(variable, start, stop, step)
    before, outer, ranges = dict(state.buffers), state.symbols, state.ranges
    exits, jumps = state.exits, state.jumps
    changed = _mark(state, loop)
    state.symbols = {**outer, loop.variable: value}
    if ranges.is_nonnegative(start):
        state.ranges = ranges.with_extent(variable, stop)
    run(state, loop.body)
    state.ranges, state.symbols = ranges, outer
    left_early = state.exits != exits
    for name in changed:
        if state.jumps != jumps:
            state.buffers[name] = before[name].then(Havoc(_JUMPED))
            continue
        finished = Iterations(state, loop, bound)
        events = _new_events(state.buffers[name])
        if left_early:
            events = [Havoc("threads leave the loop early")]
        state.buffers[name] = finished.after(before[name], state.buffers[name], events)
    state.jumps = jumps
    _leave_scope(state, before)


def _forwards(
    start: Polynomial, stop: Polynomial, step: Polynomial, state: State
) -> tuple[Polynomial, Polynomial, Polynomial]:
    """First value, number of values and (negative) step of a loop that counts down."""
    return start, ceiling_divide(start - stop, -step, state.ranges), step


def _new_events(buffer: Buffer) -> list[Event]:
    last = max(position for position, event in enumerate(buffer.events) if isinstance(event, Marker))
    return list(buffer.events[last + 1 :])
