"""PTX instructions between threads: shuffles, votes, barriers, fences, checks; and the special registers."""

from __future__ import annotations

from portcheck.core.dtype import BOOL, INT32, UINT32, dtype_named
from portcheck.frontends.cuda.assembly.inline import Handler, Run, Step, UnreadInstructionError
from portcheck.frontends.cuda.assembly.instructions import inputs, typed
from portcheck.frontends.cuda.assembly.ptx import Both
from portcheck.frontends.cuda.cooperation.exchanges import KINDS
from portcheck.frontends.cuda.cooperation.groups import block_group, lane_of
from portcheck.frontends.cuda.expressions.arithmetic import apply_operator
from portcheck.frontends.cuda.expressions.numbers import calculate
from portcheck.frontends.cuda.model.conversions import convert, materialised
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Scalar
from portcheck.ir import (
    ZERO,
    Barrier,
    Branch,
    Check,
    CheckKind,
    Const,
    Exchange,
    ExchangeKind,
    Expr,
    Fence,
    Operator,
    Reduce,
    Return,
    Scope,
    ValueType,
)  # fmt: skip
from portcheck.knowledge import Construct, Semantics

_ALL_LANES = 2**32 - 1
_GROUPS = 0x1F


def lanes_in(mask: Scalar) -> Expr | None:
    """Who takes part, None for all."""
    expression = mask.expr
    return None if isinstance(expression, Const) and int(expression.value) & _ALL_LANES == _ALL_LANES else expression


def _shuffle(run: Run, step: Step) -> None:
    """A lane takes another one's word; groups are made by the third operand."""
    mode = step.one(*_MODES)
    dtype, _ = typed(step)
    given = inputs(step, 3)
    clamp = run.value(given[2], UINT32).expr
    if mode is None or not isinstance(clamp, Const) or run.guard is not None:
        raise UnreadInstructionError(step.via)
    warp = int(run.state.knowledge.cuda_limit("warp_size"))
    width = warp - (int(clamp.value) >> 8 & _GROUPS)
    expected = 0 if mode.semantics is Semantics.EXCHANGE_UP else _GROUPS
    if int(clamp.value) & _GROUPS != expected or width & (width - 1):
        raise UnreadInstructionError(step.via)
    lane = run.value(given[1], UINT32)
    moved = run.word(given[0], dtype)
    target = step.written.operands[0]
    value = run.state.result(
        Exchange, moved.dtype, kind=KINDS[mode.semantics], operand=materialised(run.state, moved),
        lane=materialised(run.state, lane), width=Const(width, INT32), via=step.via,
        lanes_mask=lanes_in(run.value(given[3], UINT32)) if len(given) > 3 else None,
    )  # fmt: skip
    if isinstance(target, Both):
        run.put(target.second, _is_inside(run, mode, lane, width))
        target = target.first
    run.put(target, value)


def _is_inside(run: Run, mode: Construct, lane: Scalar, width: int) -> Scalar:
    """Whether the lane that is asked for lies in the group."""
    own = calculate(run.state, "&", lane_of(run.state), width - 1)
    match mode.semantics:
        case Semantics.EXCHANGE_UP:
            return calculate(run.state, ">=", own, lane)
        case Semantics.EXCHANGE_DOWN:
            return calculate(run.state, "<", calculate(run.state, "+", own, lane), width)
        case Semantics.EXCHANGE_XOR:
            return calculate(run.state, "<", calculate(run.state, "^", own, lane), width)
        case _:
            return Scalar(Const(True, BOOL), BOOL)


def _vote(run: Run, step: Step) -> None:
    mode = step.one(Semantics.VOTE_ANY, Semantics.VOTE_ALL, Semantics.VOTE_BALLOT)
    given = inputs(step, 1)
    if mode is None or run.guard is not None:
        raise UnreadInstructionError(step.via)
    is_ballot = mode.semantics is Semantics.VOTE_BALLOT
    mask = lanes_in(run.value(given[1], UINT32)) if len(given) > 1 else None
    value = run.state.result(
        Exchange, UINT32 if is_ballot else BOOL, kind=KINDS[mode.semantics], lane=ZERO, lanes_mask=mask, via=step.via,
        operand=materialised(run.state, run.value(given[0], BOOL)), width=_warp(run.state),
    )  # fmt: skip
    run.put(step.written.operands[0], value)


def _match(run: Run, step: Step) -> None:
    dtype, _ = typed(step)
    given = inputs(step, 1)
    mask = lanes_in(run.value(given[1], UINT32)) if len(given) > 1 else None
    if run.guard is not None or isinstance(step.written.operands[0], Both) or step.has("all"):
        raise UnreadInstructionError(step.via)
    value = run.state.result(
        Exchange, UINT32, kind=ExchangeKind.MATCH, operand=materialised(run.state, run.value(given[0], dtype)),
        lane=ZERO, width=_warp(run.state), lanes_mask=mask, via=step.via,
    )  # fmt: skip
    run.put(step.written.operands[0], value)


def _active(run: Run, step: Step) -> None:
    value = run.state.result(
        Exchange, UINT32, kind=ExchangeKind.ACTIVE, operand=Const(True, BOOL), lane=ZERO, width=_warp(run.state),
        via=step.via,
    )  # fmt: skip
    run.put(step.written.operands[0], value)


