"""Replacing symbols inside terms and conditions, simplifying on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from portcheck.ir import Polynomial, Ranges
from portcheck.ir.algebra import replace_symbols
from portcheck.ir.ranges import INDEX_MARK
from portcheck.values.conditions import simplified
from portcheck.values.terms import (
    AtLeast,
    Bound,
    Carried,
    Choice,
    Condition,
    Element,
    Fold,
    Holds,
    Index,
    IsZero,
    Leader,
    Moved,
    NotAll,
    Term,
    map_children,
    symbols_of,
)

LANE = f"{INDEX_MARK}threadIdx.x%32"


def in_condition(condition: Condition, symbols: Mapping[str, Polynomial], ranges: Ranges) -> Condition:
    """`condition` with symbols replaced."""
    match condition:
        case AtLeast(value):
            return AtLeast(replace_symbols(value, symbols, ranges))
        case IsZero(value, negated):
            return IsZero(replace_symbols(value, symbols, ranges), negated)
        case Holds(term, negated):
            return Holds(in_term(term, symbols, ranges), negated)
        case NotAll(conditions):
            return NotAll(tuple(in_condition(inner, symbols, ranges) for inner in conditions))


def in_bound(bound: Bound, symbols: Mapping[str, Polynomial], ranges: Ranges) -> Bound:
    """`bound` with symbols replaced in its limits."""
    start, stop, step = (replace_symbols(limit, symbols, ranges) for limit in (bound.start, bound.stop, bound.step))
    return Bound(bound.variable, start, stop, step)


def in_term(term: Term, symbols: Mapping[str, Polynomial], ranges: Ranges) -> Term:
    """`term` with symbols replaced; a value that only lane 0 holds becomes plain where the lane becomes 0."""
    if not symbols or not symbols_of(term) & symbols.keys():
        is_lane_zero = LANE in symbols and symbols[LANE].constant == 0
        return _without_leader(term) if is_lane_zero else term
    match term:
        case Index(value):
            return Index(replace_symbols(value, symbols, ranges))
        case Element(buffer, address):
            return Element(buffer, replace_symbols(address, symbols, ranges))
        case Carried(buffer, index):
            return Carried(buffer, tuple(replace_symbols(part, symbols, ranges) for part in index))
        case Moved():
            lane = replace_symbols(term.lane, symbols, ranges)
            return replace(term, lane=lane, operand=in_term(term.operand, symbols, ranges))
        case Leader(operand) if LANE in symbols and symbols[LANE].constant == 0:
            return in_term(operand, symbols, ranges)
        case Fold():
            return _in_fold(term, symbols, ranges)
        case Choice(conditions, on_true, on_false):
            replaced = tuple(in_condition(condition, symbols, ranges) for condition in conditions)
            true, false = in_term(on_true, symbols, ranges), in_term(on_false, symbols, ranges)
            left = simplified(replaced, ranges)
            if left is None:
                return false
            return Choice(left, true, false) if left else true
        case _:
            return map_children(term, lambda child: in_term(child, symbols, ranges))


def _without_leader(term: Term) -> Term:
    if isinstance(term, Leader):
        return term.operand
    return map_children(term, _without_leader)


def _in_fold(term: Fold, symbols: Mapping[str, Polynomial], ranges: Ranges) -> Term:
    bound_names = {bound.variable for bound in term.bounds}
    free = {name: value for name, value in symbols.items() if name not in bound_names}
    inner = ranges
    bounds = tuple(in_bound(bound, free, ranges) for bound in term.bounds)
    for bound in bounds:
        inner = inner.with_extent(bound.variable, bound.stop)
    conditions = tuple(in_condition(condition, free, inner) for condition in term.conditions)
    return replace(term, bounds=bounds, conditions=conditions, body=in_term(term.body, free, inner))
