"""Every operator in every format against references that are exact: Python's integers and fractions."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.execution.fractions_reference import nearest, square_root

from portcheck.core.dtype import (
    BFLOAT16,
    BOOL,
    CONCRETE,
    FLOAT8_E4M3,
    FLOAT8_E4M3FN,
    FLOAT8_E5M2,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    TFLOAT32,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    DType,
)
from portcheck.core.errors import InputError
from portcheck.execution.arithmetic.conversions import conversion
from portcheck.execution.arithmetic.floats import FUNCTIONS
from portcheck.execution.arithmetic.formats import storage
from portcheck.execution.arithmetic.operators import function, working_dtype
from portcheck.ir import Operator, Rounding, arity

SIGNED, UNSIGNED = (INT8, INT16, INT32, INT64), (UINT8, UINT16, UINT32, UINT64)
INTEGERS = (*SIGNED, *UNSIGNED)
FLOATS = (FLOAT64, FLOAT32, FLOAT16, BFLOAT16)
NARROW = (TFLOAT32, FLOAT8_E5M2, FLOAT8_E4M3FN, FLOAT8_E4M3)
MODES = (Rounding.NEAREST_EVEN, Rounding.TOWARD_ZERO, Rounding.UP, Rounding.DOWN)


def wrapped(value: int, dtype: DType) -> int:
    bits = 8 * storage(dtype).itemsize
    value &= (1 << bits) - 1
    return value - (1 << bits) if dtype in SIGNED and value >> (bits - 1) else value


def integers(dtype: DType, seed: int = 0, count: int = 200) -> list[int]:
    limits = np.iinfo(storage(dtype))
    low, high = int(limits.min), int(limits.max)
    random = np.random.default_rng(seed)
    small = [int(number) for number in random.integers(max(low, -40), 40, count // 2)]
    wide = [int(number) for number in random.integers(low, high, count // 2, dtype=storage(dtype))]
    return [0, 1, 2, low, low + 1, high, high - 1, *small, *wide]


def truncated(left: int, right: int) -> int:
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1) if right else 0


def width(dtype: DType) -> int:
    return 8 * storage(dtype).itemsize


def bits(value: int, dtype: DType) -> int:
    return value & ((1 << width(dtype)) - 1)


BINARY: dict[Operator, Callable[[int, int, DType], int]] = {
    Operator.ADD: lambda a, b, _: a + b,
    Operator.SUBTRACT: lambda a, b, _: a - b,
    Operator.MULTIPLY: lambda a, b, _: a * b,
    Operator.TRUNCATED_DIVIDE: lambda a, b, _: truncated(a, b),
    Operator.TRUNCATED_MODULO: lambda a, b, _: a - truncated(a, b) * b if b else 0,
    Operator.FLOOR_DIVIDE: lambda a, b, _: a // b if b else 0,
    Operator.FLOOR_MODULO: lambda a, b, _: a % b if b else 0,
    Operator.CEILING_DIVIDE: lambda a, b, _: -(-a // b) if b else 0,
    Operator.MINIMUM: lambda a, b, _: min(a, b),
    Operator.MAXIMUM: lambda a, b, _: max(a, b),
    Operator.BITWISE_AND: lambda a, b, _: a & b,
    Operator.BITWISE_OR: lambda a, b, _: a | b,
    Operator.BITWISE_XOR: lambda a, b, _: a ^ b,
    Operator.MULTIPLY_HIGH: lambda a, b, dtype: a * b >> width(dtype),
}
SHIFTS: dict[Operator, Callable[[int, int, DType], int]] = {
    Operator.SHIFT_LEFT: lambda a, b, _: a << b,
    Operator.SHIFT_RIGHT_ARITHMETIC: lambda a, b, dtype: signed(a, dtype) >> b,
    Operator.SHIFT_RIGHT_LOGICAL: lambda a, b, dtype: bits(a, dtype) >> b,
}
UNARY: dict[Operator, Callable[[int, DType], int]] = {
    Operator.NEGATE: lambda a, _: -a,
    Operator.ABSOLUTE: lambda a, _: abs(a),
    Operator.BITWISE_NOT: lambda a, _: ~a,
    Operator.SQUARE: lambda a, _: a * a,
    Operator.SIGN: lambda a, _: (a > 0) - (a < 0),
    Operator.BIT_REVERSE: lambda a, dtype: int(f"{bits(a, dtype):0{width(dtype)}b}"[::-1], 2),
    Operator.POPULATION_COUNT: lambda a, dtype: bits(a, dtype).bit_count(),
    Operator.COUNT_LEADING_ZEROS: lambda a, dtype: width(dtype) - bits(a, dtype).bit_length(),
    Operator.FIND_FIRST_SET: lambda a, dtype: (bits(a, dtype) & -bits(a, dtype)).bit_length(),
}


def signed(value: int, dtype: DType) -> int:
    value = bits(value, dtype)
    return value - (1 << width(dtype)) if value >> (width(dtype) - 1) else value


def array(values: list[Any], dtype: DType) -> Any:
    return np.array(values, dtype=storage(dtype))


def applied(operator: Operator, dtype: DType, *operands: Any, rounding: Rounding = Rounding.NEAREST_EVEN) -> Any:
    given = (dtype,) * len(operands)
    with np.errstate(all="ignore"):
        return function(operator, dtype, given, rounding)(*operands)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("operator", BINARY, ids=str)
def test_integer_operators_wrap(operator: Operator, dtype: DType) -> None:
    left, right = integers(dtype, 1), integers(dtype, 2)[::-1]
    found = applied(operator, dtype, array(left, dtype), array(right, dtype))
    wanted = [wrapped(BINARY[operator](a, b, dtype), dtype) for a, b in zip(left, right, strict=True)]
    assert found.dtype == storage(dtype)
    assert found.tolist() == wanted


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("operator", SHIFTS, ids=str)
def test_shifts_by_the_width_or_more_leave_no_bit(operator: Operator, dtype: DType) -> None:
    left = integers(dtype, 3)
    right = [place % (width(dtype) + 3) for place in range(len(left))]
    found = applied(operator, dtype, array(left, dtype), array(right, dtype))
    assert found.tolist() == [wrapped(SHIFTS[operator](a, b, dtype), dtype) for a, b in zip(left, right, strict=True)]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("operator", UNARY, ids=str)
def test_operators_on_one_integer(operator: Operator, dtype: DType) -> None:
    given = integers(dtype, 4)
    found = applied(operator, dtype, array(given, dtype))
    assert found.tolist() == [wrapped(UNARY[operator](a, dtype), dtype) for a in given]


def floats(dtype: DType, seed: int, count: int = 300) -> list[float]:
    """Numbers of the format over its whole range, its ends, and many near to each other."""
    random = np.random.default_rng(seed)
    spread = {FLOAT64: 100, FLOAT32: 40, FLOAT16: 6, BFLOAT16: 40}.get(dtype, 3)
    near = random.standard_normal(count)
    wide = random.standard_normal(count // 2) * np.exp2(random.integers(-3 * spread, 3 * spread, count // 2))
    values = [0.0, 1.0, -1.0, 0.5, 3.0, *near, *wide]
    with np.errstate(all="ignore"):
        kept = conversion(FLOAT64, dtype)(np.array(values)).astype(np.float64)
    return [float(value) if math.isfinite(value) else 1.0 for value in kept]


FLOATING: dict[Operator, Callable[..., Fraction | None]] = {
    Operator.ADD: lambda a, b: a + b,
    Operator.SUBTRACT: lambda a, b: a - b,
    Operator.MULTIPLY: lambda a, b: a * b,
    Operator.DIVIDE: lambda a, b: a / b if b else None,
    Operator.FMA: lambda a, b, c: a * b + c,
    Operator.RECIPROCAL: lambda a: 1 / a if a else None,
    Operator.SQUARE: lambda a: a * a,
}


@pytest.mark.parametrize("rounding", MODES, ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("operator", FLOATING, ids=str)
def test_arithmetic_is_rounded_once(operator: Operator, dtype: DType, rounding: Rounding) -> None:
    operands = [floats(dtype, seed) for seed in range(arity(operator))]
    if operator is Operator.FMA:  # sums that cancel all but what the product loses
        with np.errstate(all="ignore"):
            products = conversion(FLOAT64, dtype)(np.array(operands[0]) * np.array(operands[1])).astype(float)
        operands[2][::2] = [-x if math.isfinite(x) else 1.0 for x in products.tolist()][::2]
    found = applied(operator, dtype, *(array(values, dtype) for values in operands), rounding=rounding)
    assert found.dtype == storage(dtype)
    for result, *given in zip(found.astype(np.float64).tolist(), *operands, strict=True):
        exact = FLOATING[operator](*map(Fraction, given))
        if exact is not None:
            assert result == nearest(exact, dtype, rounding), (given, result)


@pytest.mark.parametrize("rounding", MODES, ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_roots_are_rounded_once(dtype: DType, rounding: Rounding) -> None:
    given = [abs(value) for value in floats(dtype, 5)]
    found = applied(Operator.SQRT, dtype, array(given, dtype), rounding=rounding).astype(np.float64).tolist()
    assert found == [square_root(Fraction(value), dtype, rounding) for value in given]


def test_float32_sums_are_fused_where_float64_alone_rounds_twice() -> None:
    left, right = np.float32(1 + 2**-12), np.float32(1 + 2**-12)
    addend = np.float32(2.0**-60)
    exact = Fraction(float(left)) * Fraction(float(right)) + Fraction(float(addend))
    twice = np.float32(np.float64(left) * np.float64(right) + np.float64(addend))
    found = applied(Operator.FMA, FLOAT32, array([left], FLOAT32), array([right], FLOAT32), array([addend], FLOAT32))
    assert found[0] == nearest(exact, FLOAT32) != twice


@pytest.mark.parametrize("dtype", (*FLOATS[1:], *NARROW), ids=str)
@pytest.mark.parametrize("rounding", MODES, ids=str)
@pytest.mark.parametrize("saturating", [False, True], ids=["plain", "saturating"])
def test_casts_from_float64_are_rounded_once(dtype: DType, rounding: Rounding, saturating: bool) -> None:
    given = floats(FLOAT64, 6, 400) + floats(dtype, 7) + [1e6, -1e6, 448.0, 464.0, 465.0, 57344.0, 61440.0, 70000.0]
    with np.errstate(all="ignore"):
        found = conversion(FLOAT64, dtype, rounding, saturating)(np.array(given))
    assert found.dtype == storage(dtype)
    wanted = [nearest(Fraction(value), dtype, rounding, saturating) for value in given]
    np.testing.assert_array_equal(found.astype(np.float64), wanted)


def test_fp8_casts_saturate_as_those_of_cuda_do() -> None:
    given = np.array([449.0, 1e9, np.inf, -np.inf, np.nan], np.float32)
    found = conversion(FLOAT32, FLOAT8_E4M3FN, saturating=True)(given).astype(np.float32)
    np.testing.assert_array_equal(found, np.array([448, 448, 448, -448, np.nan], np.float32))
    plain = conversion(FLOAT32, FLOAT8_E4M3FN)(given).astype(np.float32)
    assert np.isnan(plain[1:]).all()


@pytest.mark.parametrize("target", INTEGERS, ids=str)
@pytest.mark.parametrize("rounding", MODES, ids=str)
def test_floats_become_the_nearest_integers_there_are(target: DType, rounding: Rounding) -> None:
    limits = np.iinfo(storage(target))
    given = [0.5, -0.5, 1.5, 2.5, -1.5, 0.999, 1e30, -1e30, math.inf, -math.inf, *(v * 50 for v in floats(FLOAT32, 8))]
    directions = {Rounding.UP: math.ceil, Rounding.DOWN: math.floor, Rounding.TOWARD_ZERO: math.trunc}
    whole = directions.get(rounding, round)
    wide = np.array(given, np.float32).astype(np.float64).tolist()
    with np.errstate(all="ignore"):
        found = conversion(FLOAT32, target, rounding)(np.array([*given, math.nan], np.float32)).tolist()
    low, high = int(limits.min), int(limits.max)
    wanted = [
        (high if v > 0 else low) if math.isinf(v) else min(max(whole(v), low), high) for v in wide
    ]  # fmt: skip
    assert found == [*wanted, 0]


@pytest.mark.parametrize("rounding", MODES, ids=str)
@pytest.mark.parametrize("target", FLOATS, ids=str)
@pytest.mark.parametrize("source", INTEGERS, ids=str)
def test_integers_become_floats_rounded_once(source: DType, target: DType, rounding: Rounding) -> None:
    limits = np.iinfo(storage(source))
    ends = [int(limits.max) - step for step in (3, 64, 129)]
    given = [*integers(source, 9), *(end for end in ends if end >= limits.min), 2**24 + 1 if limits.max > 2**25 else 0]
    with np.errstate(all="ignore"):
        found = conversion(source, target, rounding)(array(given, source)).astype(np.float64)
    np.testing.assert_array_equal(found, [nearest(Fraction(value), target, rounding) for value in given])


@pytest.mark.parametrize("target", INTEGERS, ids=str)
@pytest.mark.parametrize("source", INTEGERS, ids=str)
def test_integers_wrap_into_others(source: DType, target: DType) -> None:
    given = integers(source, 10)
    found = conversion(source, target)(array(given, source)).tolist()
    assert found == [wrapped(value, target) for value in given]
    limits = np.iinfo(storage(target))
    saturated = conversion(source, target, saturating=True)(array(given, source)).tolist()
    assert saturated == [min(max(value, int(limits.min)), int(limits.max)) for value in given]


COMPARISONS: dict[Operator, Callable[[Any, Any], bool]] = {
    Operator.EQUAL: lambda a, b: a == b, Operator.NOT_EQUAL: lambda a, b: a != b, Operator.LESS: lambda a, b: a < b,
    Operator.LESS_EQUAL: lambda a, b: a <= b, Operator.GREATER: lambda a, b: a > b,
    Operator.GREATER_EQUAL: lambda a, b: a >= b,
}  # fmt: skip


@pytest.mark.parametrize("dtype", [INT32, UINT64, FLOAT32, BFLOAT16, FLOAT16], ids=str)
@pytest.mark.parametrize("operator", COMPARISONS, ids=str)
def test_comparisons(operator: Operator, dtype: DType) -> None:
    left: list[Any] = integers(dtype, 1) if dtype.is_integer else [*floats(dtype, 1), math.nan]
    right: list[Any] = integers(dtype, 1)[::-1] if dtype.is_integer else [*floats(dtype, 1)[::-1], math.nan]
    with np.errstate(all="ignore"):
        found = function(operator, BOOL, (dtype, dtype))(array(left, dtype), array(right, dtype))
    assert found.tolist() == [COMPARISONS[operator](a, b) for a, b in zip(left, right, strict=True)]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_minima_and_maxima_ignore_one_nan_and_know_the_sign_of_zero(dtype: DType) -> None:
    left = array([1, math.nan, 2, 0.0, -0.0, math.nan], dtype)
    right = array([2, 3, math.nan, -0.0, 0.0, math.nan], dtype)
    least = applied(Operator.MINIMUM, dtype, left, right).astype(np.float64)
    most = applied(Operator.MAXIMUM, dtype, left, right).astype(np.float64)
    np.testing.assert_array_equal(least, [1, 3, 2, 0, 0, math.nan])
    np.testing.assert_array_equal(most, [2, 3, 2, 0, 0, math.nan])
    assert np.signbit(least[3:5]).all()
    assert not np.signbit(most[3:5]).any()


ROUNDED: dict[Operator, Callable[[float], float]] = {
    Operator.FLOOR: math.floor, Operator.CEIL: math.ceil, Operator.TRUNC: math.trunc, Operator.ROUND_EVEN: round,
    Operator.ROUND_AWAY: lambda a: math.copysign(math.floor(abs(a) + 0.5), a), Operator.NEGATE: lambda a: -a,
    Operator.ABSOLUTE: abs, Operator.RELU: lambda a: max(a, 0.0), Operator.SIGN: lambda a: (a > 0) - (a < 0),
}  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("operator", ROUNDED, ids=str)
def test_whole_numbers_and_signs(operator: Operator, dtype: DType) -> None:
    given = [value for value in floats(dtype, 11) if abs(value) < 1e6] + [0.5, 1.5, 2.5, -0.5, -2.5]
    found = applied(operator, dtype, array(given, dtype)).astype(np.float64).tolist()
    assert found == [float(ROUNDED[operator](value)) for value in given]


def test_half_below_a_half_is_not_rounded_away() -> None:
    below = np.nextafter(np.float32(0.5), np.float32(0))
    assert applied(Operator.ROUND_AWAY, FLOAT32, np.array([below, -below, 2.5], np.float32)).tolist() == [0, 0, 3]


@pytest.mark.parametrize("operator", FUNCTIONS, ids=str)
def test_functions_in_float32_are_the_float64_ones_rounded_once(operator: Operator) -> None:
    given = [np.array(floats(FLOAT32, seed)[:300], np.float32) for seed in range(arity(operator))]
    with np.errstate(all="ignore"):
        wanted = FUNCTIONS[operator](*(part.astype(np.float64) for part in given)).astype(np.float32)
    np.testing.assert_array_equal(applied(operator, FLOAT32, *given), wanted)


def test_functions_are_those_of_the_math_library() -> None:
    given = np.array([0.1, 0.7, 1.3, 2.9])
    known = {
        Operator.EXP: math.exp, Operator.LOG2: math.log2, Operator.ERF: math.erf, Operator.TANH: math.tanh,
        Operator.EXP10: lambda a: 10.0**a, Operator.RSQRT: lambda a: 1 / math.sqrt(a),
        Operator.SIGMOID: lambda a: 1 / (1 + math.exp(-a)), Operator.SOFTPLUS: lambda a: math.log1p(math.exp(a)),
        Operator.SILU: lambda a: a / (1 + math.exp(-a)), Operator.CBRT: lambda a: a ** (1 / 3),
        Operator.ERFC: math.erfc, Operator.ARCSINH: math.asinh, Operator.SINPI: lambda a: math.sin(math.pi * a),
        Operator.COSPI: lambda a: math.cos(math.pi * a), Operator.GAMMA: math.gamma, Operator.LOG_GAMMA: math.lgamma,
        Operator.ERFC_SCALED: lambda a: math.exp(a * a) * math.erfc(a),
        Operator.EXPONENT: lambda a: math.frexp(a)[1] - 1,
        Operator.NORMAL_CDF: lambda a: math.erfc(-a / math.sqrt(2)) / 2,
        Operator.GELU: lambda a: a / 2 * (1 + math.erf(a / math.sqrt(2))), Operator.ARCTAN: math.atan,
    }  # fmt: skip
    for operator, reference in known.items():
        found = applied(operator, FLOAT64, given)
        np.testing.assert_allclose(found, [reference(value) for value in given], rtol=1e-14)


def test_inverses_lead_back() -> None:
    given = np.array([1e-9, 0.02, 0.3, 0.5, 0.75, 0.999])
    for there, back in (
        (Operator.ERF_INVERSE, Operator.ERF), (Operator.ERFC_INVERSE, Operator.ERFC),
        (Operator.NORMAL_CDF_INVERSE, Operator.NORMAL_CDF),
    ):  # fmt: skip
        np.testing.assert_allclose(applied(back, FLOAT64, applied(there, FLOAT64, given)), given, rtol=1e-13)


# Order, argument, Y and J with 17 digits (mpmath 1.3; the first ones also in Abramowitz and Stegun, table 9.1).
BESSEL = np.array([
    (0, 0.1, -1.5342386513503667, 0.99750156206604), (0, 1, 0.08825696421567696, 0.7651976865579666),
    (1, 1, -0.7812128213002887, 0.4400505857449335), (0, 10, 0.055671167283599395, -0.24593576445134835),
    (1, 10, 0.24901542420695388, 0.04347274616886144), (2, 5, 0.36766288260552454, 0.046565116277752214),
    (0, 50, -0.09806499547007708, 0.055812327669251816), (3, 40, -0.006829103413384208, -0.1261448155058208),
    (10, 2, -129184.54220803929, 2.515386282716737e-07), (30, 40, -0.11471458668505026, -0.10408594976564972),
])  # fmt: skip


def test_bessel_functions_have_their_tabulated_values() -> None:
    order, given, second, first = BESSEL.T.copy()
    np.testing.assert_allclose(applied(Operator.BESSEL_J, FLOAT64, order, given), first, rtol=1e-13)
    np.testing.assert_allclose(applied(Operator.BESSEL_Y, FLOAT64, order, given), second, rtol=1e-13)
    order, given = np.array([0.0, 1.0, 1.0, 0.0]), np.array([1.0, 1.0, -2000.0, 1e30])
    wanted = [1.266065877752008, 0.565159103992485, -np.inf, np.inf]
    np.testing.assert_allclose(applied(Operator.BESSEL_I, FLOAT64, order, given), wanted, rtol=1e-13)


def test_both_kinds_of_bessel_functions_belong_together() -> None:
    # Their Wronskian is 2 / (pi x) (NIST Digital Library of Mathematical Functions, 10.5.2).
    given = np.array([1e-6, 0.3, 2.0, 9.0, 24.9, 25.1, 60.0, 999.0, 1e6])
    for order in (0.0, 1.0, 4.0, 33.0):
        at, after = (
            [applied(operator, FLOAT64, np.full_like(given, place), given) for place in (order, order + 1)]
            for operator in (Operator.BESSEL_J, Operator.BESSEL_Y)
        )
        with np.errstate(all="ignore"):
            found = at[1] * after[0] - at[0] * after[1]
        is_within = np.isfinite(found) & (at[0] != 0)
        assert is_within.sum() >= len(given) - 2
        np.testing.assert_allclose(found[is_within], (2 / (np.pi * given))[is_within], rtol=1e-9)


def test_bessel_functions_at_the_ends_are_those_of_cuda() -> None:
    given = np.array([0.0, -0.0, -1.0, np.inf, np.nan])
    zeros = np.zeros_like(given)
    np.testing.assert_array_equal(applied(Operator.BESSEL_J, FLOAT64, zeros, given)[[0, 1, 3, 4]], [1, 1, 0, np.nan])
    np.testing.assert_array_equal(
        applied(Operator.BESSEL_Y, FLOAT64, zeros, given), [-np.inf, -np.inf, np.nan, 0, np.nan]
    )
    for operator in (Operator.BESSEL_J, Operator.BESSEL_Y):
        assert np.isnan(applied(operator, FLOAT64, zeros - 1, zeros + 1)).all()
        with pytest.raises(InputError, match="order 1e\\+06"):
            applied(operator, FLOAT64, zeros[:1] + 1e6, zeros[:1] + 1e3)


@pytest.mark.parametrize("dtype", [d for d in CONCRETE.values() if d != BOOL], ids=str)
def test_a_number_for_all_threads_is_treated_as_one_for_each(dtype: DType) -> None:
    for operator in Operator:
        formats = working_dtype(operator, dtype, (dtype,) * arity(operator))
        try:
            called = function(operator, dtype, (dtype,) * arity(operator))
        except InputError as error:
            assert "not executed" in str(error)
            continue
        operands = [array([2], known) for known in formats]
        with np.errstate(all="ignore"):
            many, one = called(*operands), called(*(operand[0] for operand in operands))
        assert one.ndim == 0, operator
        assert one.dtype == many.dtype, operator
        np.testing.assert_array_equal(many.astype(np.float64)[0], one.astype(np.float64))


def test_every_operator_of_the_ir_is_executed() -> None:
    def is_known(operator: Operator) -> bool:
        for dtype in (FLOAT32, INT32, BOOL):
            try:
                function(operator, dtype, (dtype,) * arity(operator))
            except InputError:
                continue
            return True
        return False

    assert [operator for operator in Operator if not is_known(operator)] == []
