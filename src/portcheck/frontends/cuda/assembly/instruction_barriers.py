"""PTX instructions that make threads wait for each other, and those that only order what others have done."""

from __future__ import annotations

from portcheck.core.dtype import BOOL, INT32, UINT32, DType
from portcheck.frontends.cuda.assembly.inline import Handler, Run, Step, UnreadInstructionError
from portcheck.frontends.cuda.assembly.instructions import inputs
from portcheck.frontends.cuda.assembly.ptx import Both, Name, Written
from portcheck.frontends.cuda.cooperation.asynchronous import landed
from portcheck.frontends.cuda.cooperation.groups import lane_of
from portcheck.frontends.cuda.expressions.arithmetic import apply_operator
from portcheck.frontends.cuda.expressions.numbers import calculate
from portcheck.frontends.cuda.model.conversions import convert, materialised
from portcheck.frontends.cuda.model.values import Scalar
from portcheck.ir import Barrier, Const, Expr, Fence, MemoryOrder, Operator, Scope
from portcheck.knowledge import Semantics

_REDUCTIONS = {"popc": (Operator.ADD, INT32), "and": (Operator.LOGICAL_AND, BOOL), "or": (Operator.LOGICAL_OR, BOOL)}
_TOKEN = Scalar(Const(0, UINT32), UINT32)
"""What stands for a phase, a policy or a tensor memory's place: nothing that is computed depends on it."""


def _barrier(run: Run, step: Step) -> None:
    """All threads of the block, or as many as are named, wait for each other at whichever barrier they name."""
    operands = step.written.operands
    if run.guard is not None:
        raise UnreadInstructionError(step.via)
    count = _count(run, operands[1:2])
    if operands:
        run.value(operands[0], UINT32)
    run.state.builder.emit(Barrier, scope=Scope.BLOCK, participants=count, via=step.via)


def _count(run: Run, operands: tuple[Written, ...]) -> Expr | None:
    return materialised(run.state, run.value(operands[0], UINT32)) if operands else None


def _vote(run: Run, step: Step) -> None:
    """A barrier at which all threads learn for how many, for all or for some of them a predicate holds."""
    given = inputs(step, 2)
    found = next((pair for word, pair in _REDUCTIONS.items() if step.has(word)), None)
    if found is None or run.guard is not None:
        raise UnreadInstructionError(step.via)
    operator, dtype = found
    holds = run.value(given[-1], BOOL)
    agreed = run.state.result(
        Barrier, dtype, scope=Scope.BLOCK, combine=operator, participants=_count(run, given[1:-1]), via=step.via,
        operand=materialised(run.state, convert(run.state, holds, dtype)),
    )  # fmt: skip
    run.put(step.written.operands[0], _as_word(run, agreed))


def _as_word(run: Run, value: Scalar, dtype: DType = UINT32) -> Scalar:
    return value if value.dtype == BOOL else convert(run.state, value, dtype)


def _cluster(run: Run, step: Step) -> None:
    run.state.builder.emit(Barrier, scope=Scope.CLUSTER, via=step.via)


def _arrives(run: Run, step: Step) -> None:
    """What was done before is seen by those that wait for this thread, which waits itself later on."""
    order = step.one(Semantics.QUALIFIER_ORDER)
    kept = order.memory_order if order is not None and order.memory_order is not None else MemoryOrder.RELEASE
    run.state.builder.emit(Fence, scope=Scope.CLUSTER, order=kept, via=step.via)


def _ordered(run: Run, step: Step) -> None:
    """What orders memory that is moved at once orders nothing more; a result stands for nothing."""
    landed(run.state, step.via)
    _token(run, step)


def _token(run: Run, step: Step) -> None:
    target = step.written.operands[0] if step.written.operands else None
    is_register = isinstance(target, Name) and not target.text[:1].isdigit() and len(step.written.operands) > 1
    if is_register and target is not None:
        run.put(target, _TOKEN)


def _elect(run: Run, step: Step) -> None:
    """One of the lanes that are named, which every lane learns: which one is not stated, here it is the first."""
    target = step.written.operands[0]
    if run.guard is not None or not isinstance(target, Both):
        raise UnreadInstructionError(step.via)
    mask = run.value(inputs(step, 1)[0], UINT32)
    run.state.note(f"{step.via}: which lane is chosen is not stated; here it is the first")
    if isinstance(mask.expr, Const) and mask.expr.value:
        word = int(mask.expr.value)
        leader = Scalar(Const((word & -word).bit_length() - 1, UINT32), UINT32)
    else:
        place = apply_operator(run.state, Operator.FIND_FIRST_SET, (mask,), UINT32, step.via)
        leader = calculate(run.state, "-", place, 1)
    run.put(target.first, leader)
    run.put(target.second, calculate(run.state, "==", convert(run.state, lane_of(run.state), UINT32), leader))


BARRIERS: dict[Semantics, Handler] = {
    Semantics.BARRIER_BLOCK: _barrier, Semantics.BARRIER_BLOCK_COUNT: _vote, Semantics.BARRIER_CLUSTER: _cluster,
    Semantics.BARRIER_CLUSTER_ARRIVE: _arrives, Semantics.ORDER: _ordered, Semantics.COPY_WAIT: _ordered,
    Semantics.CONSTANT: _token, Semantics.VOTE_ELECT: _elect,
}  # fmt: skip
