"""Objects that a kernel is given: what their class works out from their fields when one is made."""

from __future__ import annotations

from collections.abc import Callable

from portcheck.frontends.nki.objects.classes import found_in
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import ForkError, NeedsUnrollingError, RaisedError, UnfollowedError
from portcheck.frontends.nki.state.mutation import alike
from portcheck.frontends.nki.values.callables import ClassKind, Function
from portcheck.frontends.nki.values.values import Instance, Value
from portcheck.ir import Opaque, operations


def complete(context: Context, name: str, made: Instance) -> None:
    """Gives `made`, the parameter `name` with its fields, what `__post_init__` adds, where it leaves the fields."""
    after = found_in(made.owner, "__post_init__")
    if made.owner.kind is not ClassKind.DATA or not isinstance(after, Function):
        return
    fields = dict(made.held)
    if is_followed(context, after, made, {}, lambda: all(alike(item, made.held[key]) for key, item in fields.items())):
        context.assume(f"{name} is taken to be as {made.record} makes it: no field was set again")


def is_followed(
    context: Context,
    method: Function,
    made: Instance,
    given: dict[str, Value],
    holds: Callable[[], bool] = lambda: True,
) -> bool:
    """Calls a method of the new object `made`; where not all of it is followed, or `holds` fails, nothing is done."""
    marks = context.marks()
    with context.builder.region() as body, context.journal.changes() as changes:
        is_done = _runs(context, method, made, given)
    if is_done and not made.lost and not any(isinstance(op, Opaque) for op in operations(body)) and holds():
        context.builder.adopt(body)
        return True
    changes.undo()
    context.release(marks)
    return False


def _runs(context: Context, method: Function, made: Instance, given: dict[str, Value]) -> bool:
    try:
        context.call(context, method, [made], given)
    except (UnfollowedError, NeedsUnrollingError, RaisedError, ForkError):
        return False
    return True
