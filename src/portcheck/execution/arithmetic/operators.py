"""One table: an operator and a format to the NumPy function that computes exactly that."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, cast

import numpy as np

from portcheck.core.dtype import BOOL, INT32, INT64, UINT32, UINT64, DType
from portcheck.core.errors import InputError
from portcheck.execution.arithmetic.conversions import conversion
from portcheck.execution.arithmetic.floats import float_function
from portcheck.execution.arithmetic.formats import Value, storage
from portcheck.execution.arithmetic.integers import INTEGER_FUNCTIONS, fused, shift_right_arithmetic, square
from portcheck.ir import COMPARISONS, PREDICATES, Operator, Rounding

Function: TypeAlias = Callable[..., Value]

_COMPARISONS = {
    Operator.EQUAL: np.equal, Operator.NOT_EQUAL: np.not_equal, Operator.LESS: np.less,
    Operator.LESS_EQUAL: np.less_equal, Operator.GREATER: np.greater, Operator.GREATER_EQUAL: np.greater_equal,
}  # fmt: skip
_CONNECTIVES = {
    Operator.LOGICAL_AND: np.logical_and, Operator.LOGICAL_OR: np.logical_or, Operator.LOGICAL_XOR: np.logical_xor,
    Operator.LOGICAL_NOT: np.logical_not,
}  # fmt: skip
_COUNTS = frozenset({Operator.POPULATION_COUNT, Operator.COUNT_LEADING_ZEROS, Operator.FIND_FIRST_SET})
_RANKS = (INT32, UINT32, INT64, UINT64)


def working_dtype(operator: Operator, result: DType, operands: tuple[DType, ...]) -> tuple[DType, ...]:
    """The formats that the operands are brought to before `operator` is applied to them."""
    if operator is Operator.SELECT:
        return (BOOL, result, result)
    if operator in _CONNECTIVES:
        return (BOOL,) * len(operands)
    if operator in COMPARISONS:
        return (common(*operands),) * len(operands)
    if operator in PREDICATES or operator in _COUNTS:
        return operands
    return (result,) * len(operands)


def common(left: DType, right: DType) -> DType:
    """The format in which C++ compares numbers of two formats (usual arithmetic conversions)."""
    if left == right:
        return left
    if left.is_float or right.is_float:
        if not (left.is_float and right.is_float):
            return left if left.is_float else right
        return max(left, right, key=lambda dtype: storage(dtype).itemsize)
    ranks = [_RANKS.index(dtype) if dtype in _RANKS else 0 for dtype in (left, right)]
    return _RANKS[max(ranks)]


def function(
    operator: Operator, result: DType, operands: tuple[DType, ...], rounding: Rounding = Rounding.NEAREST_EVEN
) -> Function:
    """`operator` on values in their `working_dtype`; InputError for an operator that the format does not have."""
    formats = working_dtype(operator, result, operands)
    found = _found(operator, result, formats, rounding)
    if found is None:
        raise InputError(f"{operator} of {', '.join(map(str, operands))} is not executed")
    return found


def _found(operator: Operator, result: DType, formats: tuple[DType, ...], rounding: Rounding) -> Function | None:
    if operator is Operator.SELECT:
        return _select
    if operator in _COMPARISONS:
        return _COMPARISONS[operator]
    if operator in _CONNECTIVES:
        return _CONNECTIVES[operator]
    if operator is Operator.IS_NAN:
        return np.isnan if formats[0].is_float else lambda value: cast(Value, np.zeros(np.shape(value), bool)[()])
    if operator is Operator.IS_INF:
        return np.isinf if formats[0].is_float else lambda value: cast(Value, np.zeros(np.shape(value), bool)[()])
    if operator in _COUNTS:
        if formats[0].is_float:
            return None
        counted = conversion(INT32, result)
        return lambda value: counted(INTEGER_FUNCTIONS[operator](value))
    if result.is_float:
        return float_function(operator, result, rounding)
    if operator is Operator.SHIFT_RIGHT_ARITHMETIC:
        return shift_right_arithmetic(result)
    if operator is Operator.SQUARE:
        return square
    if operator is Operator.FMA:
        return fused
    return _of_bool(operator) if result == BOOL else INTEGER_FUNCTIONS.get(operator)


def _select(condition: Value, on_true: Value, on_false: Value) -> Value:
    chosen: Value = np.where(condition, on_true, on_false)
    return cast(Value, chosen[()])


def _of_bool(operator: Operator) -> Function | None:
    """Truth values take part in bitwise operators, minima and maxima."""
    known: dict[Operator, Function] = {
        Operator.BITWISE_AND: np.logical_and, Operator.BITWISE_OR: np.logical_or, Operator.BITWISE_XOR: np.logical_xor,
        Operator.BITWISE_NOT: np.logical_not, Operator.MINIMUM: np.logical_and, Operator.MAXIMUM: np.logical_or,
        Operator.ADD: np.logical_or, Operator.MULTIPLY: np.logical_and,
    }  # fmt: skip
    return known.get(operator)
