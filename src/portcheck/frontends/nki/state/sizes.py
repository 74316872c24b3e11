"""What is known of sizes: what was asserted, the conditions of arms, the loops around; and what follows from that."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from portcheck.frontends.nki.state.learning import NEGATED, Known, Learned, counts_up
from portcheck.frontends.nki.values.arithmetic import known, known_int
from portcheck.ir import Apply, Expr, Operator, Symbol, integer, symbols_in

if TYPE_CHECKING:
    from portcheck.frontends.nki.loops.rounds import Round
    from portcheck.frontends.nki.state.context import Context

_NONE, _ONE = integer(0), integer(1)
_EXTREMES = (Operator.MINIMUM, Operator.MAXIMUM)


def decided(context: Context, condition: Expr) -> bool | None:
    """Whether `condition` certainly holds, or certainly does not; None where neither follows from what is known."""
    value = known(condition)
    if value is not None:
        return bool(value)
    holds = context.holding.get(condition)
    if holds is not None or not isinstance(condition, Apply):
        return holds
    sign, arguments = condition.operator, condition.arguments
    if sign is Operator.LOGICAL_NOT:
        inner = decided(context, arguments[0])
        return None if inner is None else not inner
    if sign in (Operator.LOGICAL_AND, Operator.LOGICAL_OR):
        answers = [decided(context, part) for part in arguments]
        decisive = sign is Operator.LOGICAL_OR
        return decisive if decisive in answers else None if None in answers else not decisive
    if sign in NEGATED and len(arguments) == 2:
        return _compared(what_is_known(context), sign, arguments[0], arguments[1])
    return None


def _compared(facts: Known, sign: Operator, left: Expr, right: Expr) -> bool | None:
    if sign in (Operator.NOT_EQUAL, Operator.GREATER_EQUAL, Operator.GREATER):
        answer = (
            _compared(facts, Operator.LESS, right, left)
            if sign is Operator.GREATER
            else _compared(facts, NEGATED[sign], left, right)
        )
        return answer if answer is None or sign is Operator.GREATER else not answer
    if sign is Operator.LESS_EQUAL:
        answer = _compared(facts, Operator.LESS, right, left)
        return None if answer is None else not answer
    gap = facts.difference(right, left)
    if gap is None:
        return None
    if sign is Operator.LESS:
        if facts.ranges.is_nonnegative(gap - 1):
            return True
        return False if facts.ranges.is_nonnegative(-gap) else None
    if gap.constant is not None:
        return gap.constant == 0
    if _is_multiple(facts, left, right):
        return True
    apart = facts.ranges.is_nonnegative(gap - 1) or facts.ranges.is_nonnegative(-gap - 1)
    return False if apart else None


def _is_multiple(facts: Known, left: Expr, right: Expr) -> bool:
    """Whether this is `value % divisor == 0` and the divisor is known to divide the value."""
    if not (isinstance(left, Apply) and left.operator is Operator.FLOOR_MODULO and known_int(right) == 0):
        return False
    value, divisor = (facts.form(argument) for argument in left.arguments)
    return value is not None and divisor is not None and facts.ranges.divides(divisor, value)


def shortened(context: Context, expression: Expr) -> Expr:
    """`expression` in a shorter form that is equal by what is known: a number, or a part of it."""
    if not isinstance(expression, Apply):
        return expression
    value = known_int(expression)
    if value is not None:
        return integer(value) if expression.operator in _EXTREMES else expression
    return _shortened(what_is_known(context), expression)


def _shortened(facts: Known, expression: Apply) -> Expr:
    form = facts.form(expression)
    if form is None:
        return expression
    if form.constant is not None:
        return integer(form.constant)
    for part in _parts(expression):
        if facts.form(part) == form:
            return _shortened(facts, part) if isinstance(part, Apply) else part
    return expression


def _parts(expression: Apply) -> list[Expr]:
    """The integers in `expression`, two levels down, the outer ones first."""
    inner = [part for part in expression.arguments if isinstance(part, Apply)]
    return [*expression.arguments, *(part for item in inner for part in item.arguments)]


def what_is_known(context: Context) -> Known:
    """What follows from all that was asserted, from the arms that are being evaluated and the loops around."""
    source = (context.holding, context.asserted, *context.rounds, len(context.sizes), len(context.program_axes))
    kept = context.known
    if kept is not None and len(kept[0]) == len(source) and all(map(operator.is_, kept[0], source)):
        return kept[1]
    root = frozenset(_natural(context)), frozenset(_whole(context))
    learned = context.learned.setdefault(root, Learned(Known(*root)))
    counted = {made.variable.name: made for made in context.rounds if made is not None and made.variable is not None}
    for place, condition in enumerate(context.asserted):
        learned = _counting(learned, counted, 0, place).where(condition, True)
    for place, (condition, holds) in enumerate(context.holding.items()):
        learned = _counting(learned, counted, 1, place).where(condition, holds)
    for axis in context.program_axes.values():
        if axis.extent is not None:
            learned = learned.within(axis.name, _NONE, axis.extent, _ONE)
    for name, made in counted.items():
        if made.counter is not None:
            learned = learned.counting(name) if counts_up(made.counter.start, made.counter.step) else learned
            learned = learned.within(name, made.counter.start, made.counter.stop, made.counter.step)
    context.known = (source, learned.known)
    return learned.known


def _counting(learned: Learned, rounds: Mapping[str, Round], kind: int, place: int) -> Learned:
    """With the variables of the loops that had begun when fact `place` of its kind was added."""
    for name, made in rounds.items():
        counter = made.counter
        if counter is not None and made.begun[kind] <= place and counts_up(counter.start, counter.step):
            learned = learned.counting(name)
    return learned


def _natural(context: Context) -> Iterator[str]:
    """The symbols that are never negative: sizes, and positions of programs."""
    yield from context.sizes
    for axis in context.program_axes.values():
        yield axis.name
        yield from symbols_in(axis.extent) if axis.extent is not None else ()


def _whole(context: Context) -> Iterator[str]:
    """The symbols in the ranges of loops, which are integers."""
    for made in context.rounds:
        if made is not None and made.counter is not None:
            for end in (made.counter.start, made.counter.stop, made.counter.step):
                yield from symbols_in(end) if isinstance(end, Symbol) else ()
