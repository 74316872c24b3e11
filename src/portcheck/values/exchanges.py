"""Exchanges of values between the lanes of a warp."""

from __future__ import annotations

from portcheck.ir import Exchange, ExchangeKind, Expr, number
from portcheck.ir.polynomial import split, symbol
from portcheck.values import lanes
from portcheck.values.evaluation import State
from portcheck.values.lanes import WARP
from portcheck.values.substitution import LANE
from portcheck.values.terms import AtLeast, Condition, Index, IsZero, Moved, Term, Unknown


def exchanged(state: State, op: Exchange) -> Term:
    """What an exchange gives: the operand as another lane holds it; unknown where not all lanes take part."""
    refusal = partial_warp(state, op.width, op.lanes_mask)
    if refusal:
        return Unknown(refusal, op.span)
    operand = state.term(op.operand)
    lane = state.polynomial(op.lane)
    if op.kind is ExchangeKind.INDEX:
        return lanes.moved(operand, op.kind, lane, state.ranges, Moved(op.kind, lane, operand))
    if op.kind not in (ExchangeKind.XOR, ExchangeKind.DOWN):
        return Unknown(f"{op.via} is not followed yet", op.span)
    return Moved(op.kind, lane, operand, frozenset({op.id}), op.span)


def partial_warp(state: State, width: Expr, lanes_mask: Expr | None) -> str:
    """Why an operation on groups of `width` lanes is not one of all lanes of whole warps; empty if it is."""
    if not state.threads.has_lanes:
        return "a shuffle in a block that is not made of whole warps"
    if state.polynomial(width) != number(WARP):
        return "a shuffle among part of a warp is not followed yet"
    if any(map(_splits_warps, state.given() or ())):
        return "a shuffle where only some lanes of a warp may be"
    if lanes_mask is None:
        return ""
    mask = state.term(lanes_mask)
    every = (1 << WARP) - 1
    lanes_named = mask.value.constant if isinstance(mask, Index) else None
    is_full = lanes_named is not None and lanes_named & every == every
    return "" if is_full else "a shuffle in which some lanes take no part is not followed yet"


def _splits_warps(condition: Condition) -> bool:
    """Whether a condition may hold for some lanes of a warp only: it limits lanes, not at the end of a warp."""
    if not isinstance(condition, AtLeast | IsZero) or LANE not in condition.value.symbols:
        return False
    factor = condition.value.coefficient(LANE)
    sign = factor.constant if factor is not None and isinstance(condition, AtLeast) else None
    if factor is None or sign not in (1, -1):
        return True
    first = condition.value - factor * symbol(LANE) + (1 if sign == -1 else 0)
    return bool(split(first, number(WARP))[1].terms)
