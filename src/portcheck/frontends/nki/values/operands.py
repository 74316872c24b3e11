"""Operands of instructions: expressions with a dtype and a shape, and what they are in another dtype."""

from __future__ import annotations

from dataclasses import dataclass, replace

from portcheck.core.dtype import BOOL, FLOAT32, FLOAT64, INT32, INT64, UINT32, DType
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.values.arithmetic import known
from portcheck.ir import Cast, Const, Expr, Rounding, ValueType


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand of an instruction: an expression with its dtype and shape (empty for a scalar)."""

    expression: Expr
    dtype: DType
    shape: tuple[Expr, ...] = ()

    @property
    def is_scalar(self) -> bool:
        """Whether it is one value for all elements."""
        return not self.shape


def cast(context: Context, source: Operand, dtype: DType, via: str = "") -> Operand:
    """`source` in `dtype`: a constant is rewritten, equal formats are left alone.

    An engine rounds to the nearest even integer and stays within its range; it takes one wide integer format to
    another through float32 (NKI 0.6 release notes, nisa.tensor_copy). What Python counts is no data yet.
    """
    if source.dtype == dtype:
        return source
    value = known(source.expression)
    if value is not None:
        return replace(source, expression=Const(_converted(value, dtype), dtype), dtype=dtype)
    if source.dtype in _WIDE and dtype in _WIDE:
        source = cast(context, source, FLOAT32, via)
    rounding = Rounding.EXACT if _is_widening(source.dtype, dtype) else Rounding.NEAREST_EVEN
    reference = context.builder.result(
        Cast, via=via or context.via, operand=source.expression, type=ValueType(dtype, source.shape), rounding=rounding,
        saturating=dtype.is_integer and source.dtype not in (BOOL, INT64),
    )  # fmt: skip
    return Operand(reference, dtype, source.shape)


_WIDE = frozenset({INT32, UINT32})


def _converted(value: int | float | bool, dtype: DType) -> int | float | bool:
    if dtype == BOOL:
        return bool(value)
    if dtype.is_integer:
        return int(value) if abs(value) < float("inf") else value  # infinities and NaN compare false
    return float(value) if dtype.is_float else value


def _is_widening(source: DType, target: DType) -> bool:
    """Whether every value of `source` is one of `target`; said only of what holds for every version of a format."""
    wide = {FLOAT64.name: 3, FLOAT32.name: 2}
    if source == BOOL:
        return True
    if not source.is_float or target.name not in wide:
        return False
    return wide.get(source.name, 1) < wide[target.name]
