"""Operations that combine elements of a tile: reductions, scans, matrix products."""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from portcheck.core.dtype import FLOAT32, FLOAT64, DType
from portcheck.execution.arithmetic.conversions import conversion
from portcheck.execution.arithmetic.formats import Value
from portcheck.execution.tiles.computing import applied, keep, operand_in, ruled
from portcheck.execution.tiles.converting import converted
from portcheck.execution.tiles.events import EventKind
from portcheck.execution.tiles.expressions import elements_of, positions, shape_of, undefined_in, value_of
from portcheck.execution.tiles.limits import check_matmul
from portcheck.execution.tiles.machine import Instance
from portcheck.execution.tiles.memory import Tile
from portcheck.execution.tiles.options import SumOrder
from portcheck.ir import Expr, Matmul, Op, Operator, Order, Reduce, Scan
from portcheck.ir.operators import ROUNDING_FREE

_STATED = {Order.SEQUENTIAL: SumOrder.SEQUENTIAL, Order.PAIRWISE: SumOrder.PAIRWISE}
_NEUTRAL = {
    Operator.ADD: 0, Operator.SUBTRACT: 0, Operator.MULTIPLY: 1, Operator.LOGICAL_OR: 0, Operator.LOGICAL_XOR: 0,
    Operator.BITWISE_OR: 0, Operator.BITWISE_XOR: 0, Operator.LOGICAL_AND: 1, Operator.BITWISE_AND: -1,
    Operator.MAXIMUM: -math.inf, Operator.MINIMUM: math.inf,
}  # fmt: skip


def reduce(instance: Instance, op: Reduce) -> None:
    """Elements combined along dimensions."""
    machine = instance.machine
    if op.lanes is not None:
        raise instance.stop(EventKind.NOT_EXECUTED, op, "a reduction over lanes is not run")
    kept, dtype = machine.dtype(op.accumulate.dtype), machine.dtype(op.type.dtype)
    tile = full_operand(instance, op, op.operand, kept)
    instance.spend(op, tile.data.size)
    tile, missing = _taking_part(instance, op, tile)
    moved = np.moveaxis(tile.data, op.dimensions, range(-len(op.dimensions), 0))
    kept_shape = moved.shape[: moved.ndim - len(op.dimensions)]
    rows = moved.reshape(*kept_shape, math.prod(moved.shape[len(kept_shape) :]))
    order = _order(instance, op, op.order, op.operator, kept, rows.shape[-1])
    undefined = missing
    if tile.undefined is not None:
        some = np.asarray(tile.undefined.any(axis=op.dimensions))
        undefined = some if undefined is None else undefined | some
    data = converted(instance, op, _combined(instance, op, Tile(rows, undefined), kept, order), kept, dtype)
    if op.keep_dimensions:
        data = np.expand_dims(data, op.dimensions)
        undefined = None if undefined is None else np.expand_dims(undefined, op.dimensions)
    keep(instance, op, op.id, (data, undefined), shape_of(instance, op.type.shape))


def full_operand(instance: Instance, op: Op, expression: Expr, dtype: DType) -> Tile:
    """An operand as a tile of `dtype` whose elements and undefined elements have one shape."""
    data = operand_in(instance, op, expression, dtype)
    undefined = undefined_in(instance, expression)
    return Tile(data, None if undefined is None else np.broadcast_to(undefined, data.shape))


def _taking_part(instance: Instance, op: Reduce, tile: Tile) -> tuple[Tile, Value | None]:
    """The elements where the mask holds, neutral ones for the others; which results have no element at all."""
    if op.mask is None:
        return tile, None
    shape = tile.data.shape
    with positions(instance, shape, op.mask):
        mask = np.broadcast_to(np.asarray(value_of(instance, op.mask), dtype=np.bool_), shape)
    if mask.all():
        return tile, None
    if op.operator not in _NEUTRAL:
        raise instance.stop(EventKind.NOT_EXECUTED, op, f"a masked reduction by {op.operator} is not run")
    neutral = _neutral(op.operator, tile.data)
    undefined = None if tile.undefined is None else tile.undefined & mask
    return Tile(np.where(mask, tile.data, neutral), undefined), ~np.asarray(mask.any(axis=op.dimensions))


def _neutral(operator: Operator, data: Value) -> Value:
    value = _NEUTRAL[operator]
    if data.dtype.kind in "iub" and not math.isfinite(value):
        limits = np.iinfo(data.dtype)
        value = limits.min if value < 0 else limits.max
    return cast(Value, np.asarray(value).astype(data.dtype))


