"""Operators on numbers: C++'s rules for types, expressions for indices, computes for data."""

from __future__ import annotations

from portcheck.core.dtype import BOOL, FLOAT32, INT32, DType, DTypeKind
from portcheck.frontends.cuda.model.conversions import (
    common,
    comparable,
    convert,
    convert_constant,
    materialised,
    promoted,
    pure,
    truth,
    wrapped,
)  # fmt: skip
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Scalar
from portcheck.ir import COMPARISONS, PREDICATES, Compute, Const, Operator, Rounding, Select, arity

_INTEGER = {
    "+": Operator.ADD, "-": Operator.SUBTRACT, "*": Operator.MULTIPLY, "/": Operator.TRUNCATED_DIVIDE,
    "%": Operator.TRUNCATED_MODULO, "&": Operator.BITWISE_AND, "|": Operator.BITWISE_OR, "^": Operator.BITWISE_XOR,
    "<<": Operator.SHIFT_LEFT,
}  # fmt: skip
_FLOATING = {"+": Operator.ADD, "-": Operator.SUBTRACT, "*": Operator.MULTIPLY, "/": Operator.DIVIDE}
_COMPARISONS = {
    "==": Operator.EQUAL, "!=": Operator.NOT_EQUAL, "<": Operator.LESS, "<=": Operator.LESS_EQUAL,
    ">": Operator.GREATER, ">=": Operator.GREATER_EQUAL, "not_eq": Operator.NOT_EQUAL,
}  # fmt: skip
_CONNECTIVES = {
    "&&": Operator.LOGICAL_AND, "||": Operator.LOGICAL_OR, "and": Operator.LOGICAL_AND, "or": Operator.LOGICAL_OR,
}  # fmt: skip
_CONTRACTIBLE = frozenset({Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY})
_FAST = frozenset(
    {
        Operator.SIN, Operator.COS, Operator.TAN, Operator.LOG, Operator.LOG2, Operator.LOG10, Operator.EXP,
        Operator.EXP10, Operator.POWER, Operator.TANH, Operator.DIVIDE, Operator.SQRT, Operator.RECIPROCAL,
    }
)  # fmt: skip
"""What nvcc's --use_fast_math replaces for float32 (CUDA C++ Programming Guide, intrinsic functions)."""
_IMPRECISE = frozenset({Operator.DIVIDE, Operator.RECIPROCAL})


def connective(text: str) -> Operator | None:
    """The logical operator written `text`."""
    return _CONNECTIVES.get(text)


def binary(state: State, text: str, left: Scalar, right: Scalar, via: str = "") -> Scalar | None:
    """`left text right`; None for an operator that numbers of these types do not have."""
    via = via or text
    if text in _CONNECTIVES:
        return logical(state, _CONNECTIVES[text], truth(state, left), truth(state, right), via)
    if text == ">>":
        dtype = promoted(left.dtype)
        is_unsigned = dtype.kind is DTypeKind.UNSIGNED
        operator = Operator.SHIFT_RIGHT_LOGICAL if is_unsigned else Operator.SHIFT_RIGHT_ARITHMETIC
        return _integral(state, operator, convert(state, left, dtype), convert(state, right, dtype), dtype, via)
    if text == "<<":
        dtype = promoted(left.dtype)
        left, right = convert(state, left, dtype), convert(state, right, dtype)
        return _integral(state, Operator.SHIFT_LEFT, left, right, dtype, via)
    dtype = common(left.dtype, right.dtype)
    left, right = convert(state, left, dtype), convert(state, right, dtype)
    if text in _COMPARISONS:
        return _compare(state, _COMPARISONS[text], left, right, via)
    if dtype.is_float:
        floating = _FLOATING.get(text)
        return None if floating is None else compute(state, floating, (left, right), dtype, via)
    integral = _INTEGER.get(text)
    return None if integral is None else _integral(state, integral, left, right, dtype, via)


def logical(state: State, operator: Operator, left: Scalar, right: Scalar, via: str) -> Scalar:
    """A connective of two truth values; it stays an expression while one side is no data, so that guards stay whole."""
    if isinstance(left.expr, Const):
        is_decided = bool(left.expr.value) == (operator is Operator.LOGICAL_OR)
        return left if is_decided else right
    if left.is_data and right.is_data:
        return state.result(Compute, BOOL, operator=operator, operands=(left.expr, right.expr), via=via)
    return pure(state, operator, (left, right), BOOL)


