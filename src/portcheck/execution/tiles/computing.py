"""Operations on values, element by element: arithmetic, casts, choices, transposes, exchanges between partitions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from portcheck.core.dtype import BOOL, FLOAT32, FLOAT64, DType
from portcheck.execution.arithmetic.conversions import bits
from portcheck.execution.arithmetic.formats import Value, storage
from portcheck.execution.arithmetic.operators import function, working_dtype
from portcheck.execution.tiles.activations import outliers
from portcheck.execution.tiles.converting import converted, settled
from portcheck.execution.tiles.events import EventKind
from portcheck.execution.tiles.expressions import (
    elements_of,
    integer_of,
    joined,
    positions,
    shape_of,
    undefined_in,
    value_of,
)  # fmt: skip
from portcheck.execution.tiles.machine import Instance
from portcheck.execution.tiles.memory import Tile
from portcheck.execution.tiles.options import NanRule
from portcheck.ir import (
    Cast,
    Compute,
    Exchange,
    ExchangeKind,
    Expr,
    Op,
    Operator,
    Random,
    Select,
    Sort,
    Transpose,
)  # fmt: skip

_EXTREMES = {Operator.MINIMUM: np.minimum, Operator.MAXIMUM: np.maximum}


def compute(instance: Instance, op: Compute) -> None:
    """One operator on tiles."""
    machine = instance.machine
    dtype, shape = machine.dtype(op.type.dtype), shape_of(instance, op.type.shape)
    instance.spend(op, math.prod(shape))
    formats = working_dtype(op.operator, dtype, tuple(machine.dtype(operand.dtype) for operand in op.operands))
    with positions(instance, shape, op.mask, *op.operands):
        operands = [
            operand_in(instance, op, operand, wanted) for operand, wanted in zip(op.operands, formats, strict=True)
        ]
        mask = None if op.mask is None else np.asarray(value_of(instance, op.mask), dtype=np.bool_)
    undefined = undefined_among(instance, op.operands)
    data = applied(instance, op, op.operator, dtype, formats, operands, undefined)
    if mask is not None and not mask.all():
        undefined = joined(undefined, ~mask)
    if len(operands) == 1:
        undefined = outliers(instance, op, operands[0], undefined)
    keep(instance, op, op.id, (data, undefined), shape)


def operand_in(instance: Instance, op: Op, expression: Expr, wanted: DType) -> Value:
    """An operand in the format that it is computed with."""
    own = instance.machine.dtype(expression.dtype)
    found = value_of(instance, expression)
    if not isinstance(found, np.ndarray | np.generic):
        return elements_of(instance, expression, wanted)
    undefined = undefined_in(instance, expression)
    return converted(instance, op, elements_of(instance, expression), own, wanted, undefined=undefined)


def applied(
    instance: Instance, op: Op, operator: Operator, dtype: DType, formats: tuple[DType, ...], operands: Sequence[Value],
    undefined: Value | None = None,
) -> Value:  # fmt: skip
    """`operator` on operands, and the choices that came into it; those of `undefined` elements are none."""
    called = function(operator, dtype, formats)
    try:
        result = called(*operands)
    except ValueError:
        shapes = " and ".join(str(np.shape(operand)) for operand in operands)
        raise instance.stop(EventKind.SHAPE_MISMATCH, op, f"{op.via} of tiles of {shapes}") from None
    if operator not in _EXTREMES or not dtype.is_float:
        return settled(instance, op, result, dtype) if dtype == FLOAT32 else result
    return ruled(instance, op, result, _EXTREMES[operator](*operands), undefined)


def ruled(instance: Instance, op: Op, result: Value, spoilt: Value, undefined: Value | None) -> Value:
    """The larger or smaller of floats where some are NaN: `result` without them or `spoilt`, as the option says."""
    is_nan = np.isnan(spoilt)
    if undefined is not None:
        is_nan = is_nan & ~undefined
    if not is_nan.any():
        return result
    instance.choose("nan", op, "the larger or smaller of a number and NaN")
    if instance.options.nan is NanRule.NUMBER:
        return result
    return spoilt


def undefined_among(instance: Instance, expressions: Sequence[Expr]) -> Value | None:
    """Which elements are undefined because an operand is."""
    found = None
    for expression in expressions:
        found = joined(found, undefined_in(instance, expression))
    return found


def keep(instance: Instance, op: Op, id: int, found: tuple[Value, Value | None], shape: tuple[int, ...]) -> None:
    """Keeps the result of an operation, in full where operands of extent 1 were repeated."""
    data, undefined = found
    if np.shape(data) != shape:
        try:
            data = np.broadcast_to(data, shape)
        except ValueError:
            text = f"{op.via} gives a tile of {np.shape(data)} where one of {shape} is stated"
            raise instance.stop(EventKind.SHAPE_MISMATCH, op, text) from None
    if undefined is not None:
        undefined = np.broadcast_to(undefined, shape) if undefined.any() else None
    instance.results[id] = Tile(data, undefined)


def cast_value(instance: Instance, op: Cast) -> None:
    """A change of format, or of how bits are read."""
    machine = instance.machine
    source, target = machine.dtype(op.operand.dtype), machine.dtype(op.type.dtype)
    shape = shape_of(instance, op.type.shape)
    instance.spend(op, math.prod(shape))
    with positions(instance, shape, op.operand):
        value = value_of(instance, op.operand)
        is_elements = isinstance(value, np.ndarray | np.generic)
        data = elements_of(instance, op.operand, None if is_elements else target)
    undefined = undefined_in(instance, op.operand)
    if is_elements and op.bitwise:
        data = bits(source, target)(np.ascontiguousarray(data))
    elif is_elements:
        data = converted(instance, op, data, source, target, op.rounding, op.saturating, undefined)
    keep(instance, op, op.id, (data, undefined), shape)


def select(instance: Instance, op: Select) -> None:
    """One of two values, element by element."""
    dtype, shape = instance.machine.dtype(op.type.dtype), shape_of(instance, op.type.shape)
    instance.spend(op, math.prod(shape))
    with positions(instance, shape, op.condition, op.on_true, op.on_false):
        condition = operand_in(instance, op, op.condition, BOOL)
        on_true, on_false = (operand_in(instance, op, side, dtype) for side in (op.on_true, op.on_false))
    undefined = undefined_in(instance, op.condition)
    sides = undefined_in(instance, op.on_true), undefined_in(instance, op.on_false)
    if any(side is not None for side in sides):
        nothing = np.zeros((), np.bool_)
        chosen = np.where(condition, *(nothing if side is None else side for side in sides))
        undefined = joined(undefined, chosen)
    try:
        data = np.where(condition, on_true, on_false)
    except ValueError:
        text = f"chooses between tiles of {np.shape(on_true)} and {np.shape(on_false)}"
        raise instance.stop(EventKind.SHAPE_MISMATCH, op, text) from None
    keep(instance, op, op.id, (data, undefined), shape)


def transpose(instance: Instance, op: Transpose) -> None:
    """The dimensions of a tile in another order."""
    dtype, shape = instance.machine.dtype(op.type.dtype), shape_of(instance, op.type.shape)
    instance.spend(op, math.prod(shape))
    data = operand_in(instance, op, op.operand, dtype)
    undefined = undefined_in(instance, op.operand)
    turned = None if undefined is None else np.transpose(np.broadcast_to(undefined, data.shape), op.permutation)
    keep(instance, op, op.id, (np.transpose(data, op.permutation), turned), shape)


def exchange(instance: Instance, op: Exchange) -> None:
    """Values moved between the partitions of a tile, by a pattern for each group of them."""
    dtype, shape = instance.machine.dtype(op.type.dtype), shape_of(instance, op.type.shape)
    instance.spend(op, math.prod(shape))
    if op.kind is not ExchangeKind.PATTERN or op.lanes_mask is not None:
        raise instance.stop(EventKind.NOT_EXECUTED, op, f"an exchange ({op.kind}) is not run")
    data = np.broadcast_to(operand_in(instance, op, op.operand, dtype), shape)
    width, lanes = integer_of(instance, op.width), np.arange(shape[0])
    source = lanes - lanes % width + np.asarray(op.pattern)[lanes % width]
    is_inside = source < shape[0]
    taken = data[np.where(is_inside, source, 0)]
    undefined = undefined_in(instance, op.operand)
    moved = None if undefined is None else np.broadcast_to(undefined, shape)[np.where(is_inside, source, 0)]
    lost = None if is_inside.all() else ~is_inside.reshape(-1, *[1] * (len(shape) - 1))
    keep(instance, op, op.id, (taken, joined(moved, lost)), shape)


def sort(instance: Instance, op: Sort) -> None:
    """The positions that put a dimension in order, equal elements by position."""
    dtype, shape = instance.machine.dtype(op.operand.dtype), shape_of(instance, op.type.shape)
    instance.spend(op, math.prod(shape))
    data = np.broadcast_to(operand_in(instance, op, op.operand, dtype), shape)
    if dtype.is_float and np.isnan(data).any():
        instance.report(EventKind.ASSUMED, op, "where NaN comes in an order", subject="order of NaN")
    if op.descending:
        backwards = np.argsort(np.flip(data, op.dimension), axis=op.dimension, kind="stable")
        found = shape[op.dimension] - 1 - np.flip(backwards, op.dimension)
    else:
        found = np.argsort(data, axis=op.dimension, kind="stable")
    undefined = undefined_in(instance, op.operand)
    if undefined is not None:
        undefined = np.asarray(np.logical_or.reduce(np.broadcast_to(undefined, shape), op.dimension, keepdims=True))
    keep(instance, op, op.id, (found.astype(storage(instance.machine.dtype(op.type.dtype))), undefined), shape)


def random(instance: Instance, op: Random) -> None:
    """Random numbers of the run's own: which the engines draw is not documented."""
    dtype, shape = instance.machine.dtype(op.type.dtype), shape_of(instance, op.type.shape)
    generator = instance.machine.run.random
    instance.spend(op, math.prod(shape))
    if generator is None:
        raise instance.stop(EventKind.NOT_EXECUTED, op, f"random numbers ({op.via}) need Options.draws")
    instance.report(EventKind.ASSUMED, op, "random numbers are a stream of the run's own", subject="random")
    if op.distribution not in ("", "uniform"):
        raise instance.stop(EventKind.NOT_EXECUTED, op, f"numbers of the distribution {op.distribution} are not drawn")
    keep(instance, op, op.id, (_drawn(instance, op, generator, dtype, shape), None), shape)


def _drawn(
    instance: Instance, op: Random, generator: np.random.Generator, dtype: DType, shape: tuple[int, ...]
) -> Value:  # fmt: skip
    if dtype.is_integer:
        return generator.integers(0, 1 << 32, shape, dtype=np.uint64).astype(storage(dtype))
    limits = [float(elements_of(instance, operand, FLOAT64)) for operand in op.operands] or [0.0, 1.0]
    return (limits[0] + (limits[-1] - limits[0]) * generator.random(shape)).astype(storage(dtype))
