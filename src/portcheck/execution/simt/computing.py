"""Operations on the values of one thread: arithmetic, casts, choices, and work on whole tiles."""

from __future__ import annotations

import numpy as np

from portcheck.core.dtype import DType
from portcheck.core.errors import InputError
from portcheck.execution.simt.batch import Batch
from portcheck.execution.simt.compilation import Code, Compilation, Step
from portcheck.execution.simt.conversions import bits, conversion
from portcheck.execution.simt.events import EventKind
from portcheck.execution.simt.expressions import called_with, code_of, compiled
from portcheck.execution.simt.formats import Value
from portcheck.execution.simt.operators import Function, function, working_dtype
from portcheck.ir import Cast, Compute, Matmul, Operator, Reduce, Ref, Scan, Select, Transpose

_DIVISIONS = frozenset({
    Operator.TRUNCATED_DIVIDE, Operator.TRUNCATED_MODULO, Operator.FLOOR_DIVIDE, Operator.FLOOR_MODULO,
    Operator.CEILING_DIVIDE,
})  # fmt: skip


def compute(compilation: Compilation, op: Compute) -> Step | None:
    """One operator on data; None for a product that is fused into the sum that takes it."""
    if op.id in compilation.fused:
        return None
    slot = compilation.slot(op.id)
    code = _fused_sum(compilation, op) or _plain(compilation, op)

    def run(batch: Batch) -> None:
        batch.slots[slot] = code(batch)

    return run


def _plain(compilation: Compilation, op: Compute) -> Code:
    rank, dtype = len(op.type.shape), op.type.dtype
    formats = working_dtype(op.operator, dtype, tuple(operand.dtype for operand in op.operands))
    called = function(op.operator, dtype, formats, op.rounding)
    parts = [
        code_of(compilation, operand, wanted, rank) for operand, wanted in zip(op.operands, formats, strict=True)
    ]  # fmt: skip
    if op.operator in _DIVISIONS and dtype.is_integer:
        parts[1] = _nonzero(op, parts[1])
    return called_with(called, parts)


def _nonzero(op: Compute, divisor: Code) -> Code:
    """The divisor, with a report where it is 0."""

    def checked(batch: Batch) -> Value:
        value = divisor(batch)
        if not np.all(value):
            zeros = np.flatnonzero(np.broadcast_to(value, (batch.active.count, *value.shape[1:])) == 0)
            thread = batch.numbers()[zeros[0] % batch.active.count]
            batch.report(EventKind.DIVISION_BY_ZERO, op.span, "divides an integer by 0", thread, len(zeros))
        return value

    return checked


def _fused_sum(compilation: Compilation, op: Compute) -> Code | None:
    """A sum whose product is fused into it, the left one first, as LLVM does for PTX."""
    product = product_of(compilation, op)
    if product is None:
        return None
    position = next(i for i, operand in enumerate(op.operands) if isinstance(operand, Ref) and operand.id == product.id)
    rank, dtype = len(op.type.shape), op.type.dtype
    factors = [code_of(compilation, operand, dtype, rank) for operand in product.operands]
    addend = code_of(compilation, op.operands[1 - position], dtype, rank)
    if op.operator is Operator.SUBTRACT and position == 0:
        addend = called_with(np.negative, [addend])
    elif op.operator is Operator.SUBTRACT:
        factors[0] = called_with(np.negative, [factors[0]])
    return called_with(function(Operator.FMA, dtype, (dtype,) * 3), [*factors, addend])


def product_of(compilation: Compilation, op: Compute) -> Compute | None:
    """The product that the sum `op` is fused with; None if it is with none."""
    if not compilation.options.contracts or not op.contractible or not op.type.dtype.is_float:
        return None
    if op.operator not in (Operator.ADD, Operator.SUBTRACT):
        return None
    for operand in op.operands:
        product = compilation.definitions.get(operand.id) if isinstance(operand, Ref) else None
        if not isinstance(product, Compute) or compilation.uses[product.id] != 1:
            continue
        is_product = product.operator is Operator.MULTIPLY and product.contractible
        if is_product and product.type == op.type and product.mask is None:
            return product
    return None


def convert(compilation: Compilation, op: Cast) -> Step:
    """A change of format, or of how bits are read."""
    slot, source, target = compilation.slot(op.id), op.operand.dtype, op.type.dtype
    change = bits(source, target) if op.bitwise else conversion(source, target, op.rounding, op.saturating)
    operand = code_of(compilation, op.operand, None, len(op.type.shape))

    def run(batch: Batch) -> None:
        batch.slots[slot] = change(operand(batch))

    return run


def select(compilation: Compilation, op: Select) -> Step:
    """One of two values, thread by thread."""
    slot, rank = compilation.slot(op.id), len(op.type.shape)
    condition = compiled(compilation, op.condition, None, rank).code
    on_true = code_of(compilation, op.on_true, op.type.dtype, rank)
    on_false = code_of(compilation, op.on_false, op.type.dtype, rank)

    def run(batch: Batch) -> None:
        chosen = condition(batch)
        if chosen.ndim == 0:
            batch.slots[slot] = on_true(batch) if chosen else on_false(batch)
        else:
            batch.slots[slot] = np.where(chosen, on_true(batch), on_false(batch))

    return run


def transpose(compilation: Compilation, op: Transpose) -> Step:
    """The dimensions of a tile in another order."""
    slot, operand = compilation.slot(op.id), code_of(compilation, op.operand, None, len(op.type.shape))
    order = (0, *(1 + dimension for dimension in op.permutation))

    def run(batch: Batch) -> None:
        value = operand(batch)
        batch.slots[slot] = value.transpose(order) if value.ndim else value

    return run


def matmul(compilation: Compilation, op: Matmul) -> Step:
    """Tile products, summed term by term over the first dimension of both in the format `accumulate`."""
    slot, kept = compilation.slot(op.id), op.accumulate.dtype
    stationary, moving = (code_of(compilation, operand, kept, 2) for operand in (op.stationary, op.moving))
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
    definition = compilation.definitions.get(op.operand.id) if isinstance(op.operand, Ref) else None
    value_type = getattr(definition, "type", None)
    rank = len(value_type.shape) if value_type is not None else 0
    if not rank or op.mask is not None:
        raise InputError(f"a reduction of {compilation.kernel.name} has no tile, or a mask, and is not executed")
    operand = code_of(compilation, op.operand, kept, rank)
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
        raise InputError(f"a scan of {compilation.kernel.name} has a mask and is not executed")
    slot, rank, dimension = compilation.slot(op.id), len(op.type.shape), 1 + op.dimension
    kept = (op.accumulate or op.type).dtype
    operands = [code_of(compilation, operand, kept, rank) for operand in op.operands]
    initial = None if op.initial is None else code_of(compilation, op.initial, kept)
    scanner = Scanner(op, kept)
    narrow = conversion(kept, op.type.dtype)

    def run(batch: Batch) -> None:
        parts = [np.moveaxis(np.asarray(operand(batch)), dimension, 0) for operand in operands]
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
