"""Loops that only put numbers into a list, one beside the other: what it holds then is a function of the place."""

from __future__ import annotations

import libcst as cst

from portcheck.core.dtype import INT64
from portcheck.frontends.nki.loops.rounds import beyond, last_of
from portcheck.frontends.nki.objects.parameters import evaluated_aside
from portcheck.frontends.nki.source.trees import read_names
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.state.holding import reached_from
from portcheck.frontends.nki.state.mutation import alike, changing
from portcheck.frontends.nki.state.sizes import decided
from portcheck.frontends.nki.values.arithmetic import difference, is_number, is_small, known_int, plus
from portcheck.frontends.nki.values.callables import Accessed, Bound, BoundMethod, Function
from portcheck.frontends.nki.values.data import as_number
from portcheck.frontends.nki.values.series import element
from portcheck.frontends.nki.values.values import Counter, Items, Series
from portcheck.ir import Apply, Expr, Operator, Symbol, apply, integer, substitute, symbols_in


def fill(context: Context, frame: Frame, statement: cst.For, counter: Counter) -> bool:
    """Whether the loop, of a length that is not known, only puts numbers into a list; does that."""
    put = _only_put(statement)
    if put is None or context.is_legacy or known_int(counter.step) != 1:
        return False
    name, owner, place, value = put
    target = frame.value(context, owner)
    if not isinstance(target, Items) or not _can_be_filled(target) or name == owner:
        return False
    if _may_read(context, frame, target, read_names(place) | read_names(value)):
        return False
    found = _in_a_round(context, frame, name, place, value)
    made = _filled(context, target, counter, *found) if found is not None else None
    if found is not None:
        context.builder.end(found[0].name)
    if made is None:
        return False
    was_bound = name in frame.names
    changing(context, target)
    target.held.clear()
    target.series = made
    last = last_of(counter)
    frame.names[name] = context.unknown(context.fresh_symbol(name), "bound by a loop") if was_bound else last
    return True


def _only_put(statement: cst.For) -> tuple[str, str, cst.BaseExpression, cst.BaseExpression] | None:
    """The loop's variable, the list, and the place and value of `list[place] = value`, if that is all of the body."""
    match statement.target, statement.body.body:
        case (
            cst.Name(value=name),
            [
                cst.SimpleStatementLine(
                    body=[
                        cst.Assign(
                            targets=[
                                cst.AssignTarget(
                                    target=cst.Subscript(
                                        value=cst.Name(value=owner),
                                        slice=[cst.SubscriptElement(slice=cst.Index(value=place))],
                                    )
                                )
                            ],
                            value=value,
                        )
                    ]
                )
            ],
        ):
            return name, owner, place, value
        case _:
            return None


def _can_be_filled(target: Items) -> bool:
    is_own = target.is_list and not target.once and target.origin is None
    return is_own and not target.lost and target.choice is None


def _may_read(context: Context, frame: Frame, target: Items, names: frozenset[str]) -> bool:
    """Whether what `names` stand for may be the list, hold it, or be functions that know it."""
    held = [item for name in names for item in reached_from(frame.value(context, name))]
    return any(item is target or isinstance(item, Function | Bound | BoundMethod | Accessed) for item in held)


def _in_a_round(
    context: Context, frame: Frame, name: str, place: cst.BaseExpression, value: cst.BaseExpression
) -> tuple[Symbol, Expr, Expr] | None:
    """The variable of a round, and the place and the value there as functions of it."""
    names = dict(frame.names)
    variable = Symbol(context.bind_symbol(name), INT64)
    frame.names[name] = variable
    numbers = [as_number(context, evaluated_aside(context, frame, node)) for node in (place, value)]
    frame.names = names
    at, number = numbers
    if at is None or number is None or not (context.builder.sees(at) and context.builder.sees(number)):
        return None
    return variable, at, number


def _filled(
    context: Context, target: Items, counter: Counter, variable: Symbol, place: Expr, value: Expr
) -> Series | None:
    """What the list holds then; None where places are not one beside the other."""
    length = integer(len(target.held)) if target.series is None else target.series.length
    here = Symbol(context.fresh_symbol("place"), INT64)
    before = _before(target, here)
    offset = beyond(place, variable)
    if before is None or offset is None or before.dtype != value.dtype or variable.name in symbols_in(offset):
        return None
    first, end = plus(counter.start, offset), plus(counter.stop, offset)
    made = before
    is_counted_from_start = decided(context, apply(Operator.GREATER_EQUAL, first, integer(0))) is True
    for at in (here,) if is_counted_from_start else (difference(here, length), here):  # of two the later one holds
        inside = apply(Operator.LOGICAL_AND, apply(Operator.LESS_EQUAL, first, at), apply(Operator.LESS, at, end))
        own = substitute(value, {variable.name: difference(at, offset)})
        made = Apply(Operator.SELECT, (inside, own, made), value.dtype)
    return Series(length, here.name, made) if is_small(made) else None


def _before(target: Items, here: Expr) -> Expr | None:
    """The number at the place `here` of the list before the loop."""
    if target.series is not None:
        found = element(target.series, here)
        return found if is_number(found) else None
    first = target.held[0] if target.held else None
    return first if first is not None and is_number(first) and all(alike(first, item) for item in target.held) else None
