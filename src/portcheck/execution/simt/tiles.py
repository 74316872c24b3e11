"""Operations on whole tiles that each thread holds: products, transposes, reductions and scans along a dimension."""

from __future__ import annotations

import numpy as np

from portcheck.core.dtype import DType
from portcheck.core.errors import InputError
from portcheck.execution.arithmetic.conversions import conversion
from portcheck.execution.arithmetic.formats import Value
from portcheck.execution.arithmetic.operators import Function, function
from portcheck.execution.simt.batch import Batch
from portcheck.execution.simt.compilation import Code, Compilation, Step
from portcheck.execution.simt.expressions import code_of, extent_of
from portcheck.ir import Expr, Matmul, Operator, Reduce, Ref, Scan, Transpose, ValueType


def tile(compilation: Compilation, expression: Expr, dtype: DType) -> Code:
    """A tile with all its elements for every thread; InputError for an expression that is none."""
    definition = compilation.definitions.get(expression.id) if isinstance(expression, Ref) else None
    value_type = getattr(definition, "type", None)
    if not isinstance(value_type, ValueType) or not value_type.shape:
        raise InputError("an operation on a tile that has no shape is not executed")
    extents = tuple(extent_of(compilation, extent) for extent in value_type.shape)
    code = code_of(compilation, expression, dtype, len(extents))
    return lambda batch: np.broadcast_to(code(batch), (batch.active.count, *extents))


def transpose(compilation: Compilation, op: Transpose) -> Step:
    """The dimensions of a tile in another order."""
    slot, operand = compilation.slot(op.id), tile(compilation, op.operand, op.operand.dtype)
    order = (0, *(1 + dimension for dimension in op.permutation))

    def run(batch: Batch) -> None:
        batch.slots[slot] = operand(batch).transpose(order)

    return run


def matmul(compilation: Compilation, op: Matmul) -> Step:
    """Tile products, summed term by term over the first dimension of both in the format `accumulate`."""
    slot, kept = compilation.slot(op.id), op.accumulate.dtype
    stationary, moving = (tile(compilation, operand, kept) for operand in (op.stationary, op.moving))
    multiply = function(Operator.MULTIPLY, kept, (kept, kept))
    add = function(Operator.ADD, kept, (kept, kept))
    narrow = conversion(kept, op.type.dtype)

    def run(batch: Batch) -> None:
        left, right = stationary(batch), moving(batch)
        total = multiply(left[:, 0, :, None], right[:, 0, None, :])
        for term in range(1, left.shape[1]):
            total = add(total, multiply(left[:, term, :, None], right[:, term, None, :]))
        batch.slots[slot] = narrow(total)

    return run


def reduce_dimensions(compilation: Compilation, op: Reduce) -> Step:
    """Elements of a tile combined along dimensions, one after the other."""
    slot, kept = compilation.slot(op.id), op.accumulate.dtype
    if op.mask is not None:
        raise InputError("a reduction with a mask is not executed")
    operand = tile(compilation, op.operand, kept)
    combine = function(op.operator, kept, (kept, kept))
    narrow = conversion(kept, op.type.dtype)
    dimensions = tuple(sorted((1 + dimension for dimension in op.dimensions), reverse=True))

    def run(batch: Batch) -> None:
        value = operand(batch)
        for dimension in dimensions:
            value = _combined(value, dimension, combine, op.keep_dimensions)
        batch.slots[slot] = narrow(value)

    return run


def _combined(value: Value, dimension: int, combine: Function, keeps: bool) -> Value:
    parts = np.moveaxis(value, dimension, 0)
    total = parts[0]
    for part in parts[1:]:
        total = combine(total, part)
    return np.expand_dims(total, dimension) if keeps else total


def scan_dimension(compilation: Compilation, op: Scan) -> Step:
    """A running combination along one dimension of a tile."""
    if op.dimension is None or op.mask is not None:
        raise InputError("a scan with a mask is not executed")
    slot, dimension = compilation.slot(op.id), 1 + op.dimension
    kept = (op.accumulate or op.type).dtype
    operands = [tile(compilation, operand, kept) for operand in op.operands]
    initial = None if op.initial is None else code_of(compilation, op.initial, kept)
    scanner = Scanner(op, kept)
    narrow = conversion(kept, op.type.dtype)

    def run(batch: Batch) -> None:
        parts = [np.moveaxis(operand(batch), dimension, 0) for operand in operands]
        first = None if initial is None else initial(batch)
        batch.slots[slot] = narrow(np.moveaxis(np.stack(scanner.results(parts, first)), 0, dimension))

    return run


class Scanner:
    """The recurrence of a scan, over a list of values."""

    def __init__(self, op: Scan, kept: DType) -> None:
        self._combine = function(op.operator, kept, (kept, kept))
        self._multiply = None if op.multiplier is None else function(op.multiplier, kept, (kept, kept))
        self._inclusive = op.inclusive
        self._reverse = op.reverse

    def results(self, operands: list[Value], initial: Value | None) -> list[Value]:
        """What stands at each place, in the order of the places."""
        places = range(len(operands[0]))
        found: dict[int, Value] = {}
        before = initial
        for place in reversed(places) if self._reverse else places:
            after = self._next(before, [operand[place] for operand in operands])
            kept = after if self._inclusive or before is None else before
            found[place] = np.zeros_like(after) if not self._inclusive and before is None else kept
            before = after
        return [np.broadcast_to(found[place], np.shape(found[places[-1]])) for place in places]

    def _next(self, before: Value | None, terms: list[Value]) -> Value:
        if self._multiply is None:
            return terms[0] if before is None else self._combine(before, terms[0])
        return terms[1] if before is None else self._combine(self._multiply(terms[0], before), terms[1])
