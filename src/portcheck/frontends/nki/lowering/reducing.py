"""Reductions over the dimensions of a tile."""

from __future__ import annotations

from collections.abc import Sequence

from portcheck.core.dtype import BOOL, FLOAT32, DType, dtype_named
from portcheck.frontends.nki.expressions.bind import Call, as_dtype, as_sizes, ir_operator, operator_object
from portcheck.frontends.nki.lowering.masking import mask_of_tile, place, remaining, together
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.arithmetic import known_int, literal, product
from portcheck.frontends.nki.values.data import compute, operand
from portcheck.frontends.nki.values.operands import Operand, cast
from portcheck.frontends.nki.values.tiles import Grid, Joining, Result, View
from portcheck.frontends.nki.values.values import Value
from portcheck.frontends.nki.values.views import conditions
from portcheck.ir import Apply, Expr, Operator, Order, Reduce, ValueType, arity, integer, symbols_in
from portcheck.knowledge import Role, Semantics


def combine_free(call: Call, operator: Operator, value: Operand) -> Operand:
    """`value` reduced over all dimensions but the first, which are kept with extent 1."""
    return combine_over(call, operator, value, range(1, max(len(value.shape), 2)))


def combine_over(
    call: Call, operator: Operator, value: Operand, dimensions: Sequence[int], *, keep: bool = True
) -> Operand:
    """`value` in the accumulator's dtype reduced over `dimensions`, where the mask of the call holds."""
    return combine_where(call, call.mask_at(len(value.shape)), operator, value, dimensions, keep=keep)


def combine_where(
    call: Call, mask: Expr | None, operator: Operator, value: Operand, dimensions: Sequence[int], *, keep: bool = True
) -> Operand:
    """As `combine_over`, of the elements where `mask` holds."""
    context = call.context
    if arity(operator) != 2:
        raise MisunderstoodError(f"{operator} does not make one element of two")
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
        mask=mask,
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
    return _finished(call, result, value, axes_of(call, len(value.shape)), given)


def _finished(call: Call, result: Operand, value: Operand, axes: Sequence[int], given: Value | None) -> Value:
    """The reduction `result` of `value`, which is there where the mask leaves any element of it."""
    return call.finish_where(mask_left(call, value.shape, axes, result.shape), result, given)


def mask_left(call: Call, shape: Sequence[Expr], axes: Sequence[int], reduced: Sequence[Expr]) -> Grid | Expr | None:
    """The mask of the call on a tile of shape `reduced`: what was one of `shape` without the dimensions `axes`."""
    left = remaining(call.mask_at(len(shape)), shape, axes)
    is_kept = len(reduced) == len(shape)
    kept = [at for at in range(len(shape)) if is_kept or at not in axes]
    return mask_of_tile(call.context, left, reduced, {old: new for new, old in enumerate(kept)})


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
    numbers: list[int | None] = [known_int(size) for size in sizes] if sizes is not None else [None]
    if call.api.semantics is Semantics.REDUCE_LAST and numbers == [1]:
        numbers = [rank - 1]
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
        result = scaled(call, result, elements(call, value, (0,)))
    return _finished(call, result, value, (0,), given)


def elements(call: Call, value: Operand, axes: Sequence[int]) -> Operand:
    """How many elements of `value` a reduction over `axes` combines: all, or those the mask of the call leaves."""
    return elements_where(call, call.mask_at(len(value.shape)), value.shape, axes)


def elements_where(call: Call, mask: Expr | None, shape: tuple[Expr, ...], axes: Sequence[int]) -> Operand:
    """As `elements`, of a tile of `shape` where `mask` holds."""
    names = {place(axis) for axis in axes}
    inside = [part for part in conditions(mask) if symbols_in(part) & names]
    if not inside:
        count = product(tuple(shape[axis] for axis in axes))
        return Operand(count, count.dtype)
    truth = together(inside)
    assert truth is not None
    ones = cast(call.context, Operand(truth, BOOL, shape), FLOAT32, call.via)
    return combine_where(call, None, Operator.ADD, ones, axes)


