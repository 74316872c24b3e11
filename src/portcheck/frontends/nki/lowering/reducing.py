"""Reductions over the dimensions of a tile."""

from __future__ import annotations

from collections.abc import Sequence

from portcheck.core.dtype import FLOAT32, DType, dtype_named
from portcheck.frontends.nki.arithmetic import known_int, literal, product
from portcheck.frontends.nki.bind import Call, as_sizes, ir_operator, operator_object
from portcheck.frontends.nki.data import Operand, cast, compute, operand
from portcheck.frontends.nki.failure import MisunderstoodError
from portcheck.frontends.nki.values import Value
from portcheck.ir import Apply, Expr, Operator, Order, Reduce, ValueType, integer
from portcheck.knowledge import Role


def combine_free(call: Call, operator: Operator, value: Operand) -> Operand:
    """`value` reduced over all dimensions but the first, which are kept with extent 1."""
    return combine_over(call, operator, value, range(1, max(len(value.shape), 2)))


def combine_over(
    call: Call, operator: Operator, value: Operand, dimensions: Sequence[int], *, keep: bool = True
) -> Operand:
    """`value` in the accumulator's dtype reduced over `dimensions`."""
    context = call.context
    dtype = _accumulator(call, operator, value)
    value = cast(context, value, dtype, call.via)
    dropped = set(dimensions)
    shape = tuple(
        integer(1) if position in dropped else extent
        for position, extent in enumerate(value.shape)
        if keep or position not in dropped
    )
    made = context.builder.result(
        Reduce,
        via=call.via,
        operator=operator,
        operand=value.expression,
        type=ValueType(dtype, shape),
        accumulate=ValueType(dtype, shape),
        dimensions=tuple(dimensions),
        keep_dimensions=keep,
        order=call.api.order or Order.UNDOCUMENTED,
        mask=call.mask_at(len(value.shape)),
    )
    return Operand(made, dtype, shape)


def _accumulator(call: Call, operator: Operator, value: Operand) -> DType:
    if operator in (Operator.BITWISE_AND, Operator.BITWISE_OR, Operator.BITWISE_XOR):
        return value.dtype
    stated = call.api.accumulate_dtype
    return FLOAT32 if stated in ("", "unknown") else dtype_named(stated)


def free(call: Call) -> Value:
    """A reduction over free axes."""
    operator = call.api.operator or ir_operator(operator_object(call.context, call.given(Role.OPERATOR)))
    given = call.given(Role.SOURCE)
    value = operand(call.context, given)
    if operator is None or value is None:
        raise MisunderstoodError("the operator or the operand is not understood")
    result = _along(call, operator, value)
    if call.flag(Role.NEGATE):
        result = compute(call.context, Operator.NEGATE, (result,), FLOAT32, via=call.via)
    return call.finish(result, given, masked=False)


def _along(call: Call, operator: Operator, value: Operand) -> Operand:
    axes = axes_of(call, len(value.shape))
    return combine_over(call, operator, value, axes, keep=_keeps(call, len(value.shape), axes))


def _keeps(call: Call, rank: int, axes: Sequence[int]) -> bool:
    """Whether reduced dimensions stay with extent 1; a tile has at least a partition and a free dimension."""
    return call.flag(Role.KEEP_DIMENSIONS) or rank - len(axes) < 2


def axes_of(call: Call, rank: int) -> tuple[int, ...]:
    """The dimensions in the axis argument; all free ones when it is left out."""
    given = call.given(Role.AXIS)
    if given is None:
        return tuple(range(1, rank))
    sizes = as_sizes(call.context, given)
    numbers = [known_int(size) for size in sizes] if sizes is not None else [None]
    axes = tuple(number + rank if number < 0 else number for number in numbers if number is not None)
    if len(axes) != len(numbers) or not axes or not all(0 <= axis < rank for axis in axes):
        raise MisunderstoodError("the axis is not understood")
    return tuple(sorted(set(axes)))


