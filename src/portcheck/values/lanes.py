"""Exchanges between lanes: butterflies and halving shuffles become reductions over the lanes of a warp."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from portcheck.core.dtype import DType, DTypeKind
from portcheck.ir import ExchangeKind, Operator, Order, Polynomial, Ranges, number
from portcheck.ir.algebra import floor_divide
from portcheck.ir.operators import ASSOCIATIVE
from portcheck.ir.polynomial import symbol
from portcheck.knowledge import load
from portcheck.numerics import Stage
from portcheck.values.folds import lane_fold
from portcheck.values.substitution import LANE, in_term
from portcheck.values.terms import (
    Bound,
    Condition,
    IsZero,
    LanePartial,
    Leader,
    Moved,
    Term,
    Unknown,
    children,
    has_kind,
    map_children,
)
from portcheck.values.walking import from_below

WARP = load().cuda_limit("warp_size")
"""Lanes of a warp; the symbol LANE runs below it."""

_TREES = (ExchangeKind.XOR, ExchangeKind.DOWN)


def step(operator: Operator, left: Term, right: Term, dtype: DType | None) -> LanePartial | None:
    """`left operator right` if that is one step of a reduction over lanes, else None."""
    if operator not in ASSOCIATIVE:
        return None
    for own, other in ((left, right), (right, left)):
        if not isinstance(other, Moved) or other.operand != own or other.kind not in _TREES:
            continue
        distance = other.lane.constant
        if distance is None or not _is_power(distance) or distance >= WARP:
            continue
        before = own if isinstance(own, LanePartial) and own.operator is operator else None
        base = before.base if before else own
        masks = before.masks if before else frozenset()
        operations = (before.operations if before else frozenset()) | other.operations
        if distance in masks or (before and before.kind is not other.kind):
            continue
        span = before.span if before else other.span
        return LanePartial(operator, other.kind, base, masks | {distance}, operations, span, dtype)
    return None


def _is_power(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0


def settled(term: Term, ranges: Ranges, force: bool = True) -> Term:
    """`term` with finished lane reductions made folds; with `force` also those over part of a warp."""

    def make(node: Term, of: Callable[[Term], Term]) -> Term:
        inner = map_children(node, of) if has_kind(node, LanePartial) else node
        if not isinstance(inner, LanePartial) or (not force and len(inner.masks) < (WARP - 1).bit_length()):
            return inner
        return _reduction(inner, ranges)

    return from_below(term, lambda node: children(node) if has_kind(node, LanePartial) else (), make)


def _reduction(partial: LanePartial, ranges: Ranges) -> Term:
    count = 1 << len(partial.masks)
    if partial.masks != {1 << bit for bit in range(len(partial.masks))}:
        return Unknown("a shuffle tree skips a step", partial.span)
    variable = f"{LANE}.{min(partial.operations, default=0)}"
    stage = Stage(
        name="warp shuffle",
        terms=number(count),
        order=Order.BUTTERFLY,
        dtype=partial.dtype or DType("unknown", DTypeKind.SYMBOLIC),
        span=partial.span,
        operations=partial.operations,
    )
    group = number(0) if count == WARP else floor_divide(symbol(LANE), number(count), ranges) * count
    body = in_term(partial.base, {LANE: group + symbol(variable)}, ranges.with_extent(variable, number(count)))
    bound = Bound(variable, number(0), number(count), number(1))
    result = lane_fold(partial.operator, variable, bound, body, stage, ranges)
    return Leader(result) if partial.kind is ExchangeKind.DOWN else result


def moved(term: Term, kind: ExchangeKind, lane: Polynomial, ranges: Ranges, moved_by: Moved) -> Term:
    """The operand as the lane named by an exchange holds it."""
    if kind is ExchangeKind.INDEX:
        value = settled(term, ranges)
        return in_term(value, {LANE: lane}, ranges)
    return replace(moved_by, operand=term)


def only_lane_zero(conditions: Iterable[Condition], ranges: Ranges) -> bool:
    """Whether the conditions let only lane 0 through: the lane, or a sum with it of what is not negative, is 0."""
    for condition in conditions:
        match condition:
            case IsZero(value, negated=False) if LANE in value.symbols:
                rest = value - symbol(LANE)
                if value.coefficient(LANE) == number(1) and ranges.is_nonnegative(rest):
                    return True
            case _:
                continue
    return False
