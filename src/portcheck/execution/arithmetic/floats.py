"""Operators on floats.

Sums, products, quotients and roots are those of IEEE 754 in the format itself. A function that no standard defines to
the last bit (exp, sin, tanh, ...) is evaluated in float64 and rounded once: no machine's approximation is imitated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import cast

import numpy as np

from portcheck.core.dtype import FLOAT32, FLOAT64, DType
from portcheck.execution.arithmetic import exact, special
from portcheck.execution.arithmetic.bessel import bessel_i, bessel_j, bessel_y
from portcheck.execution.arithmetic.formats import Value, storage
from portcheck.execution.arithmetic.rounding import rounded
from portcheck.ir import Operator, Rounding

Function = Callable[..., Value]

_ONE = cast(Value, np.float64(1.0))
_find_erf = special.each(math.erf)
_NEAREST = frozenset({Rounding.NEAREST_EVEN, Rounding.EXACT})


def _minimum(left: Value, right: Value) -> Value:
    """The smaller; the other one where one is NaN; -0 is below +0 (PTX ISA, min)."""
    least = np.fmin(left, right)
    return least if not np.any(least == 0) else _signed_zero(least, left, right, np.logical_or)


def _maximum(left: Value, right: Value) -> Value:
    most = np.fmax(left, right)
    return most if not np.any(most == 0) else _signed_zero(most, left, right, np.logical_and)


def _signed_zero(result: Value, left: Value, right: Value, combine: Function) -> Value:
    both = (left == 0) & (right == 0)
    negative = combine(np.signbit(left), np.signbit(right))
    zero = np.where(negative, result.dtype.type(-0.0), result.dtype.type(0.0))
    return cast(Value, np.where(both, zero, result)[()])


def _round_away(value: Value) -> Value:
    """Halves away from zero."""
    whole = np.trunc(value)
    return cast(Value, whole + np.copysign((np.abs(value - whole) >= 0.5).astype(value.dtype), value))


def _sigmoid(value: Value) -> Value:
    return cast(Value, 1.0 / (1.0 + np.exp(-value)))


def _softplus(value: Value) -> Value:
    return cast(Value, np.logaddexp(0.0, value))


def _gelu_tanh(value: Value) -> Value:
    inner = math.sqrt(2.0 / math.pi) * (value + 0.044715 * value**3)
    return cast(Value, 0.5 * value * (1.0 + np.tanh(inner)))


FUNCTIONS: Mapping[Operator, Function] = {
    Operator.POWER: np.power, Operator.EXP: np.exp, Operator.EXP2: np.exp2,
    Operator.EXP10: lambda value: np.power(10.0, value), Operator.EXPM1: np.expm1, Operator.LOG: np.log,
    Operator.LOG2: np.log2, Operator.LOG10: np.log10, Operator.LOG1P: np.log1p,
    Operator.RSQRT: lambda value: 1.0 / np.sqrt(value), Operator.CBRT: np.cbrt, Operator.SIN: np.sin,
    Operator.COS: np.cos, Operator.TAN: np.tan, Operator.ARCTAN: np.arctan, Operator.SINH: np.sinh,
    Operator.COSH: np.cosh, Operator.TANH: np.tanh, Operator.SIGMOID: _sigmoid, Operator.ERF: _find_erf,
    Operator.GELU: lambda value: 0.5 * value * (1.0 + _find_erf(value / math.sqrt(2.0))),
    Operator.GELU_TANH: _gelu_tanh, Operator.GELU_SIGMOID: lambda value: value * _sigmoid(1.702 * value),
    Operator.SILU: lambda value: value * _sigmoid(value), Operator.SOFTPLUS: _softplus,
    Operator.MISH: lambda value: value * np.tanh(_softplus(value)), Operator.SINPI: special.sine_of_turns,
    Operator.COSPI: special.cosine_of_turns, Operator.ARCSIN: np.arcsin, Operator.ARCCOS: np.arccos,
    Operator.ARCTAN2: np.arctan2, Operator.ARCSINH: np.arcsinh, Operator.ARCCOSH: np.arccosh,
    Operator.ARCTANH: np.arctanh, Operator.HYPOT: np.hypot, Operator.LDEXP: special.scaled,
    Operator.ERFC: special.each(math.erfc), Operator.ERF_INVERSE: special.each(special.erf_inverse),
    Operator.ERFC_INVERSE: special.each(special.erfc_inverse), Operator.ERFC_SCALED: special.each(special.erfc_scaled),
    Operator.NORMAL_CDF: special.each(special.normal_cdf),
    Operator.NORMAL_CDF_INVERSE: special.each(special.normal_cdf_inverse), Operator.GAMMA: special.each(special.gamma),
    Operator.LOG_GAMMA: special.each(special.log_gamma), Operator.BESSEL_J: special.each(bessel_j),
    Operator.BESSEL_Y: special.each(bessel_y), Operator.BESSEL_I: special.each(bessel_i),
    Operator.REMAINDER: special.each(math.remainder),
    Operator.EXPONENT: special.exponent,
}  # fmt: skip
"""Functions of float64 that are rounded to the format afterwards."""

_DIRECT: Mapping[Operator, Function] = {
    Operator.ADD: np.add, Operator.SUBTRACT: np.subtract, Operator.MULTIPLY: np.multiply, Operator.DIVIDE: np.divide,
    Operator.SQRT: np.sqrt, Operator.RECIPROCAL: lambda value: value.dtype.type(1) / value,
    Operator.SQUARE: lambda value: value * value, Operator.NEGATE: np.negative, Operator.ABSOLUTE: np.absolute,
    Operator.MINIMUM: _minimum, Operator.MAXIMUM: _maximum, Operator.FLOOR: np.floor, Operator.CEIL: np.ceil,
    Operator.TRUNC: np.trunc, Operator.ROUND_EVEN: np.rint, Operator.ROUND_AWAY: _round_away,
    Operator.COPYSIGN: np.copysign, Operator.SIGN: np.sign, Operator.TRUNCATED_MODULO: np.fmod,
    Operator.FLOOR_MODULO: np.remainder, Operator.RELU: lambda value: _maximum(value, value.dtype.type(0)),
    Operator.TRUNCATED_DIVIDE: lambda left, right: np.trunc(left / right),
    Operator.FLOOR_DIVIDE: np.floor_divide, Operator.CEILING_DIVIDE: lambda left, right: np.ceil(left / right),
}  # fmt: skip
"""Operators computed in the format itself, or for narrow ones in float32, whose second rounding changes nothing."""

_EXACT: Mapping[Operator, Callable[..., tuple[Value, Value]]] = {
    Operator.ADD: exact.summed, Operator.SUBTRACT: lambda left, right: exact.summed(left, -right),
    Operator.MULTIPLY: exact.multiplied, Operator.DIVIDE: exact.divided, Operator.SQRT: exact.root,
    Operator.RECIPROCAL: lambda value: exact.divided(_ONE, value),
    Operator.SQUARE: lambda value: exact.multiplied(value, value), Operator.FMA: exact.fused_double,
    Operator.RSQRT: lambda value: exact.divided(_ONE, np.sqrt(value)),
}  # fmt: skip
"""Operators in float64 with the sign of their error."""


def float_function(operator: Operator, dtype: DType, rounding: Rounding = Rounding.NEAREST_EVEN) -> Function | None:
    """`operator` on floats of `dtype`; None for one that floats do not have."""
    if rounding not in _NEAREST and operator in _EXACT:
        return _directed(operator, dtype, rounding)
    if operator is Operator.FMA:
        return _fused(dtype)
    if operator in FUNCTIONS:
        return _rounded_once(FUNCTIONS[operator], dtype)
    direct = _DIRECT.get(operator)
    if direct is None or dtype in (FLOAT32, FLOAT64):
        return direct
    return _through_float32(direct, dtype)


def _through_float32(function: Function, dtype: DType) -> Function:
    """A format of at most 11 bits: float32 has more than twice as many and two, so that rounding twice is as once."""

    def compute(*operands: Value) -> Value:
        result = function(*(operand.astype(np.float32) for operand in operands))
        return _narrowed(result, dtype)

    return compute


def _narrowed(result: Value, dtype: DType) -> Value:
    if storage(dtype).itemsize == np.dtype(np.float16).itemsize:
        return result.astype(storage(dtype))
    return rounded(result.astype(np.float64), None, dtype)


def _rounded_once(function: Function, dtype: DType) -> Function:
    if dtype == FLOAT64:
        return function
    return lambda *operands: rounded(function(*(operand.astype(np.float64) for operand in operands)), None, dtype)


def _directed(operator: Operator, dtype: DType, rounding: Rounding) -> Function:
    exactly = _EXACT[operator]
    terms, combine = _TERMS.get(operator), np.logical_or if rounding is Rounding.DOWN else np.logical_and

    def compute(*operands: Value) -> Value:
        wide = [operand.astype(np.float64) for operand in operands]
        value, error = exactly(*wide)
        if terms is not None:
            # IEEE 754, 6.3: a sum that is exactly 0 is -0 if both terms are below, towards minus infinity if one is
            is_negative = (value == 0) & (error == 0) & combine(*terms(*wide))
            value = np.where(is_negative, -0.0, value)[()]
        return rounded(value, error, dtype, rounding)

    return compute


_TERMS: Mapping[Operator, Callable[..., tuple[Value, Value]]] = {
    Operator.ADD: lambda left, right: (np.signbit(left), np.signbit(right)),
    Operator.SUBTRACT: lambda left, right: (np.signbit(left), ~np.signbit(right)),
    Operator.FMA: lambda left, right, addend: (np.signbit(left) ^ np.signbit(right), np.signbit(addend)),
}
"""Which of the terms of a sum are negative."""


def _fused(dtype: DType) -> Function:
    if dtype == FLOAT64:
        return _directed(Operator.FMA, dtype, Rounding.NEAREST_EVEN)

    def compute(left: Value, right: Value, addend: Value) -> Value:
        value, error = exact.fused(left.astype(np.float64), right.astype(np.float64), addend.astype(np.float64))
        return rounded(value, error, dtype)

    return compute
