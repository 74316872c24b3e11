"""Loops: kept as loops where the body means the same for every iteration, evaluated one by one where it does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst

from portcheck.core.dtype import INT64
from portcheck.frontends.nki.arithmetic import known
from portcheck.frontends.nki.attributes import bind_target, items_of
from portcheck.frontends.nki.carrying import after_loop, before_body, carried_names, end_of_body, escaping
from portcheck.frontends.nki.context import Context, NeedsUnrollingError
from portcheck.frontends.nki.data import as_number, buffers_of, condition_of
from portcheck.frontends.nki.evaluate import truth
from portcheck.frontends.nki.flow import Flow, FlowKind
from portcheck.frontends.nki.frame import Frame, read_names
from portcheck.frontends.nki.values import Counter, Items, Unknown, Value
from portcheck.ir import AxisKind, Leave, LeaveKind, Loop, Op, Range, Symbol, While

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
    iterated = context.evaluate(context, frame, statement.iter, "")
    if isinstance(iterated, Counter) and isinstance(statement.target, cst.Name):
        before = dict(frame.names)
        fuel, counter = context.fuel, set(context.buffers)
        try:
            return _kept(context, frame, statement, iterated)
        except NeedsUnrollingError:
            frame.names = before
            context.buffers = counter
            context.fuel = min(context.fuel, fuel)
    values = items_of(context, iterated)
    if values is None:
        if context.loop_depth and isinstance(iterated, Counter):
            raise NeedsUnrollingError
        return _unknown_iteration(context, frame, statement, iterated)
    return _unrolled(context, frame, statement, values)


def _kind(context: Context, counter: Counter) -> AxisKind:
    if context.is_legacy:
        return _LEGACY_KINDS.get(counter.semantics, AxisKind.UNROLLED)
    return AxisKind.SEQUENTIAL if counter.semantics == "loop.dynamic" else AxisKind.UNROLLED


def _kept(context: Context, frame: Frame, statement: cst.For, counter: Counter) -> Flow:
    assert isinstance(statement.target, cst.Name)
    variable = context.fresh_symbol(statement.target.value)
    values = Range(start=counter.start, stop=counter.stop, step=counter.step)
    return _body_once(
        context, frame, statement.body, lambda: bind_target(frame, statement.target, Symbol(variable, INT64), context),
        lambda body: context.builder.emit(
            Loop, via=counter.call, variable=variable, values=values,
            body=body, kind=_kind(context, counter),
        ),
    )  # fmt: skip


def _body_once(
    context: Context, frame: Frame, block: cst.BaseSuite, bind: Callable[[], object],
    emit: Callable[[tuple[Op, ...]], object],
) -> Flow:  # fmt: skip
    """Evaluates a loop body once, with what one iteration hands to the next going through memory."""
    carried = carried_names(context, frame, block)
    context.loop_depth += 1
    try:
        with context.builder.region() as body:
            bind()
            before_body(context, frame, carried)
            flow = context.run(context, frame, block.body)
            end_of_body(context, frame, carried)
            if flow.kind is FlowKind.BREAK:
                context.builder.emit(Leave, via="break", kind=LeaveKind.LOOP)
    finally:
        context.loop_depth -= 1
    escaped = escaping(context, frame, block, carried, body)
    emit(tuple(body))
    after_loop(context, frame, [*carried, *escaped])
    return Flow(flow.kind, flow.value) if flow.kind in (FlowKind.RETURN, FlowKind.RAISE) else Flow()


def _unrolled(context: Context, frame: Frame, statement: cst.For, values: Sequence[Value]) -> Flow:
    for value in values:
        bind_target(frame, statement.target, value, context)
        flow = context.run(context, frame, statement.body.body)
        if flow.kind is FlowKind.BREAK:
            return Flow()
        if flow.kind in (FlowKind.RETURN, FlowKind.RAISE):
            return flow
    if statement.orelse is not None:
        return context.run(context, frame, statement.orelse.body.body)
    return Flow()


def _unknown_iteration(context: Context, frame: Frame, statement: cst.For, iterated: Value) -> Flow:
    """A loop over something that is not known: its body as a loop of unknown length, reported as not understood."""
    if isinstance(iterated, Counter):
        reason = "a loop of unknown length changes a Python list"
    elif isinstance(iterated, Unknown):
        reason = f"a loop over something that is not known: {iterated.reason}"
    else:
        reason = "a loop over something that is not known"
    written = _names_written(context, frame, statement.body)
    context.opaque(reason, frame.segment.text(statement.iter), reads=buffers_of(context, iterated), writes=written)
    return Flow()


def _names_written(context: Context, frame: Frame, block: cst.CSTNode) -> tuple[str, ...]:
    """Every buffer that a name in `block` stands for: what a skipped body may write."""
    values = [frame.find(name) for name in sorted(read_names(block))]
    flat = [item for value in values for item in (value.values if isinstance(value, Items) else [value])]
    return buffers_of(context, *flat)


def run_while(context: Context, frame: Frame, statement: cst.While) -> Flow:
    """A `while` loop: evaluated round by round as long as its condition is known."""
    for _ in range(WHILE_LIMIT):
        decided = truth(context, context.evaluate(context, frame, statement.test, ""))
        if decided is None:
            return _kept_while(context, frame, statement)
        if not decided:
            return Flow()
        flow = context.run(context, frame, statement.body.body)
        if flow.kind is FlowKind.BREAK:
            return Flow()
        if flow.kind in (FlowKind.RETURN, FlowKind.RAISE):
            return flow
    written = _names_written(context, frame, statement.body)
    context.opaque(f"a while loop of more than {WHILE_LIMIT} rounds", "while", reads=written, writes=written)
    return Flow()


def _kept_while(context: Context, frame: Frame, statement: cst.While) -> Flow:
    carried = carried_names(context, frame, statement.body)
    with context.builder.region() as test:
        before_body(context, frame, carried)
        condition = as_number(context, context.evaluate(context, frame, statement.test, ""))
    if condition is None or known(condition) is not None:
        condition = Symbol(frame.segment.text(statement.test), INT64)
    made = condition_of(condition)
    return _body_once(
        context, frame, statement.body, lambda: None,
        lambda body: context.builder.emit(While, via="while", test=tuple(test), condition=made, body=body),
    )  # fmt: skip
