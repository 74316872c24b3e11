"""Replacing symbols inside terms and conditions, simplifying on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    has_kind,
    map_children,
    own_children,
    symbols_of,
)
from portcheck.values.walking import from_below

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
    is_lane_zero = LANE in symbols and symbols[LANE].constant == 0

    def inside(node: Term) -> Sequence[Term]:
        if symbols_of(node).isdisjoint(symbols):
            return ()
        return (node.on_true, node.on_false) if isinstance(node, Choice) else own_children(node)

    def make(node: Term, of: Callable[[Term], Term]) -> Term:
        if symbols_of(node).isdisjoint(symbols):
            return _without_leader(node) if is_lane_zero else node
        match node:
            case Leader(operand) if is_lane_zero:
                return of(operand)
            case Choice(conditions, on_true, on_false):
                replaced = tuple(in_condition(condition, symbols, ranges) for condition in conditions)
                left = simplified(replaced, ranges)
                if left is None:
                    return of(on_false)
                return Choice(left, of(on_true), of(on_false)) if left else of(on_true)
            case Moved():
                lane = replace_symbols(node.lane, symbols, ranges)
                return replace(node, lane=lane, operand=of(node.operand))
            case _:
                return _in_leaf(node, symbols, ranges) or map_children(node, of)

    return from_below(term, inside, make) if symbols else term


def _in_leaf(term: Term, symbols: Mapping[str, Polynomial], ranges: Ranges) -> Term | None:
    """A term of which no other is a part in the same scope, with symbols replaced; None for another one."""
    match term:
        case Index(value):
            return Index(replace_symbols(value, symbols, ranges))
        case Element(buffer, address):
            return Element(buffer, replace_symbols(address, symbols, ranges))
        case Carried(buffer, index):
            return Carried(buffer, tuple(replace_symbols(part, symbols, ranges) for part in index))
        case Fold():
            return _in_fold(term, symbols, ranges)
        case _:
            return None


def _without_leader(term: Term) -> Term:
    if isinstance(term, Leader):
        return term.operand
    return map_children(term, _without_leader) if has_kind(term, Leader) else term


def _in_fold(term: Fold, symbols: Mapping[str, Polynomial], ranges: Ranges) -> Term:
    bound_names = {bound.variable for bound in term.bounds}
    free = {name: value for name, value in symbols.items() if name not in bound_names}
    inner = ranges
    bounds = tuple(in_bound(bound, free, ranges) for bound in term.bounds)
    for bound in bounds:
        inner = inner.with_extent(bound.variable, bound.stop)
    conditions = tuple(in_condition(condition, free, inner) for condition in term.conditions)
    return replace(term, bounds=bounds, conditions=conditions, body=in_term(term.body, free, inner))