def partition(call: Call) -> Value:
    """A reduction over the partition axis."""
    entry = operator_object(call.context, call.given(Role.OPERATOR))
    given = call.given(Role.SOURCE)
    value = operand(call.context, given)
    operator = ir_operator(entry) or (Operator.ADD if entry is not None and entry.reduces else None)
    if operator is None or value is None or not value.shape:
        raise MisunderstoodError("the operator or the operand is not understood")
    result = combine_over(call, operator, value, (0,))
    if ir_operator(entry) is None:
        result = scaled(call, result, value.shape[0])
    return call.finish(result, given, masked=False)


def scaled(call: Call, total: Operand, count: Expr) -> Operand:
    """`total` times one over `count`: a mean."""
    share = cast(
        call.context,
        Operand(Apply(Operator.DIVIDE, (literal(1.0), count), literal(1.0).dtype), literal(1.0).dtype),
        FLOAT32,
    )
    return compute(call.context, Operator.MULTIPLY, (total, share), FLOAT32, via=call.via)


def mean(call: Call) -> Value:
    """The mean over free axes."""
    given = call.given(Role.SOURCE)
    value = operand(call.context, given)
    if value is None:
        raise MisunderstoodError("the operand is not understood")
    return call.finish(average(call, value), given, masked=False)


def average(call: Call, value: Operand) -> Operand:
    """The mean of `value` over the axes of the call, in float32."""
    total = _along(call, Operator.ADD, value)
    return scaled(call, total, product(tuple(value.shape[axis] for axis in axes_of(call, len(value.shape)))))


def variance(call: Call) -> Value:
    """The population variance over free axes: the mean of the squared distances from the mean."""
    given = call.given(Role.SOURCE)
    value = operand(call.context, given)
    if value is None:
        raise MisunderstoodError("the operand is not understood")
    context = call.context
    axes = axes_of(call, len(value.shape))
    count = product(tuple(value.shape[axis] for axis in axes))
    center = scaled(call, combine_over(call, Operator.ADD, value, axes), count)
    distance = compute(context, Operator.SUBTRACT, (value, center), FLOAT32, via=call.via)
    square = compute(context, Operator.SQUARE, (distance,), FLOAT32, via=call.via)
    return call.finish(scaled(call, combine_over(call, Operator.ADD, square, axes), count), given, masked=False)


def softmax(call: Call) -> Value:
    """exp(x - max) over its sum, along the axes of the call."""
    given = call.given(Role.SOURCE)
    value = operand(call.context, given)
    if value is None:
        raise MisunderstoodError("the operand is not understood")
    context = call.context
    axes = axes_of(call, len(value.shape))
    value = cast(context, value, FLOAT32, call.via)
    highest = combine_over(call, Operator.MAXIMUM, value, axes)
    shifted = compute(context, Operator.SUBTRACT, (value, highest), FLOAT32, via=call.via)
    raised = compute(context, Operator.EXP, (shifted,), FLOAT32, via=call.via, approximate=True)
    total = combine_over(call, Operator.ADD, raised, axes)
    share = compute(context, Operator.RECIPROCAL, (total,), FLOAT32, via=call.via)
    return call.finish(compute(context, Operator.MULTIPLY, (raised, share), FLOAT32, via=call.via), given)


def rms_norm(call: Call) -> Value:
    """x / sqrt(mean of squares + epsilon) * w."""
    context = call.context
    given, weight = call.given(Role.SOURCE), call.given(Role.WEIGHT)
    value, factor = operand(context, given), operand(context, weight)
    count, epsilon = call.number(Role.SIZE), operand(context, call.given(Role.EPSILON))
    if value is None or factor is None or epsilon is None:
        raise MisunderstoodError("an operand is not understood")
    axes = axes_of(call, len(value.shape))
    value = cast(context, value, FLOAT32, call.via)
    square = compute(context, Operator.SQUARE, (value,), FLOAT32, via=call.via)
    total = combine_over(call, Operator.ADD, square, axes)
    center = scaled(call, total, count if count is not None else product(tuple(value.shape[axis] for axis in axes)))
    shifted = compute(context, Operator.ADD, (center, epsilon), FLOAT32, via=call.via)
    scale = compute(context, Operator.RSQRT, (shifted,), FLOAT32, via=call.via, approximate=True)
    normal = compute(context, Operator.MULTIPLY, (value, scale), FLOAT32, via=call.via)
    return call.finish(compute(context, Operator.MULTIPLY, (normal, factor), FLOAT32, via=call.via), given, weight)
