"""C++'s conversions between numbers: promotions, casts, constants; integers without data stay expressions."""

from __future__ import annotations

import math
import struct

from portcheck.core.dtype import (
    BFLOAT16,
    BOOL,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    UINT32,
    UINT64,
    DType,
    DTypeKind,
)  # fmt: skip
from portcheck.frontends.cuda.expressions.undefined import as_floating
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import CType, Scalar
from portcheck.ir import (
    PREDICATES,
    Apply,
    Cast,
    Compute,
    Const,
    Expr,
    Operator,
    Rounding,
    Symbol,
    ValueType,
    apply,
    is_within,
)  # fmt: skip
from portcheck.knowledge import ConstructKind

_RANKS = (INT32, UINT32, INT64, UINT64, BFLOAT16, FLOAT16, FLOAT32, FLOAT64)
_MODULAR = frozenset(
    {
        Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY, Operator.NEGATE, Operator.SHIFT_LEFT,
        Operator.BITWISE_AND, Operator.BITWISE_OR, Operator.BITWISE_XOR, Operator.BITWISE_NOT,
    }
)  # fmt: skip
_SHRINKING = frozenset({Operator.TRUNCATED_DIVIDE, Operator.SHIFT_RIGHT_ARITHMETIC, Operator.SHIFT_RIGHT_LOGICAL})
_LARGEST_EXPRESSION = 300
DEEPEST_EXPRESSION = 80
"""Levels of an expression that is carried along; the text form and the walks over one reach a little further."""
_INDEX_BITS = 32
"""Integers of this width or more are expressions; what is made narrower is cut by an operation, unless it fits."""


def promoted(dtype: DType) -> DType:
    """The type small integers are computed in."""
    is_small = dtype.kind is DTypeKind.BOOL or (dtype.is_integer and dtype not in _RANKS)
    return INT32 if is_small else dtype


def common(left: DType, right: DType) -> DType:
    """The type two operands are brought to: C++'s usual arithmetic conversions, with the half types below float."""
    left, right = promoted(left), promoted(right)
    if left == right or right not in _RANKS:
        return left
    if left not in _RANKS:
        return right
    if {left, right} == {FLOAT16, BFLOAT16}:
        return FLOAT32
    return max(left, right, key=_RANKS.index)


def pure(state: State, operator: Operator, arguments: tuple[Scalar, ...], dtype: DType) -> Scalar:
    """`operator` applied as an expression; one that grew too large is put into a register."""
    size = 1 + sum(argument.size for argument in arguments)
    result = Scalar(apply(operator, *(argument.expr for argument in arguments), dtype=dtype), dtype, size)
    if size <= DEEPEST_EXPRESSION or (size <= _LARGEST_EXPRESSION and is_within(result.expr, DEEPEST_EXPRESSION)):
        return result
    place = state.register("expression", dtype)
    state.store(place, result.expr, via="")
    return state.load(place, dtype)


def convert(
    state: State, value: Scalar, dtype: DType, via: str = "", rounding: Rounding | None = None, saturating: bool = False
) -> Scalar:
    """`value` converted to `dtype`, as an assignment or a cast does."""
    if value.dtype == dtype or dtype.is_symbolic:
        return value
    is_usual = not saturating and rounding in (None, default_rounding(state, value.dtype, dtype))
    if isinstance(value.expr, Const) and is_usual:
        return Scalar(convert_constant(value.expr, dtype), dtype)
    floating = as_floating(state, value, dtype)
    if floating is not None:
        return floating
    if dtype == BOOL:
        return truth(state, value)
    is_integral = dtype.is_integer and not value.dtype.is_float and not value.dtype.is_symbolic
    if is_integral and not value.is_data and (integer_bits(dtype) >= _INDEX_BITS or _fits(state, value.expr, dtype)):
        return _retyped(state, value, dtype)
    if is_integral and state.is_address(value.expr):
        return Scalar(value.expr, dtype, value.size)
    rounding = rounding or default_rounding(state, value.dtype, dtype)
    operand = materialised(state, value)
    return state.result(Cast, dtype, operand=operand, rounding=rounding, saturating=saturating, via=via)


def saturates(state: State, type_: CType) -> bool:
    """Whether a class of CUDA's makes the largest finite number of what is too large for it."""
    known = state.construct(type_.name)
    return known is not None and known.kind is ConstructKind.TYPE and known.saturates


