"""Shared-memory trees: loops that halve (or double) a distance and combine elements that far apart."""

from __future__ import annotations

from portcheck.ir import (
    Apply,
    Const,
    Expr,
    Loop,
    Operator,
    Order,
    Polynomial,
    Sequence,
    Symbol,
    number,
    operations,
    writes,
)
from portcheck.ir.algebra import floor_divide, floor_modulo
from portcheck.ir.operators import ASSOCIATIVE
from portcheck.ir.polynomial import symbol
from portcheck.ir.ranges import INDEX_MARK
from portcheck.numerics import Stage
from portcheck.values.evaluation import State
from portcheck.values.folds import fold
from portcheck.values.fusion import Quantified
from portcheck.values.memory import Buffer, Havoc, Marker, Write
from portcheck.values.terms import AtLeast, Bound, Carried, Condition, Function, IsZero, Rounded, Term

_HALVINGS = {
    Operator.TRUNCATED_DIVIDE: 2,
    Operator.FLOOR_DIVIDE: 2,
    Operator.SHIFT_RIGHT_ARITHMETIC: 1,
    Operator.SHIFT_RIGHT_LOGICAL: 1,
}
_DOUBLINGS = {Operator.MULTIPLY: 2, Operator.SHIFT_LEFT: 1}


def recognised(
    state: State, loop: Loop, values: Sequence, variable: str, before: Buffer, after: Buffer
) -> Buffer | None:
    """The buffer after the loop if the loop is a tree over it, else None."""
    combination = _combination(after, variable)
    if combination is None:
        return None
    operator, thread, conditions = combination
    extent = _halving_extent(state, loop, values, variable, thread, conditions)
    last = _last_distance(values)
    if extent is None or last is None:
        extent, last = _doubling_extent(state, values, variable, thread, conditions), 1
    if extent is None:
        return None
    if extent.constant is None:
        state.assumptions.append(f"{extent} is a power of two")
        if last > 1:
            state.assumptions.append(f"{extent} is at least {2 * last}")
    elif extent.constant & (extent.constant - 1) or extent.constant <= last:
        return None
    if not _reaches(state, thread, extent):
        return None
    return _combined(state, loop, before, operator, extent, last)


def _reaches(state: State, thread: Polynomial, extent: Polynomial) -> bool:
    """Whether the threads are enough for the first step, each of them standing for one element."""
    if thread not in state.threads.symbols.values():
        return False
    count = number(1)
    for bound in state.threads.block:
        if bound.variable in thread.symbols:
            count = count * bound.stop
    return state.ranges.is_nonnegative(count * 2 - extent)


def _combination(after: Buffer, variable: str) -> tuple[Operator, Polynomial, tuple[Condition, ...]] | None:
    """(op, thread, conditions) if an iteration does `a[thread] = a[thread] op a[thread + distance]`."""
    last = max(position for position, event in enumerate(after.events) if isinstance(event, Marker))
    events = after.events[last + 1 :]
    if len(events) != 1 or not isinstance(events[0], Write) or len(events[0].scope.index) != 1:
        return None
    scope = events[0].scope
    value: Term = scope.value
    while isinstance(value, Rounded):
        value = value.operand
    if not isinstance(value, Function) or value.operator not in ASSOCIATIVE or len(value.arguments) != 2:
        return None
    own = Carried(after.name, scope.index)
    other = Carried(after.name, (scope.index[0] + symbol(variable),))
    if set(value.arguments) != {own, other}:
        return None
    return value.operator, scope.index[0], scope.conditions


def _steps(expression: Expr, variable: str, operators: dict[Operator, int]) -> bool:
    match expression:
        case Apply(operator, (Symbol(name), Const(amount))) if name == variable:
            return operators.get(operator) == amount
        case _:
            return False


