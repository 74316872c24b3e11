"""A loop that is kept: its body is evaluated until nothing new is found out about what its rounds hand on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import libcst as cst

from portcheck.core.dtype import INT64
from portcheck.frontends.nki.loops.carrying import (
    Carried,
    after_loop,
    before_body,
    carried_names,
    end_of_body,
    escaping,
    held_in_memory,
    number_of,
    stand_at,
)  # fmt: skip
from portcheck.frontends.nki.loops.growing import Growth, grown, settle
from portcheck.frontends.nki.loops.rounds import (
    ATTEMPTS,
    Form,
    Plan,
    Round,
    after_rounds,
    agrees,
    are_as_planned,
    at_round,
    form_of,
    goes_on,
    last_of,
    length_of,
)  # fmt: skip
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import ForkError, NeedsUnrollingError, RaisedError, UnfollowedError
from portcheck.frontends.nki.state.flow import Flow, FlowKind
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.state.mutation import Changes, alike
from portcheck.frontends.nki.statements.skipping import leaves
from portcheck.frontends.nki.values.data import allocate, settled
from portcheck.frontends.nki.values.stacking import common_shape
from portcheck.frontends.nki.values.values import Counter, Result, Value, View
from portcheck.ir import Expr, Leave, LeaveKind, Op, Symbol
from portcheck.ir.walk import operations, writes


@dataclass(frozen=True, slots=True)
class Kept:
    """A loop: the values of its variable, how that is bound, and what a round runs.

    `block` is the text of the body, if there is any, `emit` makes the operation of its operations. In a loop that is
    traced Python runs the body once.
    """

    counter: Counter | None
    block: cst.BaseSuite | None
    bind: Callable[[Symbol], object]
    run: Callable[[], Flow]
    emit: Callable[[str, tuple[Op, ...]], object]
    name: str = ""
    is_traced: bool = False


@dataclass(slots=True, eq=False)
class _Attempt:
    """One evaluation of a body: what it gave, and what was found out."""

    body: list[Op] = field(default_factory=list)
    flow: Flow = field(default_factory=Flow)
    ends: dict[str, Value] = field(default_factory=dict)
    growth: list[Growth] = field(default_factory=list)


def keep(context: Context, frame: Frame, loop: Kept) -> tuple[Flow, frozenset[LeaveKind]]:
    """Evaluates the loop: how its body ends, and how paths through it leave. Raises NeedsUnrollingError."""
    carried = carried_names(context, frame, loop.block)
    plan = Plan(through_memory=frozenset(carried)) if loop.counter is None or loop.is_traced else _recalled(context)
    for _ in range(ATTEMPTS):
        names, had_left, marks = dict(frame.names), frame.may_have_left, context.marks()
        with context.builder.region() as before, context.journal.changes() as changes:
            better, flow, left = _tried(context, frame, loop, plan, carried)
        late = _settled_late(context, marks, changes.since, before) if better is None else []
        if better is None and not late:
            context.builder.adopt(before)
            return flow, left
        changes.undo()
        context.release(marks)
        frame.names, frame.may_have_left = names, had_left
        for result in late:
            settled(context, result)
        plan = better or plan
    raise NeedsUnrollingError


def _settled_late(context: Context, marks: tuple[int, ...], since: int, loop: Iterable[Op]) -> list[Result]:
    """The tiles made before a loop that were settled in it and are written there: a round may have read them before."""
    found = [result for result in context.settled_since(marks) if result.age < since]
    written = {name for op in operations(loop) for name in writes(op)} if found else set()
    return [result for result in found if result.view is not None and result.view.buffer.name in written]


def _recalled(context: Context) -> Plan:
    """What was found out about this loop when it was last evaluated on the same way, if it was."""
    found = context.plans.get(context.builder.path)
    says_something = found is not None and (found.forms or found.through_memory or found.lasting)
    return replace(found, recalled=True) if found is not None and says_something else Plan()


def _tried(
    context: Context, frame: Frame, loop: Kept, plan: Plan, carried: Mapping[str, Value]
) -> tuple[Plan | None, Flow, frozenset[LeaveKind]]:
    """One evaluation, as `_attempted`; one that fails by a plan that need not hold says nothing but that."""
    if not plan.recalled:
        return _attempted(context, frame, loop, plan, carried)
    try:
        return _attempted(context, frame, loop, plan, carried)
    except (NeedsUnrollingError, UnfollowedError, RaisedError, ForkError):
        return Plan(), Flow(), frozenset()


def _attempted(
    context: Context, frame: Frame, loop: Kept, plan: Plan, carried: Mapping[str, Value]
) -> tuple[Plan | None, Flow, frozenset[LeaveKind]]:
    """One evaluation; a better plan if there is one, and then what was emitted is of no use."""
    variable = context.bind_symbol(loop.name) if loop.counter is not None else ""
    plan = plan.over(variable)
    made = Round(Changes(), loop.counter, Symbol(variable, INT64) if variable else None, loop.is_traced, plan)
    for site, tile in plan.lasting.items():
        assert made.variable is not None and loop.counter is not None
        shape = common_shape(tile, length_of(loop.counter), made.variable)
        made.stacks[site] = allocate(context, site[0], tile.dtype, shape, tile.space, via="=")
    memory = [_in_memory(context, name, carried[name], made) for name in carried if name in plan.through_memory]
    held = [item for item in memory if item is not None]
    with _round(context, made, held), context.builder.region() as body, context.journal.changes() as changes:
        made.changes = changes
        if made.variable is not None:
            loop.bind(made.variable)
        _begin(context, frame, made, carried)
        before_body(context, frame, held)
        flow = loop.run()
        end_of_body(context, frame, held)
        if flow.kind is FlowKind.BREAK:
            context.builder.emit(Leave, via="break", kind=LeaveKind.LOOP)
        growth = [] if loop.is_traced else grown(made)
    left = leaves(body)
    better = _better(context, frame, made, carried, left) or settle(context, made, growth, left)
    if better is not None:
        return better, flow, left
    context.plans[context.builder.path] = replace(plan, recalled=False)
    context.builder.end(variable)
    escaped = escaping(context, frame, loop.block, held, body)
    if body or not growth:
        loop.emit(variable, tuple(body))
    _end(context, frame, made, carried, left)
    after_loop(context, frame, [*held, *escaped])
    if left:
        for item in escaped:
            frame.names[item.name] = context.unknown(context.fresh_symbol(item.name), "assigned in a loop that is left")
    return None, flow, left


@contextmanager
def _round(context: Context, made: Round, held: list[Carried]) -> Iterator[None]:
    context.loop_depth += 1
    context.carried.append(held)
    context.rounds.append(made)
    asserted = context.asserted
    try:
        yield
    finally:
        context.asserted = asserted
        context.loop_depth -= 1
        context.carried.pop()
        context.rounds.pop()


def _in_memory(context: Context, name: str, value: Value, made: Round) -> Carried | None:
    """The buffer of a carried name; none for a number in a body that Python runs once, where it does not advance."""
    if made.is_traced and number_of(context, value) is not None:
        return None
    return held_in_memory(context, name, value)


def _begin(context: Context, frame: Frame, made: Round, carried: Mapping[str, Value]) -> None:
    """Binds the numbers of which it is known, or to be found out, how they go on."""
    for name, value in carried.items():
        number = number_of(context, value)
        form = made.plan.forms.get(name)
        if number is None or name in made.plan.through_memory:
            continue
        if form is not None:
            frame.names[name] = at_round(form, number, made)
        else:
            context.counter += 1
            made.guesses[name] = Symbol(f"@{name}{context.counter}", number.dtype)
            frame.names[name] = made.guesses[name]


def _better(
    context: Context, frame: Frame, made: Round, carried: Mapping[str, Value], left: frozenset[LeaveKind]
) -> Plan | None:
    """The plan after this evaluation, if it found out something."""
    if made.plan.recalled:
        is_left = LeaveKind.LOOP in left and bool(made.plan.forms)
        if is_left or not are_as_planned(made) or not _go_on(context, frame, made, carried):
            return Plan()
    for name, value in carried.items():
        if number_of(context, value) is None and name not in made.plan.through_memory:
            _check_same(context, frame, made, name, value)
    tiles = [name for name, value in carried.items() if _goes_through_memory(context, value, name, made)]
    if not made.guesses and not tiles:
        return None
    forms, memory = dict(made.plan.forms), {*made.plan.through_memory, *tiles}
    for name in made.guesses:
        form = _form(context, frame, made, name) if LeaveKind.LOOP not in left else None
        if form is None:
            memory.add(name)
        else:
            forms[name] = form
    return replace(made.plan, forms=forms, through_memory=frozenset(memory))


def _go_on(context: Context, frame: Frame, made: Round, carried: Mapping[str, Value]) -> bool:
    """Whether the numbers go on as planned, wherever the round ends."""
    for name, form in made.plan.forms.items():
        start = number_of(context, carried[name]) if name in carried else None
        if start is None:
            continue
        for names in (frame.names, *made.ends):
            end = number_of(context, names[name]) if name in names else None
            if end is None or not goes_on(form, start, end, made):
                return False
    return True


def _goes_through_memory(context: Context, value: Value, name: str, made: Round) -> bool:
    return number_of(context, value) is None and _is_tile(value) and name not in made.plan.through_memory


def _is_tile(value: Value) -> bool:
    return isinstance(value, View | Result)


def _check_same(context: Context, frame: Frame, made: Round, name: str, value: Value) -> None:
    """Something that is neither number nor tile must be after a round what it was before."""
    ends = [frame.names.get(name), *(names.get(name) for names in made.ends)]
    if not _is_tile(value) and not made.is_traced and not all(end is not None and alike(end, value) for end in ends):
        raise NeedsUnrollingError


def _form(context: Context, frame: Frame, made: Round, name: str) -> Form | None:
    end = number_of(context, frame.names[name]) if name in frame.names else None
    form = form_of(end, name, made) if end is not None else None
    if form is None or made.guesses[name].dtype.is_float:
        return None
    for names in made.ends:
        early: Expr | None = number_of(context, names[name]) if name in names else None
        if early is None or not agrees(form, early, name, made):
            return None
    return form


def _end(context: Context, frame: Frame, made: Round, carried: Mapping[str, Value], left: frozenset[LeaveKind]) -> None:
    """What the names are after the loop."""
    if made.variable is None or made.counter is None:
        return
    stand_at(context, frame, made.variable.name, None if LeaveKind.LOOP in left else last_of(made.counter))
    for name, form in made.plan.forms.items():
        number = number_of(context, carried[name])
        if number is not None:
            frame.names[name] = after_rounds(form, number, made)
