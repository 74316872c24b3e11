"""Subnormal numbers of float32 as zeros: what instructions with `.ftz` take and give (PTX ISA, Floating Point)."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from portcheck.core.dtype import FLOAT32, DType
from portcheck.execution.arithmetic.formats import Value
from portcheck.ir import Operator

Function = Callable[..., Value]

_MOVES = frozenset({Operator.SELECT, Operator.COPYSIGN})
"""Operators that move bits and compute nothing."""
_LEAST = np.finfo(np.float32).tiny


def flushed(value: Value) -> Value:
    """`value` with zeros of the same sign in place of subnormal numbers."""
    return cast(Value, np.where(np.abs(value) < _LEAST, np.copysign(np.float32(0), value), value)[()])


def flushing(
    function: Function, operands: tuple[DType, ...], result: DType, operator: Operator | None = None
) -> Function:
    """`function` on operands and with a result without subnormal numbers of float32."""
    flushes = [dtype == FLOAT32 for dtype in operands]
    if operator in _MOVES or not (any(flushes) or result == FLOAT32):
        return function

    def compute(*values: Value) -> Value:
        taken = (flushed(value) if is_one else value for value, is_one in zip(values, flushes, strict=True))
        found = function(*taken)
        return flushed(found) if result == FLOAT32 else found

    return compute
