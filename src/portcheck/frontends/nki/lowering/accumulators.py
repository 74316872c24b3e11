"""The accumulator registers of an engine: an instruction reduces into them, and a later one may continue from there."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from portcheck.core.dtype import FLOAT32
from portcheck.frontends.nki.expressions.bind import Call
from portcheck.frontends.nki.lowering.functions import operand_for, operator_for, rank_of, single
from portcheck.frontends.nki.lowering.reducing import combine_free, mask_left
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.arithmetic import literal
from portcheck.frontends.nki.values.data import compute, load, store
from portcheck.frontends.nki.values.operands import Operand
from portcheck.frontends.nki.values.tiles import Buffer, View
from portcheck.frontends.nki.values.values import External, Stretch
from portcheck.frontends.nki.values.views import select, whole
from portcheck.ir import (
    Alloc,
    Compute,
    Load,
    Op,
    Operator,
    Reduce,
    Space,
    Store,
    ValueType,
    expressions,
    integer,
    operations,
    rebuild,
)  # fmt: skip
from portcheck.ir.expr import refs_in
from portcheck.knowledge import OperatorForm, OperatorObject, Role

_IDENTITIES = {
    Operator.ADD: 0.0, Operator.SUBTRACT: 0.0, Operator.MULTIPLY: 1.0,
    Operator.MAXIMUM: -math.inf, Operator.MINIMUM: math.inf,
}  # fmt: skip
_CONTINUES = ("reduce", "load_reduce")
_STARTS = ("reset", "reset_reduce")


def identity_of(operator: Operator) -> float:
    """What the registers hold when they are reset for `operator`; raises MisunderstoodError where that is not known."""
    value = _IDENTITIES.get(operator)
    if value is None:
        raise MisunderstoodError(f"what a reduction by {operator.value} begins with is not known")
    return value


def command(call: Call) -> str:
    """What is to be done with the registers; a call that cannot say resets them and reduces."""
    if not call.api.with_role(Role.REDUCE_COMMAND):
        return "reset_reduce"
    value = call.given(Role.REDUCE_COMMAND)
    word = value.name.rpartition(".")[2] if isinstance(value, External) else ""
    if word not in ("idle", *_CONTINUES, *_STARTS):
        raise MisunderstoodError("what is done with the accumulator is not known")
    return word


def reduce_beside(call: Call, value: Operand, default: Operator) -> None:
    """Does with the registers and the destination of the reduction what the call asks for.

    `value` is what the instruction computed, in float32; it is reduced over all free axes.
    """
    asked = command(call)
    target = call.destination(Role.REDUCE_DESTINATION)
    if target is None and call.given(Role.REDUCE_DESTINATION) is not None:
        raise MisunderstoodError("the destination of the reduction is not understood")
    entry = operator_for(call, Role.REDUCE_OPERATOR)
    operator, value = _operator(call, entry, default, value)
    initial = call.given(Role.REDUCE_INITIAL)
    if asked == "idle" and target is None:
        return
    lanes = lanes_beside(call, value)
    free = range(1, len(value.shape))
    held: Operand | None = None
    if asked == "reset":
        start = literal(identity_of(operator))
        store(call.context, lanes, Operand(start, start.dtype), via=call.via)
    elif asked != "idle":
        held = combine_free(call, operator, value)
        if asked == "load_reduce":
            held = _joined(call, operator, operand_for(call, initial, rank_of(initial)), held)
        elif asked == "reduce":
            held = _joined(call, operator, load(call.context, lanes), held)
        store(call.context, lanes, held, via=call.via, mask=mask_left(call, value.shape, free, held.shape))
    if target is not None:
        held = held or load(call.context, lanes)
        result = single(call, Operator.NEGATE, held) if call.flag(Role.NEGATE) else held
        store(call.context, target, result, via=call.via, mask=mask_left(call, value.shape, free, held.shape))


def _operator(call: Call, entry: OperatorObject | None, default: Operator, value: Operand) -> tuple[Operator, Operand]:
    """The operator of the reduction, and what it is applied to."""
    if entry is None:
        return default, value
    if entry.form is OperatorForm.MAGNITUDES and entry.of is not None:
        return entry.of, single(call, Operator.ABSOLUTE, value)
    if entry.operator is None:
        raise MisunderstoodError("the operator of the reduction is not understood")
    return entry.operator, value


def _joined(call: Call, operator: Operator, held: Operand, added: Operand) -> Operand:
    return compute(call.context, operator, (held, added), FLOAT32, via=call.via)


def lanes_beside(call: Call, value: Operand) -> View:
    """The registers of the engine that executes the call, one a partition of `value`."""
    context = call.context
    engine = call.api.engine
    view = context.registers.get(engine)
    if view is None:
        chip = context.knowledge.chip(context.target)
        if chip is None:
            raise MisunderstoodError("how many lanes the engine has is not known")
        name = context.fresh_buffer(f"{engine}_accumulator")
        view = whole(context, Buffer(name, FLOAT32, (integer(chip.partitions), integer(1)), Space.REGISTER))
        context.registers[engine] = view
    if not value.shape:
        raise MisunderstoodError("the operand is no tile")
    taken = select(context, view, [Stretch(integer(0), value.shape[0], None, value.shape[0])])
    assert taken is not None
    return taken


def with_registers(context: Context, body: Iterable[Op]) -> tuple[Op, ...]:
    """`body` after the registers that something in it reads; what goes into others is left out."""
    body = tuple(body)
    if not context.registers:
        return body
    read = {op.access.buffer for op in operations(body) if isinstance(op, Load)}
    buffers = [view.buffer for view in context.registers.values()]
    with context.builder.region() as made:
        for buffer in buffers:
            if buffer.name in read:
                context.builder.emit(Alloc, name=buffer.name, type=ValueType(buffer.dtype, buffer.shape, buffer.space))
    return (*made, *_without_stores(body, {buffer.name for buffer in buffers} - read))


def _without_stores(body: tuple[Op, ...], names: set[str]) -> tuple[Op, ...]:
    """`body` without the stores into the buffers `names`, and without what was computed for them alone."""
    uses = Counter(ref for op in operations(body) for item in expressions(op) for ref in refs_in(item))
    unused: set[int] = set()
    for op in reversed(list(operations(body))):
        is_unread = isinstance(op, Store) and op.access.buffer in names
        if is_unread or (isinstance(op, Reduce | Compute) and uses[op.id] == 0 and op.id in unused):
            refs = {ref for item in expressions(op) for ref in refs_in(item)}
            uses.subtract(refs)
            unused |= refs | {op.id}
    gone = {op.id for op in operations(body) if op.id in unused and _is_dropped(op, uses, names)}
    return rebuild(body, lambda op: () if op.id in gone else (op,))


def _is_dropped(op: Op, uses: Counter[int], names: set[str]) -> bool:
    if isinstance(op, Store):
        return op.access.buffer in names
    return isinstance(op, Reduce | Compute) and uses[op.id] == 0
