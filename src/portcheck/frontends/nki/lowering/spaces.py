"""What is asked of a memory space at compile time."""

from __future__ import annotations

from portcheck.frontends.nki.expressions.bind import Call, as_space
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.arithmetic import literal
from portcheck.frontends.nki.values.values import Value
from portcheck.ir import OpaqueKind, Space
from portcheck.knowledge import Role

_SPACES = {
    "hbm": (Space.GLOBAL,),
    "psum": (Space.PSUM,),
    "sbuf": (Space.SHARED,),
    "on_chip": (Space.SHARED, Space.PSUM),
}


def is_in_space(call: Call) -> Value:
    """Whether a memory space is the one that the call is named after."""
    space = as_space(call.context, call.given(Role.BUFFER))
    wanted = _SPACES.get(call.api.name.rpartition("is_")[2])
    if space is None or wanted is None:
        raise MisunderstoodError("the memory space is not understood", OpaqueKind.MEMORY)
    return literal(space in wanted)
