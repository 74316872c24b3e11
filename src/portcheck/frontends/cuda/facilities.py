"""Objects of CUDA's libraries that make threads work together: those of CUB, pipelines, barriers."""

from __future__ import annotations

from portcheck.core.dtype import DType
from portcheck.frontends.cuda.arithmetic import select
from portcheck.frontends.cuda.asynchronous import landed
from portcheck.frontends.cuda.callsite import CallSite
from portcheck.frontends.cuda.conversions import convert, materialised
from portcheck.frontends.cuda.groups import block_group, lane_of, operator_of, warp_size
from portcheck.frontends.cuda.numbers import calculate
from portcheck.frontends.cuda.places import read, scalar, write
from portcheck.frontends.cuda.state import State
from portcheck.frontends.cuda.syntax import Node
from portcheck.frontends.cuda.values import Facility, Group, Nothing, Place, Scalar, Value
from portcheck.ir import Barrier, Const, Expr, OpaqueKind, Operator, Reduce, Scan, Scope, ValueType
from portcheck.knowledge import Construct, Role, Semantics

_REDUCTIONS = frozenset({Semantics.REDUCE_BLOCK, Semantics.REDUCE_LANES})
_PIPELINE = "cuda::pipeline"
_SCANS = frozenset({Semantics.SCAN_BLOCK, Semantics.SCAN_LANES})


def facility_method(state: State, call: CallSite, facility: Facility) -> Value:
    """`object.name(...)`; kept opaque, once, where it is not followed."""
    construct = state.construct(f"{facility.name}::{call.name}")
    found: Value | None = None
    if construct is not None and construct.semantics in _REDUCTIONS:
        found = _reduced(state, call, construct, facility)
    elif construct is not None and construct.semantics in _SCANS:
        found = _scanned(state, call, construct, facility)
    elif construct is not None and construct.semantics is Semantics.COPY_WAIT:
        found = _waited(state, call, construct, facility)
    elif construct is not None and construct.semantics is Semantics.BARRIER_BLOCK:
        state.builder.emit(Barrier, scope=Scope.BLOCK, via=call.via)
        found = Nothing()
    if found is not None:
        return found
    reason = f"{facility.name}::{call.name} is not modelled"
    if call.node.key == state.statement:
        return state.keep(call.node, reason, kind=OpaqueKind.LIBRARY)
    return state.opaque(call.node, reason, kind=OpaqueKind.LIBRARY, via=call.via)


def _threads(state: State, facility: Facility) -> tuple[Scope, Scalar, Scalar]:
    """Whose threads work together, how many they are, and which one this is."""
    if facility.scope == Scope.BLOCK:
        group = block_group(state)
        return Scope.BLOCK, group.size, group.rank
    lanes = warp_size(state)
    if facility.lanes:
        lanes = Scalar(Const(facility.lanes, lanes.dtype), lanes.dtype)
    return Scope.WARP, lanes, calculate(state, "%", lane_of(state), lanes)


def _reduced(state: State, call: CallSite, construct: Construct, facility: Facility) -> Value | None:
    """The combination of all threads' numbers; every thread gets it, although only the first may look."""
    value_node = call.at(construct, Role.SOURCE)
    operator = operator_of(state, call, construct)
    value = read(state, state.evaluate(value_node), value_node) if value_node is not None else None
    if operator is None or not isinstance(value, Scalar):
        return None
    scope, lanes, rank = _threads(state, facility)
    count = call.at(construct, Role.COUNT)
    if count is not None:
        neutral = _neutral(state, operator, value.dtype)
        if neutral is None:
            return None
        taking_part = calculate(
            state, "<", rank, convert(state, scalar(state, state.evaluate(count), count), rank.dtype)
        )
        value = select(state, taking_part, value, neutral)
    return state.result(
        Reduce, value.dtype, operator=operator, operand=materialised(state, value), accumulate=ValueType(value.dtype),
        lanes=materialised(state, lanes), scope=scope, via=f"{facility.name}::{call.name}",
    )  # fmt: skip