def constructed(state: State, value: Scalar, type_: CType, dtype: DType, via: str = "") -> Scalar:
    """`value` as one of `type_`, whose format is `dtype`: converted as that type's constructors do it."""
    if not dtype.is_float or value.dtype == dtype or not saturates(state, type_):
        return convert(state, value, dtype, via)
    facts, known = state.knowledge.dtype(dtype.name), value.expr.value if isinstance(value.expr, Const) else None
    is_inside = known is not None and facts is not None and facts.min_finite <= known <= facts.max_finite
    return convert(state, value, dtype, via, saturating=not is_inside)


def materialised(state: State, value: Scalar) -> Expr:
    """`value` as an expression of exactly its own type."""
    expression = value.expr
    if expression.dtype == value.dtype:
        return expression
    if isinstance(expression, Const):
        return convert_constant(expression, value.dtype)
    if isinstance(expression, Symbol) and expression.name in state.small_symbols:
        return Symbol(expression.name, value.dtype)
    rounding = default_rounding(state, expression.dtype, value.dtype)
    return state.builder.result(Cast, operand=expression, type=ValueType(value.dtype), rounding=rounding)


def truth(state: State, value: Scalar) -> Scalar:
    """Whether `value` is not zero."""
    if value.dtype == BOOL:
        return value
    zero = convert_constant(Const(0, INT32), value.dtype)
    if state.is_own_address(value.expr):
        return Scalar(Const(True, BOOL), BOOL)
    if isinstance(value.expr, Const):
        return Scalar(Const(bool(value.expr.value), BOOL), BOOL)
    if value.is_data or value.dtype.is_float:
        operands = (materialised(state, value), zero)
        return state.result(Compute, BOOL, operator=Operator.NOT_EQUAL, operands=operands, via="!=")
    if isinstance(value.expr, Apply) and value.expr.operator in PREDICATES:
        return Scalar(value.expr, BOOL, value.size)
    return pure(state, Operator.NOT_EQUAL, comparable(state, value, Scalar(zero, value.dtype)), BOOL)


def convert_constant(constant: Const, dtype: DType) -> Const:
    """`constant` in another type; floats keep the digits they were written with until they are widened."""
    value = constant.value
    if dtype == BOOL:
        return Const(bool(value), BOOL)
    if dtype.is_float:
        if isinstance(value, float):
            return Const(_rounded(value, constant.dtype), dtype)
        return Const(float(value), dtype)
    if isinstance(value, float):
        value = math.trunc(value) if math.isfinite(value) else 0
    return Const(wrapped(int(value), dtype), dtype)


def wrapped(value: int, dtype: DType) -> int:
    """`value` modulo the range of an integer type."""
    bits = integer_bits(dtype)
    value &= (1 << bits) - 1
    return value - (1 << bits) if dtype.kind is DTypeKind.SIGNED and value >> (bits - 1) else value


def integer_bits(dtype: DType) -> int:
    """The width of an integer type."""
    digits = dtype.name.lstrip("abcdefghijklmnopqrstuvwxyz")
    return int(digits) if digits.isdigit() else 8


def default_rounding(state: State, source: DType, target: DType) -> Rounding:
    """How C++ rounds a conversion without a rounding of its own."""
    if source.is_float and target.is_integer:
        return Rounding.TOWARD_ZERO
    if not target.is_float:
        return Rounding.EXACT
    if source == BOOL:
        return Rounding.EXACT
    have, want = state.knowledge.dtype(source.name), state.knowledge.dtype(target.name)
    if have is None or want is None:
        return Rounding.NEAREST_EVEN
    fits = have.significand_bits <= want.significand_bits and have.max_finite <= want.max_finite
    if source.is_float:
        fits = fits and have.min_subnormal_exponent >= want.min_subnormal_exponent
    return Rounding.EXACT if fits else Rounding.NEAREST_EVEN