def _order(
    instance: Instance, op: Op, stated: Order, operator: Operator, dtype: DType, count: int
) -> SumOrder:  # fmt: skip
    """In which order terms are combined: as documented, else as chosen."""
    if stated in _STATED:
        return _STATED[stated]
    if dtype.is_float and operator not in ROUNDING_FREE and count > len(("first", "second")):
        instance.choose("sums", op, "the order of the terms inside an instruction")
    return instance.options.sums


def _combined(instance: Instance, op: Reduce, tile: Tile, dtype: DType, order: SumOrder) -> Value:
    """The last dimension of a tile combined; what is undefined are the results."""
    rows = tile.data
    if not rows.shape[-1]:
        raise instance.stop(EventKind.NOT_EXECUTED, op, "a reduction of nothing is not run")
    if op.operator is Operator.ADD and dtype == FLOAT32:
        return summed(rows, order)
    if op.operator in ROUNDING_FREE and dtype.is_float and op.operator in (Operator.MAXIMUM, Operator.MINIMUM):
        return extreme(instance, op, op.operator, rows, tile.undefined)
    return _folded(instance, op, rows, dtype, order)


def summed(rows: Value, order: SumOrder) -> Value:
    """Float32 numbers along the last dimension added up."""
    if order is SumOrder.EXACT or not rows.shape[-1]:
        return cast(Value, rows.sum(axis=-1, dtype=np.float64).astype(np.float32))
    if order is SumOrder.PAIRWISE:
        return _in_pairs(rows)
    terms = rows if order is SumOrder.SEQUENTIAL else rows[..., ::-1]
    running: Value = np.add.accumulate(terms, axis=-1, dtype=np.float32)
    last: Value = running[..., -1]
    return last


def _in_pairs(rows: Value) -> Value:
    while rows.shape[-1] > 1:
        odd = rows[..., -1:] if rows.shape[-1] % 2 else rows[..., :0]
        even = rows[..., : rows.shape[-1] - odd.shape[-1]]
        rows = np.concatenate([even[..., 0::2] + even[..., 1::2], odd], axis=-1)
    first: Value = rows[..., 0]
    return first


def extreme(instance: Instance, op: Op, operator: Operator, rows: Value, undefined: Value | None) -> Value:
    """The largest or smallest along the last dimension; where there is NaN, as the option says."""
    find = np.fmax if operator is Operator.MAXIMUM else np.fmin
    result = cast(Value, find.reduce(rows, axis=-1))
    if not np.isnan(rows).any():
        return result
    spoilt = np.where(np.isnan(rows).any(axis=-1), np.nan, result).astype(rows.dtype)
    return ruled(instance, op, result, spoilt, undefined)


def _folded(instance: Instance, op: Reduce, rows: Value, dtype: DType, order: SumOrder) -> Value:
    """One element after the other; from the last for the reversed order."""
    terms = np.moveaxis(rows if order is not SumOrder.REVERSED else rows[..., ::-1], -1, 0)
    total = terms[0]
    for term in terms[1:]:
        total = applied(instance, op, op.operator, dtype, (dtype, dtype), (total, term))
    return np.asarray(total)


def scan(instance: Instance, op: Scan) -> None:
    """A running combination along a dimension."""
    machine = instance.machine
    shape = shape_of(instance, op.type.shape)
    if op.dimension is None or op.mask is not None:
        raise instance.stop(EventKind.NOT_EXECUTED, op, "a scan over lanes, or a masked one, is not run")
    dtype = machine.dtype(op.type.dtype)
    kept = dtype if op.accumulate is None else machine.dtype(op.accumulate.dtype)
    tiles = [full_operand(instance, op, operand, kept) for operand in op.operands]
    instance.spend(op, math.prod(shape))
    terms = [np.moveaxis(np.broadcast_to(tile.data, shape), op.dimension, 0) for tile in tiles]
    steps = range(shape[op.dimension])
    state = None if op.initial is None else _initial(instance, op, kept, terms[0][0].shape)
    result = np.empty(terms[0].shape, terms[0].dtype)
    for place in reversed(steps) if op.reverse else steps:
        before = state
        state = _step(instance, op, kept, [term[place] for term in terms], state)
        result[place] = state if op.inclusive else _before(instance, op, kept, before, state.shape)
    data = converted(instance, op, np.moveaxis(result, 0, op.dimension), kept, dtype)
    keep(instance, op, op.id, (data, _undefined_after(instance, op, tiles, shape)), shape)