def compute(
    state: State, operator: Operator, operands: tuple[Scalar, ...], dtype: DType, via: str,
    approximate: bool = False, rounding: Rounding | None = None,
) -> Scalar:  # fmt: skip
    """Emits `operator` on data of `dtype`; what states a rounding is never contracted."""
    options = state.options
    is_single = dtype == FLOAT32
    is_imprecise = operator in _IMPRECISE and not options.precise_division
    approximate = approximate or (is_single and (is_imprecise or (options.fast_math and operator in _FAST)))
    contractible = rounding is None and options.fmad and dtype.is_float and operator in _CONTRACTIBLE
    stated = rounding if rounding is not None and dtype.is_float else Rounding.NEAREST_EVEN
    return state.result(
        Compute, dtype, operator=operator, operands=tuple(materialised(state, value) for value in operands),
        approximate=approximate, contractible=contractible, rounding=stated, via=via,
    )  # fmt: skip


def apply_operator(
    state: State, operator: Operator, operands: tuple[Scalar, ...], dtype: DType, via: str, approximate: bool = False,
    rounding: Rounding | None = None,
) -> Scalar:  # fmt: skip
    """`operator` of a function such as max or fmaf on operands already brought to one type."""
    if operator in COMPARISONS:
        return _compare(state, operator, operands[0], operands[1], via)
    if operator in PREDICATES:
        return state.result(
            Compute, BOOL, operator=operator, operands=tuple(materialised(state, value) for value in operands), via=via
        )
    if not dtype.is_float and not any(value.is_data or value.dtype.is_float for value in operands):
        return pure(state, operator, operands, dtype)
    return compute(state, operator, operands, dtype, via, approximate, rounding)


def _compare(state: State, operator: Operator, left: Scalar, right: Scalar, via: str) -> Scalar:
    if left.dtype.is_float or left.is_data or right.is_data:
        operands = (materialised(state, left), materialised(state, right))
        return state.result(Compute, BOOL, operator=operator, operands=operands, via=via)
    return pure(state, operator, comparable(state, left, right), BOOL)


def _integral(state: State, operator: Operator, left: Scalar, right: Scalar, dtype: DType, via: str) -> Scalar:
    is_address = state.is_address(left.expr) or state.is_address(right.expr)
    if (left.is_data or right.is_data) and not is_address:
        return compute(state, operator, (left, right), dtype, via)
    return pure(state, operator, (left, right), dtype)


def unary(state: State, text: str, value: Scalar) -> Scalar | None:
    """`text value` for `-`, `+`, `~` and `!`."""
    if text in ("!", "not"):
        holds = truth(state, value)
        if isinstance(holds.expr, Const):
            return Scalar(Const(not holds.expr.value, BOOL), BOOL)
        if holds.is_data:
            return state.result(Compute, BOOL, operator=Operator.LOGICAL_NOT, operands=(holds.expr,), via=text)
        return pure(state, Operator.LOGICAL_NOT, (holds,), BOOL)
    value = convert(state, value, promoted(value.dtype))
    if text == "+":
        return value
    if text == "-" and isinstance(value.expr, Const):
        negated = -value.expr.value
        negated = negated if value.dtype.is_float else wrapped(int(negated), value.dtype)
        return Scalar(Const(negated, value.dtype), value.dtype)
    operator = {"-": Operator.NEGATE, "~": Operator.BITWISE_NOT, "compl": Operator.BITWISE_NOT}.get(text)
    if operator is None or (operator is Operator.BITWISE_NOT and value.dtype.is_float):
        return None
    if value.is_data or value.dtype.is_float:
        return compute(state, operator, (value,), value.dtype, text)
    return pure(state, operator, (value,), value.dtype)


def select(state: State, condition: Scalar, on_true: Scalar, on_false: Scalar) -> Scalar:
    """`condition ? on_true : on_false` once both arms are values."""
    dtype = on_true.dtype if on_true.dtype == on_false.dtype else common(on_true.dtype, on_false.dtype)
    on_true, on_false = convert(state, on_true, dtype), convert(state, on_false, dtype)
    if isinstance(condition.expr, Const):
        return on_true if condition.expr.value else on_false
    is_data = condition.is_data or on_true.is_data or on_false.is_data or dtype.is_float
    if not is_data:
        return pure(state, Operator.SELECT, (condition, on_true, on_false), dtype)
    return state.result(
        Select, dtype, condition=condition.expr, on_true=materialised(state, on_true),
        on_false=materialised(state, on_false), via="?:",
    )  # fmt: skip


def one_of(dtype: DType) -> Scalar:
    """The number 1 in `dtype`."""
    return Scalar(convert_constant(Const(1, INT32), dtype), dtype)


def takes(operator: Operator) -> int:
    """How many operands `operator` has."""
    return arity(operator)