def _rounded(value: float, dtype: DType) -> float:
    """`value` as `dtype` holds it, where that is narrower than a Python float."""
    code = {FLOAT32: "f", FLOAT16: "e"}.get(dtype)
    if code is None or not math.isfinite(value):
        return value
    try:
        packed: float = struct.unpack(f"<{code}", struct.pack(f"<{code}", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return packed


def _retyped(state: State, value: Scalar, dtype: DType) -> Scalar:
    """The expression whose value in `dtype` is that of `value`.

    An expression stands for its value modulo the range of the number's type, which is what every operator of that type
    makes of it; it is brought to the type itself before it is widened. Narrower results of sums and products are the
    same sums and products; adding 0 wraps whatever else may not fit.
    """
    if dtype == BOOL or _fits(state, value.expr, dtype):
        return Scalar(value.expr, dtype, value.size)
    if integer_bits(dtype) > integer_bits(promoted(value.dtype)):
        exact = value if is_exact(state, value) else typed(value)
        return Scalar(exact.expr, dtype, exact.size)
    if integer_bits(dtype) >= integer_bits(value.dtype) or isinstance(value.expr, Symbol):
        kept = typed(Scalar(value.expr, dtype, value.size)) if _is_modular(value.expr) else value
        return Scalar(kept.expr, dtype, kept.size)
    return typed(Scalar(value.expr, dtype, value.size))


def typed(value: Scalar) -> Scalar:
    """`value` as an expression of its own type, wrapped to it."""
    expression = value.expr
    if expression.dtype == value.dtype:
        return value
    if isinstance(expression, Const):
        return Scalar(convert_constant(expression, value.dtype), value.dtype)
    is_narrower = integer_bits(value.dtype) <= integer_bits(expression.dtype)
    if isinstance(expression, Apply) and _is_modular(expression) and is_narrower:
        return Scalar(Apply(expression.operator, expression.arguments, value.dtype), value.dtype, value.size)
    zero = Const(0, value.dtype)
    return Scalar(apply(Operator.ADD, expression, zero, dtype=value.dtype), value.dtype, value.size + 2)


def _is_modular(expression: Expr) -> bool:
    return isinstance(expression, Apply) and expression.operator in _MODULAR


def is_exact(state: State, value: Scalar) -> bool:
    """Whether the expression of an integer has the very value of it, not only modulo the range of its type."""
    held = value.expr.dtype
    if held == value.dtype or held == BOOL or _fits(state, value.expr, value.dtype):
        return True
    spare = integer_bits(value.dtype) - integer_bits(held)
    same_kind = held.kind is value.dtype.kind
    return spare >= 0 if same_kind else spare > 0 and held.kind is DTypeKind.UNSIGNED


def comparable(state: State, left: Scalar, right: Scalar) -> tuple[Scalar, Scalar]:
    """Two integers of one type, whose expressions compare as that type does."""
    dtype = left.dtype
    shared = common(left.expr.dtype, right.expr.dtype)
    if shared == dtype:
        return left, right
    kinds = {left.expr.dtype.kind, right.expr.dtype.kind} - {DTypeKind.BOOL}
    if len(kinds) <= 1 and is_exact(state, left) and is_exact(state, right):
        return left, right
    return typed(left), typed(right)


def is_never_negative(state: State, expression: Expr) -> bool:
    """Whether the value of an integer expression is surely at least 0."""
    return expression.dtype.kind is DTypeKind.UNSIGNED or _fits(state, expression, UINT64)


def _is_wider(dtype: DType, other: DType) -> bool:
    """Whether `dtype`, narrower than an index, holds all of `other`."""
    if not other.is_integer or other.is_symbolic or integer_bits(dtype) >= _INDEX_BITS:
        return False
    sign = dtype.kind is DTypeKind.SIGNED
    return integer_bits(dtype) - sign >= integer_bits(other) - (other.kind is DTypeKind.SIGNED) and (
        sign or other.kind is DTypeKind.UNSIGNED
    )


def _fits(state: State, expression: Expr, dtype: DType) -> bool:
    """Whether every value of `expression` surely lies in `dtype`."""
    bits = integer_bits(dtype) - (dtype.kind is DTypeKind.SIGNED)
    if isinstance(expression, Const):
        return wrapped(int(expression.value), dtype) == expression.value
    if isinstance(expression, Symbol):
        return (bits >= 31 and expression.name in state.small_symbols) or _is_wider(dtype, expression.dtype)
    if not isinstance(expression, Apply):
        return False
    if expression.operator in PREDICATES:
        return True
    if expression.operator is Operator.BITWISE_AND:
        masks = [part for part in expression.arguments if isinstance(part, Const) and part.value >= 0]
        return any(_fits(state, part, dtype) for part in masks)
    if expression.operator is Operator.TRUNCATED_MODULO:
        divided, divisor = expression.arguments
        may_be_negative = dtype.kind is DTypeKind.UNSIGNED and expression.dtype.kind is not DTypeKind.UNSIGNED
        is_small = _fits(state, divisor, dtype) and not may_be_negative
        return is_small or _fits(state, divided, dtype)
    if expression.operator in _SHRINKING:
        divisor = expression.arguments[1]
        least = 2 if expression.operator is Operator.TRUNCATED_DIVIDE else 1
        if isinstance(divisor, Const) and divisor.value >= least and integer_bits(promoted(expression.dtype)) <= 32:
            may_be_negative = dtype.kind is DTypeKind.UNSIGNED and expression.dtype.kind is not DTypeKind.UNSIGNED
            return bits >= 31 and (not may_be_negative or _fits(state, expression.arguments[0], dtype))
        return _fits(state, expression.arguments[0], dtype)
    return False