def _neutral(state: State, operator: Operator, dtype: DType) -> Scalar | None:
    """The number that changes nothing it is combined with."""
    facts = state.knowledge.dtype(dtype.name)
    if operator is Operator.ADD:
        return Scalar(Const(0.0 if dtype.is_float else 0, dtype), dtype)
    if operator in (Operator.MAXIMUM, Operator.MINIMUM) and dtype.is_float and facts is not None:
        most = float("inf") if operator is Operator.MINIMUM else float("-inf")
        return Scalar(Const(most, dtype), dtype)
    return None


def _scanned(state: State, call: CallSite, construct: Construct, facility: Facility) -> Value | None:
    """A running combination over the threads, written where the second argument says; then that of all of them."""
    source, output = call.at(construct, Role.SOURCE), call.at(construct, Role.DESTINATION)
    if source is None or output is None:
        return None
    value, place = read(state, state.evaluate(source), source), state.evaluate(output)
    operator = operator_of(state, call, construct)
    initial = call.at(construct, Role.INITIAL)
    if not isinstance(value, Scalar) or not isinstance(place, Place) or place.remaining or operator is None:
        return None
    is_inclusive = construct.value != 0
    if not is_inclusive and initial is None and operator is not Operator.ADD:
        return None
    scope, lanes, _ = _threads(state, facility)
    start = _initial(state, initial, value.dtype) if not is_inclusive else None
    fields = {"lanes": materialised(state, lanes), "scope": scope, "via": f"{facility.name}::{call.name}"}
    scanned = state.result(
        Scan, value.dtype, operator=operator, operands=(materialised(state, value),), inclusive=is_inclusive,
        initial=start, **fields,
    )  # fmt: skip
    write(state, place, scanned, call.node, call.via)
    total = call.at(construct, Role.REDUCE_DESTINATION)
    if total is not None:
        whole = state.result(
            Reduce, value.dtype, operator=operator, operand=materialised(state, value),
            accumulate=ValueType(value.dtype), **fields,
        )  # fmt: skip
        write(state, state.evaluate(total), whole, call.node, call.via)
    return Nothing()


def _initial(state: State, node: Node | None, dtype: DType) -> Expr:
    if node is None:
        return Const(0.0 if dtype.is_float else 0, dtype)
    return materialised(state, convert(state, scalar(state, state.evaluate(node), node), dtype))


def _waited(state: State, call: CallSite, construct: Construct, facility: Facility) -> Value:
    """A step of a pipeline: threads that share one wait for each other when data is taken and given back."""
    if facility.scope == Scope.BLOCK and construct.scope is Scope.BLOCK:
        state.builder.emit(Barrier, scope=Scope.BLOCK, via=call.via)
    else:
        landed(state, call.via)
    return Nothing()


def make_pipeline(state: State, call: CallSite, construct: Construct) -> Value | None:
    """A pipeline of this thread's own, or of a group's; None for one whose threads have different parts."""
    if not call.arguments:
        return Facility(_PIPELINE)
    group = read(state, state.evaluate(call.arguments[0]), call.arguments[0])
    if not isinstance(group, Group) or len(call.arguments) > 2 or group.scope != Scope.BLOCK:
        return None
    return Facility(_PIPELINE, Scope.BLOCK)


def pipeline_wait(state: State, call: CallSite) -> Value | None:
    """A wait for a pipeline that is given as an argument."""
    node = call.arguments[0] if call.arguments else None
    pipeline = state.evaluate(node) if node is not None else None
    if isinstance(pipeline, Facility) and pipeline.scope == Scope.BLOCK:
        state.builder.emit(Barrier, scope=Scope.BLOCK, via=call.via)
    elif isinstance(pipeline, Facility):
        landed(state, call.via)
    else:
        return None
    return Nothing()
