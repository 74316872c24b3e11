"""Objects of CUDA's libraries that make threads work together: those of CUB, pipelines, barriers."""

from __future__ import annotations

from portcheck.frontends.cuda.cooperation.arrangements import (
    Arrangement,
    blocked,
    broadcast,
    rearranged,
    striped,
    striped_by_warps,
    transferred,
)
from portcheck.frontends.cuda.cooperation.asynchronous import landed
from portcheck.frontends.cuda.cooperation.collectives import reduced
from portcheck.frontends.cuda.cooperation.neighbours import beside, offset
from portcheck.frontends.cuda.cooperation.phases import is_phase, phase
from portcheck.frontends.cuda.cooperation.scans import scanned
from portcheck.frontends.cuda.cooperation.sorting import sort_items
from portcheck.frontends.cuda.cooperation.teams import team_of
from portcheck.frontends.cuda.memory.places import read
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Facility, Group, Nothing, Value
from portcheck.frontends.cuda.parsing.syntax import bare
from portcheck.ir import Barrier, OpaqueKind, Scope
from portcheck.knowledge import Construct, Semantics

_PIPELINE = "cuda::pipeline"
_REDUCTIONS = frozenset({Semantics.REDUCE_BLOCK, Semantics.REDUCE_LANES})
_SCANS = frozenset({Semantics.SCAN_BLOCK, Semantics.SCAN_LANES})
_TRANSFERS = frozenset({Semantics.LOAD_VECTOR, Semantics.STORE})
_ARRANGEMENTS = {
    Semantics.LAYOUT_BLOCKED: blocked, Semantics.LAYOUT_STRIPED: striped,
    Semantics.LAYOUT_STRIPED_BY_WARPS: striped_by_warps,
}  # fmt: skip
_REARRANGEMENTS: dict[Semantics, tuple[Arrangement | None, Arrangement]] = {
    Semantics.ARRANGE_STRIPED: (blocked, striped), Semantics.ARRANGE_BLOCKED: (striped, blocked),
    Semantics.ARRANGE_STRIPED_BY_WARPS: (blocked, striped_by_warps),
    Semantics.ARRANGE_BLOCKED_BY_WARPS: (striped_by_warps, blocked),
    Semantics.SCATTER_BLOCKED: (None, blocked), Semantics.SCATTER_STRIPED: (None, striped),
}  # fmt: skip


def facility_method(state: State, call: CallSite, facility: Facility) -> Value:
    """`object.name(...)`; kept opaque, once, where it is not followed."""
    construct = state.construct(f"{facility.name}::{call.name}")
    found = _known(state, call, construct, facility) if construct is not None else None
    if found is not None:
        return found
    reason = f"{facility.name}::{call.name} is not modelled"
    if call.node.key == state.statement:
        return state.keep(call.node, reason, kind=OpaqueKind.LIBRARY)
    return state.opaque(call.node, reason, kind=OpaqueKind.LIBRARY, via=call.via)


def _known(state: State, call: CallSite, construct: Construct, facility: Facility) -> Value | None:
    semantics = construct.semantics
    team = team_of(state, facility, f"{facility.name}::{call.name}")
    if semantics in _REDUCTIONS:
        return reduced(state, call, construct, team)
    if semantics in _SCANS:
        return scanned(state, call, construct, team)
    if semantics in _TRANSFERS:
        arrangement = _arrangement(state, facility)
        return transferred(state, call, construct, team, arrangement) if arrangement is not None else None
    if semantics in _REARRANGEMENTS:
        return rearranged(state, call, team, *_REARRANGEMENTS[semantics])
    if semantics in (Semantics.SORT, Semantics.SORT_STRIPED):
        return sort_items(state, call, construct, team, striped if semantics is Semantics.SORT_STRIPED else blocked)
    if semantics in (Semantics.NEIGHBOUR_FLAGS, Semantics.NEIGHBOUR_DIFFERENCE):
        return beside(state, call, construct, team)
    if semantics is Semantics.NEIGHBOUR_OFFSET:
        return offset(state, call, construct, team)
    if semantics is Semantics.EXCHANGE_INDEX:
        return broadcast(state, call, construct, team)
    if semantics is Semantics.COPY_WAIT:
        return _waited(state, call, construct, facility)
    return phase(state, call, construct, facility) if is_phase(construct) else None


def facility_function(state: State, call: CallSite) -> Value | None:
    """A free function that belongs to the class of the object whose address comes first; None for any other."""
    first = bare(call.arguments[0]) if call.arguments else None
    named = first.found("identifier") if first is not None and first.type == "pointer_expression" else []
    value = state.lookup(named[0].text) if named else None
    if not isinstance(value, Facility):
        return None
    name = f"{value.name}::{call.name.rpartition('::')[2]}"
    construct = state.construct(name)
    if construct is None or not is_phase(construct):
        return None
    return phase(state, CallSite(call.node, call.name, (), call.arguments[1:]), construct, value)


def _arrangement(state: State, facility: Facility) -> Arrangement | None:
    """How the items of a class that loads or stores lie: as its template argument says, blocked without one."""
    if not facility.words:
        return blocked
    construct = state.construct(facility.words[0])
    return _ARRANGEMENTS.get(construct.semantics) if construct is not None else None


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


def pipeline_wait(state: State, call: CallSite, pipeline: Value) -> Value | None:
    """A wait for a pipeline that is given as an argument; None for anything else."""
    if isinstance(pipeline, Facility) and pipeline.scope == Scope.BLOCK:
        state.builder.emit(Barrier, scope=Scope.BLOCK, via=call.via)
    elif isinstance(pipeline, Facility):
        landed(state, call.via)
    else:
        return None
    return Nothing()