def limit_of(state: State, loop: Loop, values: Sequence) -> Polynomial | None:
    """What a distance that halves or doubles stays below, never being negative; None where that is not known."""
    start = state.polynomial(values.start)
    if not state.ranges.is_nonnegative(start):
        return None
    if _steps(values.next, loop.variable, _HALVINGS):
        return start + 1
    match values.condition:
        case Apply(Operator.LESS, (Symbol(name), limit)) if name == loop.variable:
            return state.polynomial(limit) if _steps(values.next, loop.variable, _DOUBLINGS) else None
        case _:
            return None


def _halving_extent(
    state: State, loop: Loop, values: Sequence, variable: str, thread: Polynomial, conditions: tuple[Condition, ...]
) -> Polynomial | None:
    """Twice the first distance of a halving tree over threads below the distance."""
    if not _steps(values.next, loop.variable, _HALVINGS):
        return None
    if not _is_guard(conditions, AtLeast(symbol(variable) - thread - 1), state):
        return None
    start = state.polynomial(values.start)
    for monomial, factor in start.terms:
        atom = monomial[0] if len(monomial) == 1 else None
        is_half = atom is not None and atom.operator is Operator.FLOOR_DIVIDE and atom.arguments[1] == number(2)
        if len(start.terms) == 1 and factor == 1 and atom is not None and is_half:
            return atom.arguments[0]
    return start * 2


def _is_guard(conditions: tuple[Condition, ...], guard: Condition, state: State) -> bool:
    """Whether a combination runs under `guard` and nothing else that is not known anyway."""
    known = state.given() or ()
    return guard in conditions and all(part == guard or part in known for part in conditions)


def _last_distance(values: Sequence) -> int | None:
    """The last distance of a halving tree, from the condition that continues it: a power of two."""
    match values.condition:
        case Apply(Operator.GREATER, (Symbol(), Const(limit))):
            return 1 << int(limit).bit_length()
        case Apply(Operator.GREATER_EQUAL, (Symbol(), Const(limit))) if limit >= 1:
            return 1 << (int(limit) - 1).bit_length()
        case Apply(Operator.NOT_EQUAL, (Symbol(), Const(0))) | Symbol():
            return 1
        case _:
            return None


def _doubling_extent(
    state: State, values: Sequence, variable: str, thread: Polynomial, conditions: tuple[Condition, ...]
) -> Polynomial | None:
    """The extent of a tree whose distance doubles from 1, over threads that are multiples of twice the distance."""
    match values.next, values.condition:
        case Apply(operator, (Symbol(), Const(amount))), Apply(Operator.LESS, (Symbol(), limit)):
            remainder = floor_modulo(thread, symbol(variable) * 2, state.ranges)
            starts_at_one = state.polynomial(values.start) == number(1)
            is_guard = _is_guard(conditions, IsZero(remainder), state)
            if _DOUBLINGS.get(operator) == amount and starts_at_one and is_guard:
                return state.polynomial(limit)
            return None
        case _:
            return None


def _combined(state: State, loop: Loop, before: Buffer, operator: Operator, extent: Polynomial, last: int) -> Buffer:
    """Elements 0 .. last-1 hold the combination of every last-th element below `extent`; the others are not known."""
    element, term = f"{INDEX_MARK}j.{loop.id}", f"{INDEX_MARK}q.{loop.id}"
    count = floor_divide(extent, number(last), state.ranges)
    ranges = state.ranges.with_extent(element, number(last)).with_extent(term, count)
    position = symbol(term) * last + (symbol(element) if last > 1 else number(0))
    body = state.reader_in(ranges).read(before, (position,))
    stage = Stage(
        name="shared-memory tree",
        terms=count,
        order=Order.PAIRWISE,
        dtype=before.dtype,
        span=next((op.span for op in operations(loop.body) if before.name in writes(op)), loop.span),
        operations=frozenset({loop.id}),
    )
    value = fold(operator, (Bound(term, number(0), count, number(1)),), body, stage, ranges)
    bounds = (Bound(element, number(0), number(last), number(1)),) if last > 1 else ()
    index = symbol(element) if last > 1 else number(0)
    scope = Quantified(bounds, tuple(state.given() or ()), (index,), value)
    return before.then(Havoc("an inner node of a tree is read")).then(Write(scope, operation=loop.id))
