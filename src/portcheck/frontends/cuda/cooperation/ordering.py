"""Barriers and fences: who waits for whom, and what is agreed on while waiting."""

from __future__ import annotations

from portcheck.core.dtype import INT32, dtype_named
from portcheck.frontends.cuda.cooperation.exchanges import lanes_mask
from portcheck.frontends.cuda.expressions.choices import condition
from portcheck.frontends.cuda.memory.places import scalar
from portcheck.frontends.cuda.model.callsite import CallSite, qualified_name
from portcheck.frontends.cuda.model.conversions import convert, materialised
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Nothing, Value
from portcheck.frontends.cuda.parsing.syntax import bare
from portcheck.ir import Barrier, Const, Expr, Fence, MemoryOrder, Operator, Scope
from portcheck.knowledge import Construct, Role, Semantics

_BARRIERS = {
    Semantics.BARRIER_BLOCK: Scope.BLOCK, Semantics.BARRIER_WARP: Scope.WARP, Semantics.BARRIER_CLUSTER: Scope.CLUSTER,
    Semantics.BARRIER_GRID: Scope.GRID,
}  # fmt: skip
_VOTES = {
    Semantics.BARRIER_BLOCK_AND: Operator.LOGICAL_AND, Semantics.BARRIER_BLOCK_OR: Operator.LOGICAL_OR,
    Semantics.BARRIER_BLOCK_COUNT: Operator.ADD,
}  # fmt: skip
_FENCES = {
    Semantics.FENCE_BLOCK: Scope.BLOCK, Semantics.FENCE_DEVICE: Scope.DEVICE, Semantics.FENCE_SYSTEM: Scope.SYSTEM,
}  # fmt: skip


def is_ordering(construct: Construct) -> bool:
    """Whether a construct is a barrier or a fence."""
    return any(construct.semantics in table for table in (_BARRIERS, _VOTES, _FENCES))


def ordering(state: State, call: CallSite, construct: Construct) -> Value | None:
    """A barrier or a fence; None for a fence whose order is not known."""
    if construct.semantics in _VOTES:
        return _vote(state, call, construct)
    if construct.semantics in _FENCES:
        order = _memory_order(state, call, construct)
        if order is None:
            return None
        state.builder.emit(Fence, scope=_FENCES[construct.semantics], order=order, via=call.via)
        return Nothing()
    scope = _BARRIERS[construct.semantics]
    participants = lanes_mask(state, call, construct) if scope is Scope.WARP else _count(state, call, construct)
    state.builder.emit(Barrier, scope=scope, participants=participants, via=call.via)
    return Nothing()


def _vote(state: State, call: CallSite, construct: Construct) -> Value | None:
    """A barrier at which all threads learn whether a predicate holds for all, for some, for how many of them."""
    node = call.at(construct, Role.PREDICATE)
    if node is None:
        return None
    operator, holds = _VOTES[construct.semantics], condition(state, node)
    counted = convert(state, holds, INT32) if operator is Operator.ADD else holds
    agreed = state.result(
        Barrier, counted.dtype, scope=Scope.BLOCK, combine=operator, operand=materialised(state, counted), via=call.via
    )
    return convert(state, agreed, dtype_named(construct.dtype)) if construct.dtype else agreed


def _count(state: State, call: CallSite, construct: Construct) -> Expr | None:
    """How many threads a named barrier waits for; 0 is all of them."""
    node = call.at(construct, Role.COUNT)
    number = materialised(state, scalar(state, state.evaluate(node), node)) if node is not None else None
    return None if isinstance(number, Const) and number.value == 0 else number


def _memory_order(state: State, call: CallSite, construct: Construct) -> MemoryOrder | None:
    """What a fence orders: as its name says, or its argument."""
    if construct.memory_order is not None:
        return construct.memory_order
    node = call.at(construct, Role.ORDER)
    named = state.construct(qualified_name(state, bare(node))[0]) if node is not None else None
    return named.memory_order if named is not None else None
