"""The closed set of pure operators, and what may be asked of one."""

from __future__ import annotations

from enum import StrEnum


class Operator(StrEnum):
    """A pure function of one element per operand; the text form spells it by its value."""

    ADD = "add"
    SUBTRACT = "subtract"
    MULTIPLY = "multiply"
    DIVIDE = "divide"
    TRUNCATED_DIVIDE = "truncated_divide"
    TRUNCATED_MODULO = "truncated_modulo"
    FLOOR_DIVIDE = "floor_divide"
    FLOOR_MODULO = "floor_modulo"
    CEILING_DIVIDE = "ceiling_divide"
    NEGATE = "negate"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    ABSOLUTE = "absolute"
    FMA = "fma"
    POWER = "power"
    EXP = "exp"
    EXP2 = "exp2"
    EXP10 = "exp10"
    EXPM1 = "expm1"
    LOG = "log"
    LOG2 = "log2"
    LOG10 = "log10"
    LOG1P = "log1p"
    SQRT = "sqrt"
    RSQRT = "rsqrt"
    CBRT = "cbrt"
    RECIPROCAL = "reciprocal"
    SQUARE = "square"
    SIN = "sin"
    COS = "cos"
    TAN = "tan"
    SINPI = "sinpi"
    """The sine of pi times the operand."""
    COSPI = "cospi"
    ARCSIN = "arcsin"
    ARCCOS = "arccos"
    ARCTAN = "arctan"
    ARCTAN2 = "arctan2"
    SINH = "sinh"
    COSH = "cosh"
    TANH = "tanh"
    ARCSINH = "arcsinh"
    ARCCOSH = "arccosh"
    ARCTANH = "arctanh"
    SIGMOID = "sigmoid"
    ERF = "erf"
    ERFC = "erfc"
    ERF_INVERSE = "erf_inverse"
    ERFC_INVERSE = "erfc_inverse"
    ERFC_SCALED = "erfc_scaled"
    """exp(x * x) * erfc(x)."""
    NORMAL_CDF = "normal_cdf"
    NORMAL_CDF_INVERSE = "normal_cdf_inverse"
    GAMMA = "gamma"
    LOG_GAMMA = "log_gamma"
    """The logarithm of the absolute value of gamma."""
    BESSEL_J = "bessel_j"
    """Of the first kind; the order comes first, as for the others."""
    BESSEL_Y = "bessel_y"
    BESSEL_I = "bessel_i"
    RELU = "relu"
    GELU = "gelu"
    GELU_TANH = "gelu_tanh"
    GELU_SIGMOID = "gelu_sigmoid"
    SILU = "silu"
    SOFTPLUS = "softplus"
    MISH = "mish"
    HYPOT = "hypot"
    REMAINDER = "remainder"
    """x - n * y with n the integer nearest x / y, the even one of two."""
    LDEXP = "ldexp"
    """x times two to the power of the second operand, a whole number in the same dtype."""
    EXPONENT = "exponent"
    """The exponent of two of the leading bit of |x|, as a number in x's dtype: minus infinity for 0 (C's logb)."""
    SIGN = "sign"
    COPYSIGN = "copysign"
    FLOOR = "floor"
    CEIL = "ceil"
    TRUNC = "trunc"
    ROUND_EVEN = "round_even"
    ROUND_AWAY = "round_away"
    EQUAL = "equal"
    NOT_EQUAL = "not_equal"
    LESS = "less"
    LESS_EQUAL = "less_equal"
    GREATER = "greater"
    GREATER_EQUAL = "greater_equal"
    IS_NAN = "is_nan"
    IS_INF = "is_inf"
    LOGICAL_AND = "logical_and"
    LOGICAL_OR = "logical_or"
    LOGICAL_XOR = "logical_xor"
    LOGICAL_NOT = "logical_not"
    BITWISE_AND = "bitwise_and"
    BITWISE_OR = "bitwise_or"
    BITWISE_XOR = "bitwise_xor"
    BITWISE_NOT = "bitwise_not"
    SHIFT_LEFT = "shift_left"
    SHIFT_RIGHT_ARITHMETIC = "shift_right_arithmetic"
    SHIFT_RIGHT_LOGICAL = "shift_right_logical"
    MULTIPLY_HIGH = "multiply_high"
    POPULATION_COUNT = "population_count"
    COUNT_LEADING_ZEROS = "count_leading_zeros"
    FIND_FIRST_SET = "find_first_set"
    BIT_REVERSE = "bit_reverse"
    SELECT = "select"


