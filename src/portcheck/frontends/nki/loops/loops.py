"""Loops: kept as loops where the body means the same for every iteration, evaluated one by one where it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import libcst as cst

from portcheck.frontends.nki.loops.carrying import before_body
from portcheck.frontends.nki.loops.filling import fill
from portcheck.frontends.nki.loops.keeping import Kept, keep
from portcheck.frontends.nki.loops.rounds import length_of
from portcheck.frontends.nki.loops.slots import put_into, value_in
from portcheck.frontends.nki.objects.attributes import bind_target, items_of
from portcheck.frontends.nki.python.comprehensions import taken_in_turns
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import ForkError, NeedsUnrollingError, UnfollowedError
from portcheck.frontends.nki.state.flow import Flow, FlowKind
from portcheck.frontends.nki.state.forking import can_fork
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.state.mutation import take_first
from portcheck.frontends.nki.state.sizes import decided
from portcheck.frontends.nki.state.uses import note_form
from portcheck.frontends.nki.statements.skipping import leaves, skip
from portcheck.frontends.nki.values.arithmetic import known
from portcheck.frontends.nki.values.data import as_number
from portcheck.frontends.nki.values.flags import condition_of
from portcheck.frontends.nki.values.series import element, series_of
from portcheck.frontends.nki.values.stacking import can_unroll
from portcheck.frontends.nki.values.tiles import View
from portcheck.frontends.nki.values.values import Counter, Items, Series, Unknown, Value
from portcheck.ir import (
    ZERO,
    AxisKind,
    Expr,
    LeaveKind,
    Loop,
    Op,
    OpaqueKind,
    Operator,
    Range,
    Space,
    Symbol,
    While,
    apply,
    integer,
)  # fmt: skip
from portcheck.knowledge import Form

WHILE_LIMIT = 64
"""Rounds of a `while` whose condition is known that are evaluated one by one."""
_LEGACY_KINDS = {
    "loop.parallel": AxisKind.PARALLEL_ASSERTED,
    "loop.sequential": AxisKind.SEQUENTIAL,
    "loop.range": AxisKind.SEQUENTIAL,
    "loop.dynamic": AxisKind.SEQUENTIAL,
}


def run_for(context: Context, frame: Frame, statement: cst.For) -> Flow:
    """A `for` loop."""
    return _whole(context, frame, statement, lambda: _for(context, frame, statement))


def _whole(context: Context, frame: Frame, statement: cst.For | cst.While, run: Callable[[], Flow]) -> Flow:
    """The loop, unless some path leaves a loop that is evaluated round by round: then it is skipped as a whole.

    Raises ForkError where some path returns from the function by a condition that is the same in every round.
    """
    before, had_left, outer = dict(frame.names), frame.may_have_left, context.returning
    context.returning = None
    with context.builder.region() as body:
        flow = run()
    has_left, frame.may_have_left = frame.may_have_left, had_left
    returning, context.returning = context.returning, outer
    if has_left and not had_left and returning is not None and can_fork(context, returning):
        raise ForkError(returning)
    if leaves(body) or (has_left and not had_left):
        frame.names = before
        reason = "a loop that is left in a way that is not followed"
        return skip(context, frame, statement, reason, kind=OpaqueKind.CONTROL)
    context.builder.adopt(body)
    return flow


def _for(context: Context, frame: Frame, statement: cst.For) -> Flow:
    if isinstance(statement.iter, cst.GeneratorExp):
        elements = taken_in_turns(context, frame, statement.iter)
        if elements is not None:
            return _unrolled(context, frame, statement, elements)
    iterated = _in_sight(context, context.evaluate(context, frame, statement.iter, ""))
    if isinstance(iterated, Items) and iterated.once and iterated.series is None:
        return _unrolled(context, frame, statement, _one_by_one(context, iterated))
    if id(iterated) in context.lazy:
        raise UnfollowedError("a generator that computes takes turns with what uses it")
    values = items_of(context, iterated)
    series = series_of(context, iterated)
    if isinstance(iterated, Counter) and values is None and fill(context, frame, statement, iterated):
        return _otherwise(context, frame, statement, may_be_left=False)
    is_range = isinstance(iterated, Counter) and (values is None or context.builder.path not in context.unkept)
    if is_range or (series is not None and values is None):
        before, marks, fuel = dict(frame.names), context.marks(), context.fuel
        with context.journal.changes() as changes, context.builder.region() as body:
            may_lose = values is None and not can_unroll(context)
            flow = _kept_if_alike(context, frame, statement, iterated, series, may_lose=may_lose)
            if flow is None or flow.kind is FlowKind.RETURN:
                changes.undo()
        if flow is not None and flow.kind is not FlowKind.RETURN:
            context.builder.adopt(body)
            return flow
        if flow is None:
            context.unkept.add(context.builder.path)
        frame.names, frame.may_have_left = before, False
        context.release(marks)
        context.fuel = min(context.fuel, fuel)
        if flow is not None:
            return _once(context, frame, statement, iterated, series)
    if values is None:
        if can_unroll(context) and isinstance(iterated, Counter):
            raise NeedsUnrollingError
        return skip(context, frame, statement, _not_iterated(iterated), kind=OpaqueKind.CONTROL)
    return _unrolled(context, frame, statement, values)


def _kept_if_alike(
    context: Context, frame: Frame, statement: cst.For, iterated: Value, series: Series | None, *, may_lose: bool
) -> Flow | None:
    """The loop as a loop; None where its rounds have to be evaluated one by one."""
    try:
        return _kept(context, frame, statement, iterated, series, may_lose=may_lose)
    except NeedsUnrollingError:
        return None


def _once(context: Context, frame: Frame, statement: cst.For, iterated: Value, series: Series | None) -> Flow:
    """A loop whose first round ends the function, if there is one; raises ForkError where that is not known."""
    length = length_of(iterated) if isinstance(iterated, Counter) else series.length if series is not None else ZERO
    has_any = apply(Operator.GREATER, length, ZERO)
    answer = context.holds(has_any)
    answer = decided(context, has_any) if answer is None else answer
    if answer is None:
        raise ForkError(has_any)
    first = iterated.start if isinstance(iterated, Counter) else element(series, ZERO) if series is not None else None
    return _unrolled(context, frame, statement, [first] if answer and first is not None else [])


def _one_by_one(context: Context, iterator: Items) -> Iterator[Value]:
    """The elements that are left, each taken when it is asked for: the rounds may take some too."""
    while iterator.values:
        yield take_first(context, iterator)


def _in_sight(context: Context, iterated: Value) -> Value:
    """What is iterated; a range whose ends mean nothing here is not known."""
    if not isinstance(iterated, Counter):
        return iterated
    is_seen = all(map(context.builder.sees, (iterated.start, iterated.stop, iterated.step)))
    return iterated if is_seen else context.unknown(iterated.call, "its ends are not known here")


def _kind(context: Context, counter: Counter) -> AxisKind:
    if context.is_legacy:
        return _LEGACY_KINDS.get(counter.semantics, AxisKind.UNROLLED)
    return AxisKind.SEQUENTIAL if counter.semantics == "loop.dynamic" else AxisKind.UNROLLED


def _kept(
    context: Context, frame: Frame, statement: cst.For, iterated: Value, series: Series | None, *, may_lose: bool
) -> Flow:
    """The loop as a loop: over a range, or over the positions of a list."""
    target = statement.target
    if isinstance(iterated, Counter):
        counter, is_traced = iterated, context.is_legacy and iterated.semantics in _LEGACY_KINDS
    else:
        assert series is not None
        counter, is_traced = Counter(integer(0), series.length, integer(1), "loop.list", "for"), False

    def bind(variable: Symbol) -> None:
        value = variable if isinstance(iterated, Counter) or series is None else element(series, variable)
        if not bind_target(frame, target, value, context):
            raise NeedsUnrollingError

    def emit(variable: str, body: tuple[Op, ...]) -> None:
        values = Range(start=counter.start, stop=counter.stop, step=counter.step)
        kind = _kind(context, counter)
        context.builder.emit(Loop, via=counter.call, variable=variable, values=values, body=body, kind=kind)

    name = target.value if isinstance(target, cst.Name) else "place"
    loop = Kept(
        counter, statement.body, bind, lambda: context.run(context, frame, statement.body.body), emit, name, is_traced,
        may_lose,
    )  # fmt: skip
    flow, left = keep(context, frame, loop)
    if flow.kind in (FlowKind.RETURN, FlowKind.RAISE):
        return Flow(flow.kind, flow.value)
    return _otherwise(context, frame, statement, may_be_left=LeaveKind.LOOP in left)


def _otherwise(context: Context, frame: Frame, statement: cst.For | cst.While, *, may_be_left: bool) -> Flow:
    """The `else` of a loop, which runs where no `break` left it."""
    if statement.orelse is None:
        return Flow()
    if may_be_left:
        reason = "the `else` of a loop that may be left"
        return skip(context, frame, statement.orelse, reason, kind=OpaqueKind.CONTROL)
    return context.run(context, frame, statement.orelse.body.body)


def _unrolled(context: Context, frame: Frame, statement: cst.For, values: Iterable[Value]) -> Flow:
    for value in values:
        bind_target(frame, statement.target, value, context)
        flow = _round(context, frame, statement.body)
        if flow.kind is FlowKind.BREAK:
            return Flow()
        if flow.kind in (FlowKind.RETURN, FlowKind.RAISE):
            return flow
    return _otherwise(context, frame, statement, may_be_left=False)


def _round(context: Context, frame: Frame, block: cst.BaseSuite) -> Flow:
    """One iteration of a loop that is evaluated; nothing is carried through memory."""
    context.carried.append(())
    context.rounds.append(None)
    try:
        return context.run(context, frame, block.body)
    finally:
        context.carried.pop()
        context.rounds.pop()


def _not_iterated(iterated: Value) -> str:
    if isinstance(iterated, Counter):
        return "a loop of unknown length changes a Python list"
    if isinstance(iterated, Unknown):
        return f"a loop over something that is not known: {iterated.reason}"
    return "a loop over something that is not known"


def run_while(context: Context, frame: Frame, statement: cst.While) -> Flow:
    """A `while` loop: evaluated round by round as long as its condition is known."""
    return _whole(context, frame, statement, lambda: _while(context, frame, statement))


def _while(context: Context, frame: Frame, statement: cst.While) -> Flow:
    for _ in range(WHILE_LIMIT):
        condition = context.evaluate(context, frame, statement.test, "")
        decided = context.truth(context, condition)
        if decided is None:
            if isinstance(condition, View) and condition.buffer.space is Space.REGISTER:
                note_form(context, Form.REGISTER_CONDITION)
            return _kept_while(context, frame, statement)
        if not decided:
            return _otherwise(context, frame, statement, may_be_left=False)
        flow = _round(context, frame, statement.body)
        if flow.kind is FlowKind.BREAK:
            return Flow()
        if flow.kind in (FlowKind.RETURN, FlowKind.RAISE):
            return flow
    reason = f"a while loop of more than {WHILE_LIMIT} rounds"
    return skip(context, frame, statement, reason, "while", OpaqueKind.LIMIT)


def _kept_while(context: Context, frame: Frame, statement: cst.While) -> Flow:
    """The loop as a loop; what its rounds hand on goes through memory, and so does what its condition reads."""
    tests: list[tuple[tuple[Op, ...], Expr]] = []

    def run() -> Flow:
        held = context.carried[-1]
        inside = {item.slot: value_in(frame, item.slot) for item in held}
        with context.builder.region() as test:
            before_body(context, frame, held)
            condition = as_number(context, context.evaluate(context, frame, statement.test, ""))
        if condition is None or known(condition) is not None:
            condition = context.free_symbol(frame.segment.text(statement.test))
        tests.append((tuple(test), condition_of(condition)))
        for slot, value in inside.items():
            if value is not None:
                put_into(context, frame, slot, value)
        return context.run(context, frame, statement.body.body)

    def emit(variable: str, body: tuple[Op, ...]) -> None:
        test, condition = tests[-1]
        context.builder.emit(While, via="while", test=test, condition=condition, body=body)

    flow, left = keep(
        context, frame, Kept(None, statement.body, lambda _: None, run, emit, may_lose=not can_unroll(context))
    )
    if flow.kind in (FlowKind.RETURN, FlowKind.RAISE):
        return Flow(flow.kind, flow.value)
    return _otherwise(context, frame, statement, may_be_left=LeaveKind.LOOP in left)
