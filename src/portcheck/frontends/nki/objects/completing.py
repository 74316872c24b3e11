"""Objects that a kernel is given: what their class works out from their fields when one is made."""

from __future__ import annotations

from portcheck.frontends.nki.objects.classes import found_in
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import ForkError, NeedsUnrollingError, RaisedError, UnfollowedError
from portcheck.frontends.nki.state.mutation import alike
from portcheck.frontends.nki.values.callables import ClassKind, Function
from portcheck.frontends.nki.values.values import Instance
from portcheck.ir import Opaque, operations


def complete(context: Context, name: str, made: Instance) -> None:
    """Gives `made`, the parameter `name` with its fields, what `__post_init__` adds, where it leaves the fields."""
    after = found_in(made.owner, "__post_init__")
    if made.owner.kind is not ClassKind.DATA or not isinstance(after, Function):
        return
    fields, marks = dict(made.held), context.marks()
    with context.builder.region() as body, context.journal.changes() as changes:
        is_followed = _runs(context, made, after)
    is_followed = is_followed and not made.lost and not any(isinstance(op, Opaque) for op in operations(body))
    if is_followed and all(alike(value, made.held[field]) for field, value in fields.items()):
        context.builder.adopt(body)
        context.assume(f"{name} is taken to be as {made.record} makes it: no field was set again")
        return
    changes.undo()
    context.release(marks)


def _runs(context: Context, made: Instance, after: Function) -> bool:
    try:
        context.call(context, after, [made], {})
    except (UnfollowedError, NeedsUnrollingError, RaisedError, ForkError):
        return False
    return True
