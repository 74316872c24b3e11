"""Objects that a kernel is given: what their class works out from their fields when one is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from portcheck.core.dtype import BOOL
from portcheck.frontends.nki.objects.classes import found_in
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import ForkError, NeedsUnrollingError, RaisedError, UnfollowedError
from portcheck.frontends.nki.state.mutation import alike
from portcheck.frontends.nki.values.arithmetic import is_number
from portcheck.frontends.nki.values.callables import ClassKind, Function
from portcheck.frontends.nki.values.values import Instance, Value
from portcheck.ir import Const, Opaque, operations, symbols_in


def complete(context: Context, name: str, made: Instance) -> bool:
    """Gives `made`, the parameter `name` with its fields, what `__post_init__` adds, where it leaves the fields.

    Where flags that are set by default decide whether it sets a field again, they are taken to be so.
    """
    after = found_in(made.owner, "__post_init__")
    if made.owner.kind is not ClassKind.DATA or not isinstance(after, Function):
        return False
    given, changed = dict(made.held), dict[str, Value]()
    if not _leaves_fields(context, after, made, changed):
        flags = _deciding(name, made, changed)
        made.held.update(flags)
        if not flags or not _leaves_fields(context, after, made, changed):
            made.held.update(given)
            return False
        for field in flags:
            context.assume(f"{name}.{field} is taken to be its default")
    context.assume(f"{name} is taken to be as {made.record} makes it: no field was set again")
    return True


def _leaves_fields(context: Context, after: Function, made: Instance, changed: dict[str, Value]) -> bool:
    """Whether `__post_init__` was followed and set no field again; those that it did set are put into `changed`."""
    fields = dict(made.held)

    def holds() -> bool:
        changed.update({str(key): made.held[key] for key, item in fields.items() if not alike(item, made.held[key])})
        return not changed

    changed.clear()
    return is_followed(context, after, made, {}, holds)


def _deciding(name: str, made: Instance, changed: Mapping[str, Value]) -> dict[str, Value]:
    """The flags among the fields of which the values in `changed` depend, with their defaults."""
    read = {word for value in changed.values() if is_number(value) for word in symbols_in(value)}
    defaults = {
        field: found_in(made.owner, field) for field in sorted(map(str, made.held)) if f"{name}.{field}" in read
    }
    return {field: value for field, value in defaults.items() if isinstance(value, Const) and value.dtype == BOOL}


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