def _reduce(run: Run, step: Step) -> None:
    action = next((part for part in step.modifiers if part.operator is not None), None)
    dtype, _ = typed(step)
    given = inputs(step, 1)
    if action is None or action.operator is None or run.guard is not None:
        raise UnreadInstructionError(step.via)
    value = run.state.result(
        Reduce, dtype, operator=action.operator, operand=materialised(run.state, run.value(given[0], dtype)),
        accumulate=ValueType(dtype), lanes=_warp(run.state), scope=Scope.WARP, via=step.via,
        lanes_mask=lanes_in(run.value(given[1], UINT32)) if len(given) > 1 else None,
    )  # fmt: skip
    run.put(step.written.operands[0], value)


def _warp(state: State) -> Const:
    return Const(int(state.knowledge.cuda_limit("warp_size")), INT32)


def _warp_barrier(run: Run, step: Step) -> None:
    mask = lanes_in(run.value(step.written.operands[0], UINT32)) if step.written.operands else None
    run.state.builder.emit(Barrier, scope=Scope.WARP, participants=mask, via=step.via)


def _fence(run: Run, step: Step) -> None:
    scope, order = step.one(Semantics.QUALIFIER_SCOPE), step.one(Semantics.QUALIFIER_ORDER)
    reach = scope.scope if scope is not None else step.construct.scope
    kept = order.memory_order if order is not None else step.construct.memory_order
    if reach is None or kept is None:
        raise UnreadInstructionError(step.via)
    run.state.builder.emit(Fence, scope=reach, order=kept, via=step.via)


def _hint(run: Run, step: Step) -> None:
    """Changes nothing that is computed."""
    del run, step


def _trap(run: Run, step: Step) -> None:
    holds = run.guard.expr if run.guard is not None else Const(True, BOOL)
    run.state.builder.emit(Check, kind=CheckKind.TRAP, condition=holds, via=step.via)


def _exit(run: Run, step: Step) -> None:
    if run.guard is None:
        run.state.builder.emit(Return, via=step.via)
        return
    with run.state.builder.region() as body:
        run.state.builder.emit(Return, via=step.via)
    run.state.builder.emit(Branch, condition=run.guard.expr, then=tuple(body), via=step.via)


def special_register(state: State, name: str) -> Scalar | None:
    """What a special register holds; None for one that is not known, or that nothing here fixes."""
    construct = state.construct(f"ptx::{name}")
    reader = _REGISTERS.get(construct.semantics) if construct is not None else None
    return reader(state, construct, name) if construct is not None and reader is not None else None


def _lane(state: State, construct: Construct, name: str) -> Scalar:
    del construct, name
    return lane_of(state)


def _warp_number(state: State, construct: Construct, name: str) -> Scalar:
    del construct, name
    return calculate(state, "/", block_group(state).rank, int(state.knowledge.cuda_limit("warp_size")))


def _component(state: State, construct: Construct, name: str) -> Scalar:
    """A component of a built-in variable."""
    kind, member = construct.semantics, name.rpartition(".")[2]
    variable = next(found.name for found in state.knowledge.variables if found.semantics is kind)
    return state.builtin(f"{variable}.{member}", kind)


def _clock(state: State, construct: Construct, name: str) -> Scalar:
    return state.result(Check, dtype_named(construct.dtype), kind=CheckKind.CLOCK, via=name)


def _lane_mask(state: State, construct: Construct, name: str) -> Scalar:
    """The lanes that compare with this one as the register's name says."""
    del name
    one = Scalar(Const(1, UINT32), UINT32)
    own = calculate(state, "<<", one, convert(state, lane_of(state), UINT32))
    below = calculate(state, "-", own, 1)
    match construct.operator:
        case Operator.LESS:
            return below
        case Operator.LESS_EQUAL:
            return calculate(state, "|", below, own)
        case Operator.GREATER:
            return _inverted(state, calculate(state, "|", below, own))
        case Operator.GREATER_EQUAL:
            return _inverted(state, below)
        case _:
            return own


def _inverted(state: State, value: Scalar) -> Scalar:
    return apply_operator(state, Operator.BITWISE_NOT, (value,), UINT32, "~")


def _number(state: State, construct: Construct, name: str) -> Scalar:
    del state, name
    return Scalar(Const(int(construct.value or 0), UINT32), UINT32)


_MODES = (
    Semantics.EXCHANGE_XOR, Semantics.EXCHANGE_UP, Semantics.EXCHANGE_DOWN, Semantics.EXCHANGE_INDEX,
)  # fmt: skip
_REGISTERS = {
    Semantics.INDEX_LANE: _lane, Semantics.INDEX_WARP: _warp_number, Semantics.INDEX_THREAD: _component,
    Semantics.INDEX_BLOCK: _component, Semantics.INDEX_BLOCK_SIZE: _component, Semantics.INDEX_GRID_SIZE: _component,
    Semantics.CLOCK: _clock, Semantics.LANE_MASK: _lane_mask, Semantics.INDEX_WARP_SIZE: _number,
}  # fmt: skip
LANES: dict[Semantics, Handler] = {
    Semantics.EXCHANGE_INDEX: _shuffle, Semantics.VOTE_ANY: _vote, Semantics.VOTE_MATCH_ANY: _match,
    Semantics.VOTE_ACTIVE: _active, Semantics.REDUCE_LANES: _reduce,
    Semantics.BARRIER_WARP: _warp_barrier, Semantics.FENCE_DEVICE: _fence, Semantics.HINT: _hint,
    Semantics.CHECK_TRAP: _trap, Semantics.RETURN: _exit,
}  # fmt: skip
