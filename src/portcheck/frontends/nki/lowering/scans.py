"""Scans along the free dimensions of a tile, which count as one."""

from __future__ import annotations

from portcheck.core.dtype import FLOAT32
from portcheck.frontends.nki.expressions.bind import Call, ir_operator
from portcheck.frontends.nki.lowering.accumulators import command, identity_of, lanes_beside
from portcheck.frontends.nki.lowering.functions import combination, operand_for, operator_for, single
from portcheck.frontends.nki.lowering.memory import flattened_operand
from portcheck.frontends.nki.lowering.reducing import combine_free
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.arithmetic import difference, literal
from portcheck.frontends.nki.values.data import allocate, compute, load, store
from portcheck.frontends.nki.values.operands import Operand, cast
from portcheck.frontends.nki.values.values import Stretch, Value
from portcheck.frontends.nki.values.views import select
from portcheck.ir import COMMUTATIVE, Expr, Operator, Scan, Space, ValueType, integer
from portcheck.knowledge import Role

_MIRRORED = {
    Operator.LESS: Operator.GREATER, Operator.GREATER: Operator.LESS,
    Operator.LESS_EQUAL: Operator.GREATER_EQUAL, Operator.GREATER_EQUAL: Operator.LESS_EQUAL,
}  # fmt: skip


def scan(call: Call) -> Value:
    """A running combination along the free axis: of two tiles, or of one tile and a number."""
    if call.given(Role.OPERAND0) is not None:
        return _cumulative(call)
    sources = call.all(Role.SOURCE)
    if len(sources) != 2:
        raise MisunderstoodError("an operand is not understood")
    first, second = (_data(call, source) for source in sources)
    multiplier, operator = (_operator(call, role) for role in (Role.OPERATOR0, Role.OPERATOR1))
    if call.flag(Role.REVERSE1):
        operator, multiplier, first = _with_last_reversed(call, operator, multiplier, first)
    if call.flag(Role.REVERSE0):
        multiplier, first = _with_first_reversed(call, multiplier, first)
    initial = call.given(Role.INITIAL)
    start = cast(call.context, operand_for(call, initial, 2), FLOAT32, call.via) if initial is not None else None
    result = _scanned(call, operator, (first, second), multiplier, start)
    return call.finish(result, *sources)


def _data(call: Call, source: Value | None) -> Operand:
    return cast(call.context, flattened_operand(call, source), FLOAT32, call.via)


def _operator(call: Call, role: Role) -> Operator:
    operator = ir_operator(operator_for(call, role))
    if operator is None:
        raise MisunderstoodError("the operator is not understood")
    return operator


def _with_first_reversed(call: Call, multiplier: Operator, first: Operand) -> tuple[Operator, Operand]:
    """What gives `multiplier(r, a)` as a combination of a and r."""
    if multiplier in COMMUTATIVE:
        return multiplier, first
    if multiplier is Operator.SUBTRACT:
        return Operator.ADD, single(call, Operator.NEGATE, first)
    if multiplier in _MIRRORED:
        return _MIRRORED[multiplier], first
    raise MisunderstoodError(f"a scan with the operands of {multiplier.value} reversed")


def _with_last_reversed(
    call: Call, operator: Operator, multiplier: Operator, first: Operand
) -> tuple[Operator, Operator, Operand]:
    """What gives `operator(b, t)` as a combination of t, which is `multiplier(a, r)`, and b."""
    if operator in COMMUTATIVE:
        return operator, multiplier, first
    if operator in _MIRRORED:
        return _MIRRORED[operator], multiplier, first
    if operator is Operator.SUBTRACT and multiplier is Operator.MULTIPLY:
        return Operator.ADD, multiplier, single(call, Operator.NEGATE, first)
    raise MisunderstoodError(f"a scan with the operands of {operator.value} reversed")


def _scanned(
    call: Call, operator: Operator, operands: tuple[Operand, ...], multiplier: Operator | None, initial: Operand | None
) -> Operand:
    shape = operands[0].shape
    made = call.context.builder.result(
        Scan, via=call.via, operator=operator, operands=tuple(item.expression for item in operands),
        type=ValueType(FLOAT32, shape), dimension=len(shape) - 1, multiplier=multiplier, accumulate=ValueType(FLOAT32),
        initial=initial.expression if initial is not None else None,
    )  # fmt: skip
    return Operand(made, FLOAT32, shape)


def _cumulative(call: Call) -> Value:
    """register = data op0 number op1 register, from the left; the registers of the engine keep what is reached."""
    given = call.given(Role.SOURCE)
    data = _data(call, given)
    entry, operator = operator_for(call, Role.OPERATOR0), _operator(call, Role.OPERATOR1)
    if entry is not None:
        scalar = operand_for(call, call.given(Role.OPERAND0), 2)
        data = cast(call.context, combination(call, entry, data, scalar, reverse=False), FLOAT32, call.via)
    start, lanes = _start(call, operator, data), lanes_beside(call, data)
    if operator in COMMUTATIVE:
        result = _scanned(call, operator, (data,), None, start)
        reached = combine_free(call, operator, data)
        if start is not None:
            reached = compute(call.context, operator, (start, reached), FLOAT32, via=call.via)
        store(call.context, lanes, reached, via=call.via)
    else:
        nothing = Operand(literal(-0.0), literal(0.0).dtype)
        begin = start or Operand(literal(identity_of(operator)), literal(0.0).dtype)
        both = (data, cast(call.context, nothing, FLOAT32))
        result = _scanned(call, Operator.ADD, both, operator, cast(call.context, begin, FLOAT32))
        store(call.context, lanes, _last(call, result), via=call.via)
    return call.finish(result, given)


def _start(call: Call, operator: Operator, data: Operand) -> Operand | None:
    """What the registers hold before; None where they are reset."""
    asked = command(call)
    initial = call.given(Role.INITIAL)
    if asked == "reset_reduce":
        identity_of(operator)
        return None
    if asked == "load_reduce":
        return cast(call.context, operand_for(call, initial, 2), FLOAT32, call.via)
    if asked == "reduce":
        return load(call.context, lanes_beside(call, data))
    raise MisunderstoodError(f"a scan with the registers told to {asked}")


def _last(call: Call, value: Operand) -> Operand:
    """The last element of each partition."""
    context = call.context
    view = allocate(context, "", value.dtype, value.shape, Space.SHARED)
    store(context, view, value, via="=")
    end: Expr = value.shape[1]
    column = select(context, view, [Stretch(None, None), Stretch(difference(end, integer(1)), end, None, integer(1))])
    assert column is not None
    return load(context, column)
