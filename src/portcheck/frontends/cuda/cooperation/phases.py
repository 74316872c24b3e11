"""Barriers that are objects: who arrives, who waits, and how many must come.

A thread that arrives and waits later on meets the others where it waits. One that arrives and never waits lets others
go on without it, which a barrier of the IR cannot say.
"""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.core.dtype import INT32
from portcheck.frontends.cuda.cooperation.groups import block_group
from portcheck.frontends.cuda.memory.places import scalar
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.conversions import convert, materialised
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Facility, Nothing, Scalar, Value
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import Barrier, Const, Expr, Fence, MemoryOrder, Scope
from portcheck.knowledge import Construct, Role, Semantics

_ARRIVALS = "arrivals"
_BODIES = frozenset({"function_definition", "lambda_expression"})


def phase(state: State, call: CallSite, construct: Construct, facility: Facility) -> Value | None:
    """What a call on a barrier does; None for one that does not wait for what it arrives at."""
    match construct.semantics:
        case Semantics.BARRIER_INITIALISE:
            return _initialised(state, call, construct)
        case Semantics.BARRIER_BLOCK_ARRIVE:
            if not _is_waited_for(state, call, facility):
                return None
            state.builder.emit(Fence, scope=Scope.BLOCK, order=MemoryOrder.RELEASE, via=call.via)
            return Facility(f"{facility.name}::arrival_token", facility.scope)
        case _:
            state.builder.emit(Barrier, scope=Scope.BLOCK, participants=_participants(state), via=call.via)
            return Nothing()


def is_phase(construct: Construct) -> bool:
    """Whether a construct is a step of a barrier that is an object."""
    steps = (Semantics.BARRIER_INITIALISE, Semantics.BARRIER_BLOCK_ARRIVE, Semantics.BARRIER_BLOCK)
    return construct.semantics in steps


def _initialised(state: State, call: CallSite, construct: Construct) -> Value | None:
    """How many threads must arrive; not known where barriers of one kernel differ in that."""
    node = call.at(construct, Role.COUNT)
    if node is None:
        return None
    count = convert(state, scalar(state, state.evaluate(node), node), INT32)
    known = Scalar(materialised(state, count), INT32)
    earlier = state.kept.get((_ARRIVALS,), known)
    state.kept[(_ARRIVALS,)] = known if earlier == known else None
    return Nothing()


def _participants(state: State) -> Expr | None:
    """How many threads a barrier waits for, None for the whole block."""
    if (_ARRIVALS,) not in state.kept:
        return None
    count = state.kept[(_ARRIVALS,)]
    if not isinstance(count, Scalar):
        state.note("barriers that wait for different numbers of threads are taken to wait for the whole block")
        return None
    whole = materialised(state, convert(state, block_group(state).size, INT32))
    if count.expr == whole or not isinstance(count.expr, Const):
        if count.expr != whole:
            state.note("the number of threads that a barrier is made for is taken to be that of the block")
        return None
    return count.expr


def _is_waited_for(state: State, call: CallSite, facility: Facility) -> bool:
    """Whether what `arrive` returns is given to a wait of the same function."""
    name = _name_of(call.node)
    if name is None:
        return False
    if not name:
        return True
    return any(
        name in {found.text for found in argument.found("identifier")}
        for waiting in _waits(state, call.node, facility)
        for argument in waiting
    )


def _name_of(node: Node) -> str | None:
    """The variable that takes the value of `node`; "" for an argument, None where nothing takes it."""
    parent = node.parent
    if parent is None or parent.type == "expression_statement":
        return None
    if parent.type == "argument_list":
        return ""
    target = parent.field("declarator") or parent.field("left")
    if parent.type not in ("init_declarator", "assignment_expression") or target is None:
        return None
    return target.text


def _waits(state: State, node: Node, facility: Facility) -> Iterator[list[Node]]:
    """The arguments of each call of a wait in the function that `node` stands in."""
    body: Node | None = node
    while body is not None and body.type not in _BODIES:
        body = body.parent
    for call in body.found("call_expression") if body is not None else ():
        function, arguments = call.field("function"), call.field("arguments")
        field = function.field("field") if function is not None and function.type == "field_expression" else None
        construct = state.construct(f"{facility.name}::{field.text}") if field is not None else None
        if construct is not None and construct.semantics is Semantics.BARRIER_BLOCK and arguments is not None:
            yield arguments.named
