"""Loops: kept as loops where the body means the same for every iteration, evaluated one by one where it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import libcst as cst

from portcheck.core.dtype import INT64
from portcheck.frontends.nki.arithmetic import difference, known, known_int, plus, times
from portcheck.frontends.nki.attributes import bind_target, items_of
from portcheck.frontends.nki.carrying import after_loop, before_body, carried_names, end_of_body, escaping, stand_at
from portcheck.frontends.nki.context import Context, NeedsUnrollingError
from portcheck.frontends.nki.data import as_number, condition_of
from portcheck.frontends.nki.evaluate import truth
from portcheck.frontends.nki.flow import Flow, FlowKind
from portcheck.frontends.nki.frame import Frame
from portcheck.frontends.nki.mutation import Changes
from portcheck.frontends.nki.skipping import leaves, skip
from portcheck.frontends.nki.values import Counter, Unknown, Value
from portcheck.ir import (
    AxisKind,
    Expr,
    Leave,
    LeaveKind,
    Loop,
    Op,
    OpaqueKind,
    Operator,
    Range,
    Symbol,
    While,
    apply,
    integer,
)  # fmt: skip

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
    """The loop, unless some path leaves a loop that is evaluated round by round: then it is skipped as a whole."""
    before, had_left = dict(frame.names), frame.may_have_left
    with context.builder.region() as body:
        flow = run()
    has_left, frame.may_have_left = frame.may_have_left, had_left
    if leaves(body) or (has_left and not had_left):
        frame.names = before
        reason = "a loop that is left in a way that is not followed"
        return skip(context, frame, statement, reason, kind=OpaqueKind.CONTROL)
    context.builder.adopt(body)
    return flow


def _for(context: Context, frame: Frame, statement: cst.For) -> Flow:
    iterated = context.evaluate(context, frame, statement.iter, "")
    if isinstance(iterated, Counter) and isinstance(statement.target, cst.Name):
        before, marks, fuel = dict(frame.names), context.marks(), context.fuel
        with context.journal.changes() as changes:
            try:
                return _kept(context, frame, statement, iterated)
            except NeedsUnrollingError:
                changes.undo()
        frame.names, frame.may_have_left = before, False
        context.release(marks)
        context.fuel = min(context.fuel, fuel)
    values = items_of(context, iterated)
    if values is None:
        if context.loop_depth and isinstance(iterated, Counter):
            raise NeedsUnrollingError
        return skip(context, frame, statement, _not_iterated(iterated), kind=OpaqueKind.CONTROL)
    return _unrolled(context, frame, statement, values)


def _kind(context: Context, counter: Counter) -> AxisKind:
    if context.is_legacy:
        return _LEGACY_KINDS.get(counter.semantics, AxisKind.UNROLLED)
    return AxisKind.SEQUENTIAL if counter.semantics == "loop.dynamic" else AxisKind.UNROLLED


def _kept(context: Context, frame: Frame, statement: cst.For, counter: Counter) -> Flow:
    assert isinstance(statement.target, cst.Name)
    variable = context.bind_symbol(statement.target.value)
    values = Range(start=counter.start, stop=counter.stop, step=counter.step)
    made: list[Loop] = []
    flow = _body_once(
        context, frame, statement, lambda: bind_target(frame, statement.target, Symbol(variable, INT64), context),
        lambda body: made.append(context.builder.emit(
            Loop, via=counter.call, variable=variable, values=values,
            body=body, kind=_kind(context, counter),
        )),
    )  # fmt: skip
    is_left = LeaveKind.LOOP in leaves(made[0].body)
    stand_at(context, frame, variable, None if is_left else _last(counter))
    return flow


def _last(counter: Counter) -> Expr:
    """The last value of a range that is not empty."""
    rounds = apply(Operator.CEILING_DIVIDE, difference(counter.stop, counter.start), counter.step)
    count = known_int(rounds)
    before = integer(count - 1) if count is not None else plus(rounds, integer(-1))
    return plus(counter.start, times(before, counter.step))


def _body_once(
    context: Context, frame: Frame, statement: cst.For | cst.While, bind: Callable[[], object],
    emit: Callable[[tuple[Op, ...]], object],
) -> Flow:  # fmt: skip
    """Evaluates a loop body once, with what one iteration hands to the next going through memory."""
    block = statement.body
    carried = carried_names(context, frame, block)
    context.loop_depth += 1
    context.carried.append(carried)
    try:
        with context.builder.region() as body, context.journal.changes() as changes, _round_noted(context, changes):
            bind()
            before_body(context, frame, carried)
            flow = context.run(context, frame, block.body)
            end_of_body(context, frame, carried)
            if not context.is_legacy and changes.lasting():
                raise NeedsUnrollingError
            if flow.kind is FlowKind.BREAK:
                context.builder.emit(Leave, via="break", kind=LeaveKind.LOOP)
    finally:
        context.loop_depth -= 1
        context.carried.pop()
    escaped = escaping(context, frame, block, carried, body)
    emit(tuple(body))
    after_loop(context, frame, [*carried, *escaped])
    if leaves(body):
        for item in escaped:
            frame.names[item.name] = context.unknown(context.fresh_symbol(item.name), "assigned in a loop that is left")
    if flow.kind in (FlowKind.RETURN, FlowKind.RAISE):
        return Flow(flow.kind, flow.value)
    return _otherwise(context, frame, statement, may_be_left=LeaveKind.LOOP in leaves(body))


@contextmanager
def _round_noted(context: Context, changes: Changes) -> Iterator[None]:
    context.rounds.append(changes)
    try:
        yield
    finally:
        context.rounds.pop()


def _otherwise(context: Context, frame: Frame, statement: cst.For | cst.While, *, may_be_left: bool) -> Flow:
    """The `else` of a loop, which runs where no `break` left it."""
    if statement.orelse is None:
        return Flow()
    if may_be_left:
        reason = "the `else` of a loop that may be left"
        return skip(context, frame, statement.orelse, reason, kind=OpaqueKind.CONTROL)
    return context.run(context, frame, statement.orelse.body.body)


def _unrolled(context: Context, frame: Frame, statement: cst.For, values: Sequence[Value]) -> Flow:
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
        decided = truth(context, context.evaluate(context, frame, statement.test, ""))
        if decided is None:
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
    carried = carried_names(context, frame, statement.body)
    with context.builder.region() as test:
        before_body(context, frame, carried)
        condition = as_number(context, context.evaluate(context, frame, statement.test, ""))
    if condition is None or known(condition) is not None:
        condition = context.free_symbol(frame.segment.text(statement.test))
    made = condition_of(condition)
    return _body_once(
        context, frame, statement, lambda: None,
        lambda body: context.builder.emit(While, via="while", test=tuple(test), condition=made, body=body),
    )  # fmt: skip
