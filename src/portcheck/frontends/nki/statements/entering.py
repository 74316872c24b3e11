"""`with`: its body, and what entering and leaving an object of the port does."""

from __future__ import annotations

import libcst as cst

from portcheck.core.dtype import BOOL
from portcheck.frontends.nki.loops.keeping import Kept, keep
from portcheck.frontends.nki.objects.attributes import bind_target
from portcheck.frontends.nki.objects.dunders import special
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.flow import Flow, FlowKind
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.statements.skipping import may_leave, skip
from portcheck.frontends.nki.values.values import NONE, Unknown, Value
from portcheck.ir import Alloc, Const, Op, ValueType, While, operations
from portcheck.ir.walk import writes

_UNKNOWN = "what this `with` enters is not known"


def run_with(context: Context, frame: Frame, statement: cst.With) -> Flow:
    """A `with`; where it is not known what it enters, the body may run any number of times, to an unknown effect."""
    values = [context.evaluate(context, frame, item.item, "") for item in statement.items]
    is_known = not any(isinstance(value, Unknown) for value in values)
    if not is_known and any(map(may_leave, _all_but_last_return(statement.body))):
        return skip(context, frame, statement, _UNKNOWN)
    for item, value in zip(statement.items, values, strict=True):
        entered = special(context, value, "enter")
        if item.asname is not None:
            bind_target(frame, item.asname.name, value if entered is None else entered, context)
    flow = context.run(context, frame, statement.body.body) if is_known else _perhaps(context, frame, statement, values)
    for value in reversed(values):
        special(context, value, "exit", NONE, NONE, NONE)
    return flow


def _all_but_last_return(block: cst.BaseSuite) -> list[cst.CSTNode]:
    """The statements of a block, without a `return` at its end."""
    found = list(block.body)
    last = found[-1] if found else None
    is_return = isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], cst.Return)
    return found[:-1] if is_return else found


def _perhaps(context: Context, frame: Frame, statement: cst.With, values: list[Value]) -> Flow:
    """The body, which Python runs once, as the body of a loop; what it writes is not known after it.

    Something that is entered may repeat what is traced inside it, leave it out, or change what it means.
    """
    text = ", ".join(frame.segment.text(item.item) for item in statement.items)

    def emit(variable: str, body: tuple[Op, ...]) -> None:
        inside = list(operations(body))
        own = {op.name for op in inside if isinstance(op, Alloc)}
        changed = sorted({name for op in inside for name in writes(op)} - own)
        with context.builder.region() as test:
            goes_on = context.opaque(_UNKNOWN, text, reads=changed, writes=changed, value=ValueType(BOOL))
        context.builder.emit(While, via="with", test=tuple(test), condition=goes_on or Const(True, BOOL), body=body)

    def run() -> Flow:
        return context.run(context, frame, statement.body.body)

    flow, _ = keep(context, frame, Kept(None, statement.body, lambda _: None, run, emit, is_traced=True))
    return Flow(flow.kind, flow.value) if flow.kind in (FlowKind.RETURN, FlowKind.RAISE) else Flow()
