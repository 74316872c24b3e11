"""Matrix products and scans."""

from __future__ import annotations

from portcheck.core.dtype import FLOAT32
from portcheck.frontends.nki.arithmetic import known_int
from portcheck.frontends.nki.bind import Call, ir_operator, operator_object
from portcheck.frontends.nki.data import Operand, cast, operand, store
from portcheck.frontends.nki.failure import MisunderstoodError
from portcheck.frontends.nki.lowering.compute import applied, operand_for
from portcheck.frontends.nki.lowering.memory import flattened_operand
from portcheck.frontends.nki.values import NONE, Result, Value, View
from portcheck.ir import Branch, Matmul, Operator, Order, Scan, Space, Transpose, ValueType, WriteMode
from portcheck.knowledge import Role


def matmul(call: Call) -> Value:
    """stationary^T x moving into PSUM: a new tile, or one group of products in the destination."""
    context = call.context
    stationary, moving = call.given(Role.STATIONARY), call.given(Role.MOVING)
    is_engine = stationary is not None
    if not is_engine:
        sources = call.all(Role.SOURCE)
        if len(sources) != 2:
            raise MisunderstoodError("an operand is not understood")
        stationary, moving = sources
    left = flattened_operand(call, stationary)
    right = flattened_operand(call, moving)
    if len(left.shape) != 2 or len(right.shape) != 2:
        raise MisunderstoodError("an operand is not a matrix")
    if not is_engine and not call.flag(Role.TRANSPOSE):
        shape = (left.shape[1], left.shape[0])
        turned = context.builder.result(
            Transpose, via=call.via, operand=left.expression, permutation=(1, 0), type=ValueType(left.dtype, shape)
        )
        left = Operand(turned, left.dtype, shape)
    depths = known_int(left.shape[0]), known_int(right.shape[0])
    if None not in depths and depths[0] != depths[1]:
        raise MisunderstoodError(f"contracts {depths[0]} elements with {depths[1]}")
    shape = (left.shape[1], right.shape[1])
    made = context.builder.result(
        Matmul, via=call.via, stationary=left.expression, moving=right.expression, type=ValueType(FLOAT32, shape),
        accumulate=ValueType(FLOAT32, shape, Space.PSUM), order=Order.UNDOCUMENTED,
    )  # fmt: skip
    destination = call.destination()
    if destination is None:
        return Result(made, FLOAT32, shape, shape, Space.PSUM, mask=None)
    _accumulated(call, destination, Operand(made, FLOAT32, shape))
    return NONE


def _accumulated(call: Call, destination: View, value: Operand) -> None:
    """Stores a product: into a group, over what was there or on top of it; both where that depends on a condition."""
    context = call.context
    given, decided = call.number(Role.ACCUMULATE), call.constant(Role.ACCUMULATE)
    if call.given(Role.ACCUMULATE) is None:
        store(context, destination, value, via=call.via, mode=WriteMode.GROUP)
    elif decided is not None:
        store(context, destination, value, via=call.via, mode=WriteMode.ADD if decided else WriteMode.OVERWRITE)
    elif given is not None:
        with context.builder.region() as added:
            store(context, destination, value, via=call.via, mode=WriteMode.ADD)
        with context.builder.region() as first:
            store(context, destination, value, via=call.via)
        context.builder.emit(Branch, via=call.via, condition=given, then=tuple(added), otherwise=tuple(first))
    else:
        raise MisunderstoodError("whether the product accumulates is not known")


def scan(call: Call) -> Value:
    """A running combination along the free axis."""
    context = call.context
    sources = call.all(Role.SOURCE)
    multiplier = ir_operator(operator_object(context, call.given(Role.OPERATOR0)))
    operator = ir_operator(operator_object(context, call.given(Role.OPERATOR1)))
    operands = [operand(context, source) for source in sources]
    present = [cast(context, item, FLOAT32, call.via) for item in operands if item is not None]
    if operator is None or len(present) != len(sources) or not present:
        raise MisunderstoodError("the operator or an operand is not understood")
    if call.flag(Role.REVERSE0) or call.flag(Role.REVERSE1):
        raise MisunderstoodError("a scan with reversed operands")
    initial = operand(context, call.given(Role.INITIAL))
    if call.given(Role.OPERAND0) is not None:
        present = [_prepared(call, present[0], multiplier)]
        multiplier = None
    if len(present) != (1 if multiplier is None else 2):
        raise MisunderstoodError("the operator or an operand is not understood")
    shape = present[0].shape
    made = context.builder.result(
        Scan, via=call.via, operator=operator, operands=tuple(item.expression for item in present),
        type=ValueType(FLOAT32, shape), dimension=len(shape) - 1, multiplier=multiplier, accumulate=ValueType(FLOAT32),
        initial=cast(context, initial, FLOAT32, call.via).expression if initial is not None else None,
    )  # fmt: skip
    return call.finish(Operand(made, FLOAT32, shape), *sources)


def _prepared(call: Call, value: Operand, operator: Operator | None) -> Operand:
    if operator is None:
        return value
    return applied(call, operator, value, operand_for(call, call.given(Role.OPERAND0), len(value.shape)))
