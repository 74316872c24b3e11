"""Random numbers of cuRAND's device functions: draws from a state that is kept as one opaque number in memory."""

from __future__ import annotations

from portcheck.core.dtype import UINT64, dtype_named
from portcheck.frontends.cuda.memory.places import pointer_of, scalar
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.conversions import materialised
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import vector_type
from portcheck.frontends.cuda.model.values import Aggregate, Nothing, Value
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import Expr, Random, ValueType
from portcheck.knowledge import Construct, Role, Semantics

_DISTRIBUTIONS = {
    Semantics.RANDOM: "", Semantics.RANDOM_UNIFORM: "uniform", Semantics.RANDOM_NORMAL: "normal",
    Semantics.RANDOM_SEED: "", Semantics.RANDOM_STATE: "",
}  # fmt: skip


def is_random(construct: Construct) -> bool:
    """Whether a construct draws random numbers, or sets up what they are drawn from."""
    return construct.semantics in _DISTRIBUTIONS


def random(state: State, call: CallSite, construct: Construct) -> Value | None:
    """A draw, or several side by side; None where the state is not followed."""
    node = call.at(construct, Role.STATE)
    pointer = pointer_of(state, state.evaluate(node)) if node is not None else None
    if pointer is None:
        return None
    others = tuple(_number(state, argument) for argument in call.arguments if argument is not node)
    fields = {
        "generator": construct.name, "operands": (*others, *pointer.index), "state": pointer.buffer,
        "distribution": _DISTRIBUTIONS[construct.semantics], "via": call.via,
    }  # fmt: skip
    if not construct.dtype:
        state.builder.emit(Random, type=ValueType(UINT64), **fields)
        return Nothing()
    dtype = dtype_named(construct.dtype)
    type_ = vector_type(state, dtype, construct.lanes) if construct.lanes > 1 else None
    if type_ is None:
        return state.result(Random, dtype, **fields)
    return Aggregate(type_, tuple((name, state.result(Random, dtype, **fields)) for name, _ in type_.fields))


def _number(state: State, node: Node) -> Expr:
    return materialised(state, scalar(state, state.evaluate(node), node))
