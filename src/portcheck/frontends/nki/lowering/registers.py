"""Scalar registers of the engines' sequencers: buffers without dimensions, one 32-bit integer each."""

from __future__ import annotations

from portcheck.core.dtype import INT32
from portcheck.frontends.nki.expressions.bind import Call
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.data import allocate, as_number, as_view, load, store
from portcheck.frontends.nki.values.operands import Operand
from portcheck.frontends.nki.values.tiles import Result, View
from portcheck.frontends.nki.values.values import NONE, Parameter, Value
from portcheck.frontends.nki.values.views import select
from portcheck.ir import OpaqueKind, Space, integer
from portcheck.knowledge import Role


def register(call: Call) -> Value:
    """A new register, or what a register or the one element of a tensor is set to."""
    if not call.api.with_role(Role.DESTINATION):
        view = allocate(call.context, call.hint or "register", INT32, (), Space.REGISTER, call.via)
        if call.given(Role.INITIAL) is not None:
            store(call.context, view, _scalar(call, call.given(Role.INITIAL)), via=call.via)
        return view
    destination = call.destination()
    if destination is None:
        raise MisunderstoodError("the destination is not understood")
    store(call.context, _element(call, destination), _scalar(call, call.given(Role.SOURCE)), via=call.via)
    return NONE


def _scalar(call: Call, value: Value | None) -> Operand:
    """A number, what a register holds, or the one element of a tensor."""
    if isinstance(value, View | Result | Parameter):
        view = as_view(call.context, value)
        if view is not None:
            return load(call.context, _element(call, view))
    number = as_number(call.context, value)
    if number is None:
        raise MisunderstoodError("the value is not understood")
    return Operand(number, number.dtype)


def _element(call: Call, view: View) -> View:
    """The first element, which is the only one."""
    if not view.dimensions:
        return view
    taken = select(call.context, view, [integer(0)] * len(view.dimensions))
    if taken is None:
        raise MisunderstoodError("the tensor has no element", OpaqueKind.MEMORY)
    return taken
