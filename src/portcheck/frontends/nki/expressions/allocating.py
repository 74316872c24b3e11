"""Functions that a kernel is given and that it calls as NKI's own call that makes a tile."""

from __future__ import annotations

from collections.abc import Sequence

from portcheck.frontends.nki.expressions.bind import as_dtype, as_sizes, bind
from portcheck.frontends.nki.lowering import lower_call
from portcheck.frontends.nki.source.imports import LEGACY_ROOT, ROOT
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.values.values import Items, Parameter, ShapeOf, Value
from portcheck.knowledge import ApiVersion, Role, Semantics


def allocated(
    context: Context, callee: Parameter, via: str, hint: str, positional: Sequence[Value], keywords: dict[str, Value]
) -> Value | None:
    """The new tile that a parameter gives which is called with the shape and dtype of one; None for another call."""
    api = _allocation(context)
    if api is None or context.facts[callee.name].is_tensor:
        return None
    call = bind(context, api, via, hint, positional, keywords)
    given, dtype = call.given(Role.SHAPE), as_dtype(context, call.given(Role.DTYPE))
    shape = as_sizes(context, given) if isinstance(given, Items | ShapeOf) else None
    if call.misfits or call.passed_over or not shape or dtype is None:
        return None
    context.assume(f"{callee.name} is taken to make a tile of its own of the shape and dtype that it is given")
    return lower_call(call)


def _allocation(context: Context) -> ApiVersion | None:
    """The call of NKI that makes a tile of a shape and a dtype, in the version of the port."""
    root = LEGACY_ROOT if context.is_legacy else ROOT
    for name, entry in context.knowledge.apis.items():
        if name.startswith(f"{root}.") and entry.latest.semantics is Semantics.ALLOC:
            api = entry.at(context.version) or entry.latest
            if {Role.SHAPE, Role.DTYPE} <= {item.role for item in api.parameters}:
                return api
    return None
