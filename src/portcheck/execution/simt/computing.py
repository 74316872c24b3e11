"""Operations on the values of one thread: arithmetic, casts, choices."""

from __future__ import annotations

import numpy as np

from portcheck.execution.arithmetic.conversions import bits, conversion
from portcheck.execution.arithmetic.flushing import flushing
from portcheck.execution.arithmetic.operators import function, working_dtype
from portcheck.execution.simt.batch import Batch
from portcheck.execution.simt.compilation import Code, Compilation, Step
from portcheck.execution.simt.expressions import called_with, code_of, compiled
from portcheck.ir import Cast, Compute, Operator, Ref, Select


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
    if compilation.flushes:
        called = flushing(called, formats, dtype, op.operator)
    parts = [
        code_of(compilation, operand, wanted, rank) for operand, wanted in zip(op.operands, formats, strict=True)
    ]  # fmt: skip
    return called_with(called, parts)


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
    called = function(Operator.FMA, dtype, (dtype,) * 3)
    if compilation.flushes:
        called = flushing(called, (dtype,) * 3, dtype)
    return called_with(called, [*factors, addend])


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
    if compilation.flushes and not op.bitwise:
        change = flushing(change, (source,), target)
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
