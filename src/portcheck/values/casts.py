"""Changes of dtype: those written as casts, and those that a store into another format makes."""

from __future__ import annotations

from portcheck.core.dtype import WIDE, DType, DTypeKind
from portcheck.core.source import Span
from portcheck.ir import Cast, Operator, Polynomial, Ranges, Rounding
from portcheck.knowledge import load
from portcheck.values.evaluation import State
from portcheck.values.terms import Function, Index, Literal, Rounded, Term, Unknown


def cast(state: State, op: Cast) -> Term:
    """What a cast gives."""
    operand = state.operand(op.operand, state.shape(op.type))
    if op.bitwise:
        return Unknown("the bits of a value are read as another type", op.span)
    if op.rounding is Rounding.EXACT and not (op.type.dtype.is_integer and isinstance(operand, Index)):
        is_narrowed = op.type.dtype.is_integer and not holds(op.operand.dtype, op.type.dtype)
        return Unknown("an integer is narrowed", op.span) if is_narrowed else operand
    if op.type.dtype.is_integer:
        if isinstance(operand, Index):
            return operand if _fits(op, operand.value, state.ranges) else Unknown("an integer is narrowed", op.span)
        truncates = op.rounding is Rounding.TOWARD_ZERO
        return Function(Operator.TRUNC if truncates else Operator.ROUND_EVEN, (operand,))
    if isinstance(operand, Index) and op.operand.dtype.kind is DTypeKind.UNSIGNED:
        is_kept = state.ranges.is_nonnegative(operand.value)
        return operand if is_kept else Unknown("an unsigned number that may have wrapped", op.span)
    if isinstance(operand, Index | Literal):
        return operand
    return Rounded(op.type.dtype, operand, op.span)


def _fits(op: Cast, value: Polynomial, ranges: Ranges) -> bool:
    """Whether a cast keeps an integer: indices and sizes fit the wide formats, a negative one no unsigned format."""
    is_negative = op.type.dtype.kind is DTypeKind.UNSIGNED and not ranges.is_nonnegative(value)
    return op.type.dtype in WIDE and not is_negative


def holds(source: DType, target: DType) -> bool:
    """Whether every number of the integer format `source` is one of `target`; formats that are left open fit."""
    own, other = load().dtype(source.name), load().dtype(target.name)
    if own is None or other is None or DTypeKind.FLOAT in (own.kind, other.kind):
        return True
    return own.min_finite >= other.min_finite and own.significand_bits <= other.significand_bits


def stored_as(value: Term, dtype: DType | None, stored: DType, span: Span) -> Term:
    """`value`, of `dtype`, as a buffer of the format `stored` keeps it.

    Formats that are left open keep everything, and one that is left open fits a wide integer format.
    """
    if dtype is None or dtype == stored or stored.is_symbolic or isinstance(value, Literal | Index):
        return value
    if stored.is_float:
        return value if dtype.is_integer else Rounded(stored, value, span)
    if stored in WIDE and dtype.is_symbolic:
        return Rounded(stored, value, span, dtype)
    is_kept = not stored.is_integer or (dtype.is_integer and holds(dtype, stored))
    return value if is_kept else Unknown(f"a value is stored as {stored}", span)