ASSOCIATIVE = frozenset(
    {
        Operator.ADD, Operator.MULTIPLY, Operator.MINIMUM, Operator.MAXIMUM,
        Operator.LOGICAL_AND, Operator.LOGICAL_OR, Operator.LOGICAL_XOR,
        Operator.BITWISE_AND, Operator.BITWISE_OR, Operator.BITWISE_XOR,
    }
)  # fmt: skip
COMMUTATIVE = ASSOCIATIVE | {Operator.EQUAL, Operator.NOT_EQUAL, Operator.MULTIPLY_HIGH}
ROUNDING_FREE = ASSOCIATIVE - {Operator.ADD, Operator.MULTIPLY}
COMPARISONS = frozenset(
    {
        Operator.EQUAL, Operator.NOT_EQUAL, Operator.LESS, Operator.LESS_EQUAL,
        Operator.GREATER, Operator.GREATER_EQUAL,
    }
)  # fmt: skip
PREDICATES = COMPARISONS | {
    Operator.IS_NAN, Operator.IS_INF,
    Operator.LOGICAL_AND, Operator.LOGICAL_OR, Operator.LOGICAL_XOR, Operator.LOGICAL_NOT,
}  # fmt: skip

INTEGER = frozenset(
    {
        Operator.ADD,
        Operator.SUBTRACT,
        Operator.MULTIPLY,
        Operator.NEGATE,
        Operator.MINIMUM,
        Operator.MAXIMUM,
        Operator.TRUNCATED_DIVIDE,
        Operator.TRUNCATED_MODULO,
        Operator.FLOOR_DIVIDE,
        Operator.FLOOR_MODULO,
        Operator.CEILING_DIVIDE,
        Operator.BITWISE_AND,
        Operator.BITWISE_OR,
        Operator.BITWISE_XOR,
        Operator.BITWISE_NOT,
        Operator.SHIFT_LEFT,
        Operator.SHIFT_RIGHT_ARITHMETIC,
        Operator.SHIFT_RIGHT_LOGICAL,
    }
)
"""Operators that give an integer for integers, exactly."""

_TERNARY = frozenset({Operator.FMA, Operator.SELECT})
_BINARY = (
    ASSOCIATIVE
    | COMPARISONS
    | {
        Operator.SUBTRACT, Operator.DIVIDE, Operator.TRUNCATED_DIVIDE, Operator.TRUNCATED_MODULO,
        Operator.FLOOR_DIVIDE, Operator.FLOOR_MODULO, Operator.CEILING_DIVIDE, Operator.POWER,
        Operator.COPYSIGN, Operator.SHIFT_LEFT, Operator.SHIFT_RIGHT_ARITHMETIC,
        Operator.SHIFT_RIGHT_LOGICAL, Operator.MULTIPLY_HIGH, Operator.ARCTAN2, Operator.HYPOT, Operator.REMAINDER,
        Operator.LDEXP, Operator.BESSEL_J, Operator.BESSEL_Y, Operator.BESSEL_I,
    }
)  # fmt: skip


def arity(operator: Operator) -> int:
    """How many operands `operator` takes: 1, 2 or 3."""
    if operator in _TERNARY:
        return 3
    return 2 if operator in _BINARY else 1
