"""Operators on integers: they wrap, divide and shift as CUDA's instructions do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

import numpy as np

from portcheck.core.dtype import DType, DTypeKind
from portcheck.execution.arithmetic.formats import Value, storage
from portcheck.ir import Operator

Function = Callable[..., Value]


def unsigned(value: Value) -> Value:
    """The bits of an integer as an unsigned one of the same width."""
    return cast(Value, value.view(np.dtype(f"u{value.dtype.itemsize}"))) if value.dtype.kind == "i" else value


def truncated_divide(left: Value, right: Value) -> Value:
    """The quotient towards zero; 0 for a divisor of 0."""
    if left.dtype.kind == "u" or (np.all(left >= 0) and np.all(right >= 0)):
        return cast(Value, left // right)
    return cast(Value, (left - np.fmod(left, right)) // right)


def truncated_modulo(left: Value, right: Value) -> Value:
    """What `truncated_divide` leaves: of the sign of `left`."""
    return cast(Value, left % right if left.dtype.kind == "u" else np.fmod(left, right))


def ceiling_divide(left: Value, right: Value) -> Value:
    """The quotient rounded up."""
    whole = left // right
    return cast(Value, whole + (left % right != 0).astype(whole.dtype))


def shift_right_logical(left: Value, right: Value) -> Value:
    """The bits moved down with zeros above; 0 from the width on."""
    return cast(Value, (unsigned(left) >> unsigned(right)).view(left.dtype))


def multiply_high(left: Value, right: Value) -> Value:
    """The upper half of the product of twice the width."""
    width = 8 * left.dtype.itemsize
    if width < 64:
        wide = np.int64 if left.dtype.kind == "i" else np.uint64
        return cast(Value, ((left.astype(wide) * right.astype(wide)) >> wide(width)).astype(left.dtype))
    high = _multiply_high_unsigned(unsigned(left), unsigned(right))
    if left.dtype.kind == "u":
        return high
    # A negative factor stands for itself + 2^64, which adds the other factor to the upper half.
    correction = np.where(left < 0, unsigned(right), np.uint64(0)) + np.where(right < 0, unsigned(left), np.uint64(0))
    return cast(Value, (high - correction).view(left.dtype))


def _multiply_high_unsigned(left: Value, right: Value) -> Value:
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    left_high, left_low = left >> half, left & low
    right_high, right_low = right >> half, right & low
    middle = left_high * right_low + ((left_low * right_low) >> half)
    other = left_low * right_high + (middle & low)
    return cast(Value, left_high * right_high + (middle >> half) + (other >> half))


def bit_length(value: Value) -> Value:
    """How many bits the unsigned reading of `value` needs, as int32."""
    bits = unsigned(value).astype(np.uint64)
    high = (bits >> np.uint64(32)).astype(np.float64)
    low = (bits & np.uint64(0xFFFFFFFF)).astype(np.float64)
    high_bits, low_bits = np.frexp(high)[1], np.frexp(low)[1]
    return cast(Value, np.where(high > 0, high_bits + 32, low_bits).astype(np.int32)[()])


def count_leading_zeros(value: Value) -> Value:
    """The zeros above the highest set bit."""
    return cast(Value, np.int32(8 * value.dtype.itemsize) - bit_length(value))


def find_first_set(value: Value) -> Value:
    """The place of the lowest set bit, from 1; 0 for no bit."""
    bits = unsigned(value)
    return bit_length(bits & (~bits + bits.dtype.type(1)))


def population_count(value: Value) -> Value:
    """How many bits are set."""
    return cast(Value, np.bitwise_count(unsigned(value)).astype(np.int32))


def bit_reverse(value: Value) -> Value:
    """The bits in the opposite order."""
    bits = unsigned(value)
    result = np.zeros_like(bits)
    one = bits.dtype.type(1)
    for place in range(8 * bits.dtype.itemsize):
        result = (result << one) | ((bits >> bits.dtype.type(place)) & one)
    return cast(Value, result.view(value.dtype))


def _sign(value: Value) -> Value:
    return cast(Value, np.sign(value))


INTEGER_FUNCTIONS: Mapping[Operator, Function] = {
    Operator.ADD: np.add, Operator.SUBTRACT: np.subtract, Operator.MULTIPLY: np.multiply,
    Operator.DIVIDE: truncated_divide, Operator.TRUNCATED_DIVIDE: truncated_divide,
    Operator.TRUNCATED_MODULO: truncated_modulo, Operator.FLOOR_DIVIDE: np.floor_divide,
    Operator.FLOOR_MODULO: np.remainder, Operator.CEILING_DIVIDE: ceiling_divide, Operator.NEGATE: np.negative,
    Operator.MINIMUM: np.minimum, Operator.MAXIMUM: np.maximum, Operator.ABSOLUTE: np.absolute,
    Operator.BITWISE_AND: np.bitwise_and, Operator.BITWISE_OR: np.bitwise_or, Operator.BITWISE_XOR: np.bitwise_xor,
    Operator.BITWISE_NOT: np.invert, Operator.SHIFT_LEFT: np.left_shift,
    Operator.SHIFT_RIGHT_LOGICAL: shift_right_logical,
    Operator.MULTIPLY_HIGH: multiply_high, Operator.POPULATION_COUNT: population_count,
    Operator.COUNT_LEADING_ZEROS: count_leading_zeros, Operator.FIND_FIRST_SET: find_first_set,
    Operator.SIGN: _sign, Operator.BIT_REVERSE: bit_reverse,
}  # fmt: skip
"""Functions of integers of one format; counts of bits give int32. NumPy's shifts by the width or more leave no bit."""


def shift_right_arithmetic(dtype: DType) -> Function:
    """The shift that repeats the sign bit, of an unsigned format too."""
    if dtype.kind is DTypeKind.SIGNED:
        return np.right_shift
    kept = storage(dtype)
    signed = np.dtype(f"i{kept.itemsize}")
    return lambda left, right: cast(Value, (left.view(signed) >> right.astype(signed)).view(kept))


def square(value: Value) -> Value:
    """The product of `value` with itself."""
    return cast(Value, value * value)


def fused(left: Value, right: Value, addend: Value) -> Value:
    """left * right + addend; nothing is rounded."""
    return cast(Value, left * right + addend)