def over_loop(call: Call) -> Value:
    """A tile that each round of a loop combines with the tile that the result is assigned to."""
    operator = ir_operator(operator_object(call.context, call.given(Role.OPERATOR)))
    given = call.given(Role.SOURCE)
    if operator not in _COMMUTATIVE or not isinstance(given, View | Result):
        raise MisunderstoodError("the operator or the operand is not understood")
    call.asked.update((Role.AXIS, Role.MASK, Role.DTYPE))
    return Joining(call, operator, given)


_COMMUTATIVE = frozenset({Operator.ADD, Operator.MULTIPLY, Operator.MAXIMUM, Operator.MINIMUM})


def scaled(call: Call, total: Operand, count: Operand) -> Operand:
    """`total` times one over `count`: a mean."""
    if count.is_scalar:
        one = literal(1.0)
        share = cast(
            call.context, Operand(Apply(Operator.DIVIDE, (one, count.expression), one.dtype), one.dtype), FLOAT32
        )
    else:
        share = compute(call.context, Operator.RECIPROCAL, (count,), FLOAT32, via=call.via)
    return compute(call.context, Operator.MULTIPLY, (total, share), FLOAT32, via=call.via)


def mean(call: Call) -> Value:
    """The mean over free axes."""
    given = call.given(Role.SOURCE)
    value = operand(call.context, given)
    if value is None:
        raise MisunderstoodError("the operand is not understood")
    return _finished(call, average(call, value), value, axes_of(call, len(value.shape)), given)


def average(call: Call, value: Operand) -> Operand:
    """The mean of `value` over the axes of the call, in float32."""
    total = _along(call, Operator.ADD, value)
    axes = axes_of(call, len(value.shape))
    count = elements(call, value, axes)
    if len(count.shape) > len(total.shape):
        raise MisunderstoodError("a mean of masked elements that loses dimensions")
    return scaled(call, total, count)


def variance(call: Call) -> Value:
    """The population variance over free axes: the mean of the squared distances from the mean."""
    given = call.given(Role.SOURCE)
    value = operand(call.context, given)
    if value is None:
        raise MisunderstoodError("the operand is not understood")
    context = call.context
    axes = axes_of(call, len(value.shape))
    count = elements(call, value, axes)
    center = scaled(call, combine_over(call, Operator.ADD, value, axes), count)
    distance = compute(context, Operator.SUBTRACT, (value, center), FLOAT32, via=call.via)
    square = compute(context, Operator.SQUARE, (distance,), FLOAT32, via=call.via)
    spread = scaled(call, combine_over(call, Operator.ADD, square, axes), count)
    return _finished(call, spread, value, axes, given)


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
    inside = as_dtype(context, call.given(Role.COMPUTE_DTYPE))
    if inside != FLOAT32 and call.given(Role.COMPUTE_DTYPE) is not None:
        raise MisunderstoodError("where what is computed in another dtype is rounded is not documented")
    axes = axes_of(call, len(value.shape))
    value = cast(context, value, FLOAT32, call.via)
    square = compute(context, Operator.SQUARE, (value,), FLOAT32, via=call.via)
    total = combine_over(call, Operator.ADD, square, axes)
    number = elements(call, value, axes) if count is None else Operand(count, count.dtype)
    center = scaled(call, total, number)
    shifted = compute(context, Operator.ADD, (center, epsilon), FLOAT32, via=call.via)
    scale = compute(context, Operator.RSQRT, (shifted,), FLOAT32, via=call.via, approximate=True)
    normal = compute(context, Operator.MULTIPLY, (value, scale), FLOAT32, via=call.via)
    return call.finish(compute(context, Operator.MULTIPLY, (normal, factor), FLOAT32, via=call.via), given, weight)