def _initial(instance: Instance, op: Scan, dtype: DType, shape: tuple[int, ...]) -> Value:
    assert op.initial is not None
    found = elements_of(instance, op.initial, dtype)
    return np.broadcast_to(found.reshape(shape) if found.size == math.prod(shape) else found, shape)


def _step(instance: Instance, op: Scan, dtype: DType, terms: list[Value], state: Value | None) -> Value:
    """The next value: operator(state, a), or operator(multiplier(a, state), b)."""
    both = (dtype, dtype)
    if state is None:
        return terms[-1]
    if op.multiplier is not None:
        state = applied(instance, op, op.multiplier, dtype, both, (terms[0], state))
    return applied(instance, op, op.operator, dtype, both, (state, terms[-1]))


def _before(instance: Instance, op: Scan, dtype: DType, state: Value | None, shape: tuple[int, ...]) -> Value:
    if state is None:
        raise instance.stop(EventKind.NOT_EXECUTED, op, "an exclusive scan without an initial value is not run")
    return state


def _undefined_after(instance: Instance, op: Scan, tiles: list[Tile], shape: tuple[int, ...]) -> Value | None:
    """Everything from the first undefined element on is undefined."""
    assert op.dimension is not None
    found: Value | None = None
    for tile in tiles:
        if tile.undefined is not None:
            part = np.broadcast_to(tile.undefined, shape)
            part = np.flip(part, op.dimension) if op.reverse else part
            part = np.logical_or.accumulate(part, axis=op.dimension)
            part = np.flip(part, op.dimension) if op.reverse else part
            found = part if found is None else found | part
    started = None if op.initial is None else undefined_in(instance, op.initial)
    if started is not None and started.any():
        found = np.broadcast_to(started, shape) if found is None else found | started
    return found


def matmul(instance: Instance, op: Matmul) -> None:
    """The product of the transposed stationary operand with the moving one, summed in float32."""
    machine = instance.machine
    left, right = (_matrix(instance, op, operand) for operand in (op.stationary, op.moving))
    contracted = left.data.shape[0]
    if contracted != right.data.shape[0]:
        text = f"contracts {contracted} elements with {right.data.shape[0]}"
        raise instance.stop(EventKind.SHAPE_MISMATCH, op, text)
    check_matmul(instance, op, contracted, left.data.shape[1], right.data.shape[1])
    instance.spend(op, left.data.size * right.data.shape[1])
    kept, dtype = machine.dtype(op.accumulate.dtype), machine.dtype(op.type.dtype)
    order = _order(instance, op, op.order, Operator.ADD, kept, contracted)
    if kept != FLOAT32:
        raise instance.stop(EventKind.NOT_EXECUTED, op, f"products summed in {kept} are not run")
    data = converted(instance, op, _product(left.data, right.data, order), kept, dtype)
    keep(instance, op, op.id, (data, _spread(left, right)), data.shape)


def _matrix(instance: Instance, op: Matmul, expression: Expr) -> Tile:
    tile = full_operand(instance, op, expression, FLOAT32)
    if tile.data.ndim != len(("rows", "columns")):
        raise instance.stop(EventKind.SHAPE_MISMATCH, op, f"an operand has {tile.data.ndim} dimensions")
    return tile


def _product(left: Value, right: Value, order: SumOrder) -> Value:
    if order is SumOrder.EXACT:
        wide = conversion(FLOAT32, FLOAT64)
        return cast(Value, (wide(left).T @ wide(right)).astype(np.float32))
    if order is SumOrder.PAIRWISE:
        terms = left[:, :, None] * right[:, None, :]
        return summed(np.moveaxis(terms, 0, -1), order)
    rows = range(left.shape[0])
    total: Value = np.zeros((left.shape[1], right.shape[1]), np.float32)
    for row in rows if order is SumOrder.SEQUENTIAL else reversed(rows):
        total += left[row][:, None] * right[row]
    return total


def _spread(left: Tile, right: Tile) -> Value | None:
    """Which elements of a product have an undefined factor."""
    if left.undefined is None and right.undefined is None:
        return None
    nothing = np.zeros((), np.bool_)
    rows = nothing if left.undefined is None else np.asarray(left.undefined.any(axis=0))[:, None]
    columns = nothing if right.undefined is None else np.asarray(right.undefined.any(axis=0))[None, :]
    return np.broadcast_to(rows | columns, (left.data.shape[1], right.data.shape[1]))
