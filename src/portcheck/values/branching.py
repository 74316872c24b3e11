"""Branches: both arms run, each under its own conditions."""

from __future__ import annotations

from collections.abc import Callable

from portcheck.ir import Branch, Op, Polynomial, number
from portcheck.ir.algebra import replace_symbols
from portcheck.values.conditions import negated, simplified
from portcheck.values.evaluation import State
from portcheck.values.terms import Condition, IsZero

Run = Callable[[State, tuple[Op, ...]], None]


def run_branch(state: State, op: Branch, run: Run) -> None:
    """Carries out both arms of a branch, each under its conditions."""
    outer = state.path
    conditions = state.conditions(op.condition)
    known = simplified(conditions, state.ranges, state.given() or ())
    if known is not None:
        state.path = (*outer, *known)
        symbols = state.symbols
        pinned = _pinned(known, state)
        state.symbols = {name: replace_symbols(value, pinned, state.ranges) for name, value in symbols.items()}
        run(state, op.then)
        state.symbols = symbols
    opposite = simplified(negated(conditions), state.ranges, outer) if known != () else None
    if op.otherwise and opposite is not None:
        state.path = (*outer, *opposite)
        run(state, op.otherwise)
    state.path = outer


def _pinned(conditions: tuple[Condition, ...], state: State) -> dict[str, Polynomial]:
    """Thread indices that the conditions fix at 0: those in a sum of non-negative terms that is 0."""
    own = {bound.variable for bound in state.threads.block}
    pinned: dict[str, Polynomial] = {}
    for condition in conditions:
        if isinstance(condition, IsZero) and not condition.negated and _is_sum_of(condition.value, own):
            pinned.update(dict.fromkeys(condition.value.symbols, number(0)))
    return pinned


def _is_sum_of(value: Polynomial, names: set[str]) -> bool:
    return all(factor > 0 and len(monomial) == 1 and monomial[0].text in names for monomial, factor in value.terms)
