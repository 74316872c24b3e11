"""Loops of the device whose body is a function: counted, and as long as a register is not zero."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from portcheck.core.dtype import INT32, INT64
from portcheck.frontends.nki.expressions.bind import Call
from portcheck.frontends.nki.loops.carrying import settled_late
from portcheck.frontends.nki.lowering.indices import three
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.ages import new_age
from portcheck.frontends.nki.values.callables import Function
from portcheck.frontends.nki.values.data import allocate, as_number, load, settled, store
from portcheck.frontends.nki.values.operands import Operand
from portcheck.frontends.nki.values.tiles import View
from portcheck.frontends.nki.values.values import NONE, Value
from portcheck.ir import Const, Loop, Op, OpaqueKind, Operator, Range, Space, Symbol, While, apply, integer
from portcheck.knowledge import Role


def counted(call: Call) -> Value:
    """The body for every number of a range; its steps are in order."""
    context, function = call.context, _body(call)
    ends = call.number(Role.START), call.number(Role.STOP)
    start, stop, step = three([*ends, call.number(Role.STEP) or integer(1)])
    parameters = function.node.params.params
    variable = context.bind_symbol(parameters[0].name.value if parameters else "i")
    body = _rounds(call, lambda: context.call(context, function, [Symbol(variable, INT64)], {}))
    values = Range(start=start, stop=stop, step=step)
    context.builder.emit(Loop, via=call.via, variable=variable, values=values, body=tuple(body))
    context.builder.end(variable)
    return NONE


def until_zero(call: Call) -> Value:
    """The body again and again as long as the register it hands back, at first the one given, is not zero."""
    context, function = call.context, _body(call)
    first = as_number(context, call.given(Role.INITIAL))
    if first is None:
        raise MisunderstoodError("what the loop begins with is not understood", OpaqueKind.CONTROL)
    condition = allocate(context, "condition", INT32, (), Space.REGISTER, call.via)
    store(context, condition, Operand(first, first.dtype), via=call.via)
    with context.builder.region() as test:
        held = load(context, condition)

    def run() -> None:
        last = as_number(context, context.call(context, function, _given(function, condition), {}))
        if last is None:
            raise MisunderstoodError("what the body hands back is not understood", OpaqueKind.CONTROL)
        store(context, condition, Operand(last, last.dtype), via=call.via)

    body = _rounds(call, run)
    goes_on = apply(Operator.NOT_EQUAL, held.expression, Const(0, INT32))
    context.builder.emit(While, via=call.via, test=tuple(test), condition=goes_on, body=tuple(body))
    return NONE


def _given(function: Function, condition: View) -> list[Value]:
    """What the body is called with: the register, if it takes one."""
    return [condition] if function.node.params.params else []


def _body(call: Call) -> Function:
    value = call.given(Role.BODY)
    if not isinstance(value, Function):
        raise MisunderstoodError("the body of the loop is not understood", OpaqueKind.CONTROL)
    return value


def _rounds(call: Call, run: Callable[[], object]) -> list[Op]:
    """The operations of a round; it is read again where it wrote to a tile that it may have read before."""
    context = call.context
    while True:
        marks, since = context.marks(), new_age()
        with _round(call) as body:
            run()
        late = settled_late(context, marks, since, body)
        if not late:
            return body
        context.release(marks)
        for result in late:
            settled(context, result)


@contextmanager
def _round(call: Call) -> Iterator[list[Op]]:
    """One round of a loop that stays a loop: what it changes of Python's objects must not last."""
    context = call.context
    context.loop_depth += 1
    context.carried.append(())
    try:
        with context.builder.region() as body, context.journal.changes() as changes:
            yield body
            if changes.lasting():
                raise MisunderstoodError("the body changes a Python object", OpaqueKind.CONTROL)
    finally:
        context.loop_depth -= 1
        context.carried.pop()
