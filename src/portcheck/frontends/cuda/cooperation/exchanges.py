"""Shuffles and votes: a lane takes the value of another one, or all lanes agree on one."""

from __future__ import annotations

from portcheck.core.dtype import BOOL, INT32, UINT32, dtype_named
from portcheck.frontends.cuda.expressions.arithmetic import binary, select
from portcheck.frontends.cuda.memory.places import pointer_of, read, scalar, target, write
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.conversions import convert, materialised, truth
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Aggregate, Group, Scalar, Value
from portcheck.ir import TRUE, ZERO, Compute, Const, Exchange, ExchangeKind, Expr, OpaqueKind, Operator
from portcheck.knowledge import Construct, Role, Semantics

KINDS = {
    Semantics.EXCHANGE_XOR: ExchangeKind.XOR, Semantics.EXCHANGE_DOWN: ExchangeKind.DOWN,
    Semantics.EXCHANGE_UP: ExchangeKind.UP, Semantics.EXCHANGE_INDEX: ExchangeKind.INDEX,
    Semantics.VOTE_ANY: ExchangeKind.VOTE_ANY, Semantics.VOTE_ALL: ExchangeKind.VOTE_ALL,
    Semantics.VOTE_BALLOT: ExchangeKind.BALLOT, Semantics.VOTE_ACTIVE: ExchangeKind.ACTIVE,
    Semantics.VOTE_MATCH_ANY: ExchangeKind.MATCH,
}  # fmt: skip
_LANE_ROLES = (Role.LANE_MASK, Role.DELTA, Role.LANE)
_ALL_LANES = 2**32 - 1


def is_exchange(construct: Construct) -> bool:
    """Whether a construct moves values between lanes."""
    return construct.semantics in KINDS


def exchange(state: State, call: CallSite, construct: Construct, group: Group | None = None) -> Value:
    """A shuffle or vote; within a tile of a warp the tile's size is the width."""
    value_node = call.at(construct, Role.SOURCE) or call.at(construct, Role.PREDICATE)
    if construct.semantics is Semantics.VOTE_ACTIVE:
        return _emit(state, construct, call, Scalar(TRUE, BOOL), ZERO, _width(state, call, construct, group))
    if group is not None and group.mask is not None and construct.semantics is Semantics.EXCHANGE_INDEX:
        return _from_first(state, call, construct, group)
    is_tile = group is None or (group.scope == "warp" and group.mask is None)
    is_vote = construct.semantics in (Semantics.VOTE_ANY, Semantics.VOTE_ALL) and group is not None
    if value_node is None or not (is_tile or (is_vote and group is not None and group.scope == "warp")):
        return state.opaque(call.node, f"call of {call.name}", kind=OpaqueKind.LIBRARY, via=call.via)
    value = read(state, state.evaluate(value_node), value_node)
    lane = next((found for role in _LANE_ROLES if (found := call.at(construct, role)) is not None), None)
    lane_expression: Expr = ZERO
    if lane is not None:
        number = scalar(state, state.evaluate(lane), lane)
        lane_expression = materialised(state, number) if number.is_data else number.expr
    width = _width(state, call, construct, group)
    if isinstance(value, Aggregate):
        members = tuple(
            (name, _emit(state, construct, call, member, lane_expression, width))
            for name, member in value.members
            if isinstance(member, Scalar)
        )
        return Aggregate(value.type, members)
    number = scalar(state, value, value_node)
    if call.at(construct, Role.PREDICATE) is not None:
        number = truth(state, number)
    if group is not None and group.mask is not None:
        return _emit(state, construct, call, number, lane_expression, _width(state, call, construct, None), group.mask)
    return _emit(state, construct, call, number, lane_expression, width)


def _from_first(state: State, call: CallSite, construct: Construct, group: Group) -> Value:
    """What the first of the lanes that belong together holds; that of any other one is not followed."""
    value_node, lane_node = call.at(construct, Role.SOURCE), call.at(construct, Role.LANE)
    lane = scalar(state, state.evaluate(lane_node), lane_node).expr if lane_node is not None else None
    is_first = isinstance(lane, Const) and lane.value == 0
    if value_node is None or group.mask is None or not is_first:
        return state.opaque(call.node, f"call of {call.name}", kind=OpaqueKind.LIBRARY, via=call.via)
    mask = Scalar(group.mask, UINT32)
    found = state.result(Compute, INT32, operator=Operator.FIND_FIRST_SET, operands=(group.mask,), via=call.via)
    first = binary(state, "-", found, Scalar(Const(1, INT32), INT32)) or found
    number = scalar(state, state.evaluate(value_node), value_node)
    width = _width(state, call, construct, None)
    return _emit(state, construct, call, number, materialised(state, first), width, mask.expr)


def _emit(
    state: State, construct: Construct, call: CallSite, value: Scalar, lane: Expr, width: Expr, mask: Expr | None = None
) -> Scalar:
    dtype = value.dtype if construct.dtype in ("", "operand") else dtype_named(construct.dtype)
    return state.result(
        Exchange, dtype, kind=KINDS[construct.semantics], operand=materialised(state, value), lane=lane, width=width,
        lanes_mask=lanes_mask(state, call, construct) if mask is None else mask, via=call.via,
    )  # fmt: skip


def _width(state: State, call: CallSite, construct: Construct, group: Group | None) -> Expr:
    if group is not None:
        return group.size.expr
    given = call.at(construct, Role.WIDTH)
    if given is not None:
        return scalar(state, state.evaluate(given), given).expr
    known = [found for found in state.knowledge.variables if found.semantics is Semantics.INDEX_WARP_SIZE]
    value = known[0].value if known else None
    return Const(int(value) if value is not None else 0, INT32)


def match_all(state: State, call: CallSite, construct: Construct) -> Value | None:
    """The mask of all participants if they hold one value, else 0; which of both is written beside it."""
    value_node, holds_node = call.at(construct, Role.SOURCE), call.at(construct, Role.DESTINATION)
    mask_node = call.at(construct, Role.MASK)
    pointer = pointer_of(state, state.evaluate(holds_node)) if holds_node is not None else None
    if value_node is None or mask_node is None or pointer is None:
        return None
    value, mask = (scalar(state, state.evaluate(node), node) for node in (value_node, mask_node))
    mask = convert(state, mask, UINT32)
    same = state.result(
        Exchange, UINT32, kind=ExchangeKind.MATCH, operand=materialised(state, value), lane=ZERO,
        width=_width(state, call, construct, None), lanes_mask=lanes_mask(state, call, construct), via=call.via,
    )  # fmt: skip
    holds = binary(state, "==", same, mask) or same
    write(state, target(pointer), holds, call.node, call.via)
    return select(state, holds, mask, Scalar(Const(0, UINT32), UINT32))


def lanes_mask(state: State, call: CallSite, construct: Construct) -> Expr | None:
    """The lanes that take part; None for all of them."""
    given = call.at(construct, Role.MASK)
    if given is None:
        return None
    mask = scalar(state, state.evaluate(given), given).expr
    is_full = isinstance(mask, Const) and isinstance(mask.value, int) and mask.value & _ALL_LANES == _ALL_LANES
    return None if is_full else mask
