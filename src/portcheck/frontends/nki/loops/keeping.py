"""A loop that is kept: its body is evaluated until nothing new is found out about what its rounds hand on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import libcst as cst

from portcheck.core.dtype import INT64
from portcheck.frontends.nki.loops.carrying import (
    Carried,
    after_loop,
    before_body,
    carried_names,
    end_of_body,
    escaping,
    fits_no_buffer,
    held_in_memory,
    is_alias,
    note_joins,
    number_of,
    outliving,
    settled_late,
    stand_at,
)  # fmt: skip
from portcheck.frontends.nki.loops.growing import Growth, give_lengths, grown, settle
from portcheck.frontends.nki.loops.lists import is_made_for_next
from portcheck.frontends.nki.loops.losing import Changed, begin_without, end_without, kept_otherwise
from portcheck.frontends.nki.loops.rounds import (
    ATTEMPTS,
    Form,
    Plan,
    Remembered,
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
from portcheck.frontends.nki.loops.slots import Slot, hint_of, put_into, value_in
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import ForkError, NeedsUnrollingError, RaisedError, UnfollowedError
from portcheck.frontends.nki.state.flow import Flow, FlowKind
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.state.mutation import Changes, alike, state_of
from portcheck.frontends.nki.state.sizes import decided
from portcheck.frontends.nki.statements.skipping import leaves
from portcheck.frontends.nki.values.arithmetic import is_number, is_small
from portcheck.frontends.nki.values.data import allocate, settled
from portcheck.frontends.nki.values.stacking import common_shape
from portcheck.frontends.nki.values.tiles import Result, View
from portcheck.frontends.nki.values.values import Counter, Value
from portcheck.ir import ZERO, Apply, Expr, Leave, LeaveKind, Op, Operator, Symbol, apply


@dataclass(frozen=True, slots=True)
class Kept:
    """A loop: the values of its variable, how that is bound, and what a round runs.

    `block` is the text of the body, if there is any, `emit` makes the operation of its operations. In a loop that is
    traced Python runs the body once. One that `may_lose` cannot be evaluated round by round: what its rounds hand on in
    a way that is not followed is lost.
    """

    counter: Counter | None
    block: cst.BaseSuite | None
    bind: Callable[[Symbol], object]
    run: Callable[[], Flow]
    emit: Callable[[str, tuple[Op, ...]], object]
    name: str = ""
    is_traced: bool = False
    may_lose: bool = False


def keep(context: Context, frame: Frame, loop: Kept) -> tuple[Flow, frozenset[LeaveKind]]:
    """Evaluates the loop: how its body ends, and how paths through it leave. Raises NeedsUnrollingError."""
    carried = carried_names(context, frame, loop.block)
    is_counted = loop.counter is not None and not loop.is_traced
    plan = _recalled(context) if is_counted else Plan(through_memory=frozenset(carried))
    unfit: dict[Slot, Value] = {
        name: value
        for name, value in carried.items()
        if (fits_no_buffer(context, value) and not is_counted) or (context.builder.path, name) in context.joins.apart
    }
    if unfit:
        plan = _lost(loop, unfit).better(plan, through_memory=False)
    for _ in range(ATTEMPTS):
        names, had_left, marks = dict(frame.names), frame.may_have_left, context.marks()
        with context.builder.region() as before, context.journal.changes() as changes:
            better, flow, left = _tried(context, frame, loop, plan, carried)
        late = settled_late(context, marks, changes.since, before) if better is None else []
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


def _lost(loop: Kept, values: Mapping[Slot, Value]) -> Changed:
    """What is lost, where it may be; raises NeedsUnrollingError where the rounds may be evaluated one by one."""
    if not loop.may_lose:
        raise NeedsUnrollingError
    changed = Changed()
    for slot, value in values.items():
        changed.lose(slot, value)
    return changed


def _recalled(context: Context) -> Plan:
    """What was found out about this loop when it was last evaluated on the same way, if it was."""
    remembered = context.plans.get(context.builder.path)
    found = Plan() if remembered is None else remembered.now(context.journal.going_on())
    return replace(found, recalled=True) if found != Plan(variable=found.variable) else Plan()


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
    context: Context, frame: Frame, loop: Kept, plan: Plan, names: Mapping[str, Value]
) -> tuple[Plan | None, Flow, frozenset[LeaveKind]]:
    """One evaluation; a better plan if there is one, and then what was emitted is of no use."""
    variable = context.bind_symbol(loop.name) if loop.counter is not None else ""
    plan, begun = plan.over(variable), dict(frame.names)
    carried = _carried(frame, plan, names)
    made = Round(Changes(), loop.counter, Symbol(variable, INT64) if variable else None, loop.is_traced, plan)
    made.begun = len(context.asserted), len(context.holding)
    for site, tile in plan.lasting.items():
        assert made.variable is not None and loop.counter is not None
        shape = common_shape(tile, length_of(loop.counter), made.variable)
        made.stacks[site] = allocate(context, site[0], tile.dtype, shape, tile.space, via="=")
    for site, tile in plan.outliving.items():
        made.stacks[site] = allocate(context, site[0], tile.dtype, tile.shape, tile.space, via="=")
    memory = [_in_memory(context, slot, carried[slot], made) for slot in carried if slot in plan.through_memory]
    held = [item for item in memory if item is not None]
    with _round(context, made, held), context.builder.region() as body, context.journal.changes() as changes:
        made.changes = changes
        if made.variable is not None:
            loop.bind(made.variable)
        partly = begin_without(context, frame, plan)
        _begin(context, frame, made, carried)
        before_body(context, frame, held)
        flow = loop.run()
        unfit = _end_of_body(context, frame, loop, held)
        if flow.kind is FlowKind.BREAK:
            context.builder.emit(Leave, via="break", kind=LeaveKind.LOOP)
        growth, changed = ([], Changed()) if loop.is_traced else _changed(made)
        for item in unfit:
            changed.lose(item.slot, value_in(frame, item.slot), *(carried[other.slot] for other in held))
        otherwise = kept_otherwise(context, frame, made, partly) if partly else None
    left = leaves(body)
    better = otherwise or _better(context, frame, loop, made, carried, left, changed)
    better = better or _settled(context, loop, made, growth, left, body)
    better = better or (None if loop.is_traced else outliving(context, frame, loop.block, made, begun))
    if better is not None:
        return better, flow, left
    note_joins(context, frame, loop.block, made, held, begun)
    context.plans[context.builder.path] = Remembered(replace(plan, recalled=False), context.journal.going_on())
    context.builder.end(variable)
    escaped = escaping(context, frame, loop.block, held, body)
    if body or not growth:
        loop.emit(variable, tuple(body))
    give_lengths(context, made, growth)
    _end(context, frame, made, carried, left, begun)
    after_loop(context, frame, [*held, *escaped])
    end_without(context, frame, plan, partly)
    if left:
        for item in escaped:
            put_into(context, frame, item.slot, _left(context, hint_of(item.slot)))
    return None, flow, left


def _left(context: Context, name: str) -> Value:
    return context.unknown(context.fresh_symbol(name), "assigned in a loop that is left")


def _carried(frame: Frame, plan: Plan, names: Mapping[str, Value]) -> dict[Slot, Value]:
    """The names, and the numbers in objects, that rounds hand on, with what they are before the loop."""
    places = sorted(plan.places, key=lambda place: (hint_of(place), place.item.age))
    slots: list[Slot] = [*names, *places]
    found = {slot: value_in(frame, slot) for slot in slots if slot not in plan.lost}
    return {slot: value for slot, value in found.items() if value is not None}


def _end_of_body(context: Context, frame: Frame, loop: Kept, held: list[Carried]) -> list[Carried]:
    """Puts what is carried into its buffers; what must not be put there, where that may be lost."""
    unfit = [item for item in held if loop.may_lose and is_alias(context, frame, item)]
    end_of_body(context, frame, [item for item in held if item not in unfit])
    return unfit


def _changed(made: Round) -> tuple[list[Growth], Changed]:
    """The lists that grew in the round, and how other objects that are older changed, there or where it ended early."""
    growth = grown(made)
    changed, targets = Changed(), {id(item.target) for item in growth}
    for item in made.changes.lasting():
        if id(item) not in targets:
            changed.add(made, item, state_of(item))
    for item, state in made.early:
        changed.add(made, item, state)
    return growth, changed


def _settled(
    context: Context, loop: Kept, made: Round, growth: list[Growth], left: frozenset[LeaveKind], body: list[Op]
) -> Plan | None:
    """As `settle`; lists of which no series can be made are forgotten where that may be."""
    try:
        return settle(context, made, growth, left, body)
    except NeedsUnrollingError:
        if not loop.may_lose:
            raise
    return replace(made.plan, forgotten=made.plan.forgotten | {item.target for item in growth})


@contextmanager
def _round(context: Context, made: Round, held: list[Carried]) -> Iterator[None]:
    context.loop_depth += 1
    context.carried.append(held)
    context.rounds.append(made)
    asserted, clauses = context.asserted, context.clauses.held
    try:
        yield
    finally:
        context.asserted, context.clauses.held = asserted, clauses
        context.loop_depth -= 1
        context.carried.pop()
        context.rounds.pop()


def _in_memory(context: Context, slot: Slot, value: Value, made: Round) -> Carried | None:
    """The buffer of a carried name; none for a number in a body that Python runs once, where it does not advance."""
    if made.is_traced and number_of(context, value) is not None:
        return None
    return held_in_memory(context, slot, value)


def _begin(context: Context, frame: Frame, made: Round, carried: Mapping[Slot, Value]) -> None:
    """Binds the numbers of which it is known, or to be found out, how they go on."""
    for slot, value in carried.items():
        number = number_of(context, value)
        form = made.plan.forms.get(slot)
        if number is None or slot in made.plan.through_memory:
            continue
        if form is not None:
            put_into(context, frame, slot, at_round(form, number, made))
        else:
            context.counter += 1
            made.guesses[slot] = Symbol(f"@{hint_of(slot)}{context.counter}", number.dtype)
            put_into(context, frame, slot, made.guesses[slot])


def _better(
    context: Context, frame: Frame, loop: Kept, made: Round, carried: Mapping[Slot, Value], left: frozenset[LeaveKind],
    changed: Changed,
) -> Plan | None:  # fmt: skip
    """The plan after this evaluation, if it found out something."""
    if made.plan.recalled:
        is_left = LeaveKind.LOOP in left and bool(made.plan.forms)
        if is_left or not are_as_planned(made) or not _go_on(context, frame, made, carried):
            return Plan()
    lists: list[Slot] = []
    for slot, value in carried.items():
        ends = [value_in(frame, slot), *(names.get(slot) for names in made.ends)]
        if not _goes_on_otherwise(context, made, slot, value, ends):
            continue
        if len(ends) == 1 and isinstance(slot, str) and is_made_for_next(made, value, ends[0]):
            lists.append(slot)
            continue
        if len(ends) > 1 or not changed.lose_partly(context, made, slot, value, ends[0]):
            changed.lose(slot, value, *ends)
    if not loop.may_lose and (changed.lost or changed.forgotten):
        raise NeedsUnrollingError
    tiles = [slot for slot, value in carried.items() if _goes_through_memory(context, value, slot, made)]
    if not made.guesses and not tiles and not lists and not changed:
        return None
    forms, memory = dict(made.plan.forms), {*made.plan.through_memory, *tiles, *lists}
    for slot in made.guesses:
        form = _form(context, frame, made, slot) if LeaveKind.LOOP not in left else None
        if form is None:
            memory.add(slot)
        else:
            forms[slot] = form
    better = replace(made.plan, forms=forms, through_memory=frozenset(memory))
    return changed.better(better, through_memory=loop.counter is None)


def _go_on(context: Context, frame: Frame, made: Round, carried: Mapping[Slot, Value]) -> bool:
    """Whether the numbers go on as planned, wherever the round ends."""
    for slot, form in made.plan.forms.items():
        start = number_of(context, carried[slot]) if slot in carried else None
        if start is None:
            continue
        for value in (value_in(frame, slot), *(names.get(slot) for names in made.ends)):
            end = number_of(context, value) if value is not None else None
            if end is None or not goes_on(form, start, end, made):
                return False
    return True


def _goes_through_memory(context: Context, value: Value, slot: Slot, made: Round) -> bool:
    return number_of(context, value) is None and _is_tile(value) and slot not in made.plan.through_memory


def _is_tile(value: Value) -> bool:
    return isinstance(value, View | Result)


def _goes_on_otherwise(context: Context, made: Round, slot: Slot, value: Value, ends: list[Value | None]) -> bool:
    """Whether something that is neither number nor tile is not after a round what it was before."""
    if made.is_traced or _is_tile(value) or slot in made.plan.through_memory or number_of(context, value) is not None:
        return False
    return not all(end is not None and alike(end, value) for end in ends)


def _form(context: Context, frame: Frame, made: Round, slot: Slot) -> Form | None:
    last = value_in(frame, slot)
    end = number_of(context, last) if last is not None else None
    form = form_of(end, slot, made) if end is not None else None
    if form is None or made.guesses[slot].dtype.is_float:
        return None
    for names in made.ends:
        early: Expr | None = number_of(context, names[slot]) if slot in names else None
        if early is None or not agrees(form, early, slot, made):
            return None
    return form


def _end(
    context: Context, frame: Frame, made: Round, carried: Mapping[Slot, Value], left: frozenset[LeaveKind],
    before: Mapping[str, Value],
) -> None:  # fmt: skip
    """What the names are after the loop."""
    if made.variable is None or made.counter is None:
        return
    stand_at(context, frame, made.variable.name, None if LeaveKind.LOOP in left else last_of(made.counter))
    _keep_where_empty(context, frame, made, before)
    for slot, form in made.plan.forms.items():
        number = number_of(context, carried[slot]) if slot in carried else None
        if number is not None:
            put_into(context, frame, slot, after_rounds(form, number, made))


def _keep_where_empty(context: Context, frame: Frame, made: Round, before: Mapping[str, Value]) -> None:
    """A number that a name stood for before the loop is still what it is where the loop has no round."""
    assert made.counter is not None
    some = apply(Operator.GREATER, length_of(made.counter), ZERO)
    changed = [name for name, value in before.items() if is_number(value) and is_number(frame.names.get(name))]
    changed = [name for name in changed if not alike(before[name], frame.names[name])]
    has_any = decided(context, some) if changed else True
    for name in changed if not has_any else ():
        one, other = number_of(context, frame.names[name]), number_of(context, before[name])
        if has_any is False:
            frame.names[name] = before[name]
        elif one is not None and other is not None and one.dtype == other.dtype:
            chosen = Apply(Operator.SELECT, (some, one, other), one.dtype)
            frame.names[name] = chosen if is_small(chosen) else _left(context, name)
