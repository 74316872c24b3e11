"""Operators of an instruction on one or two operands, in the engine's arithmetic: float32, or the bits as they are."""

from __future__ import annotations

import math

from portcheck.core.dtype import FLOAT32
from portcheck.frontends.nki.expressions.bind import Call, ir_operator, operator_object
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.arithmetic import literal
from portcheck.frontends.nki.values.data import as_view, compute, is_as_long, load, operand
from portcheck.frontends.nki.values.fitting import misfit
from portcheck.frontends.nki.values.operands import Operand, cast
from portcheck.frontends.nki.values.tiles import Result, View
from portcheck.frontends.nki.values.values import Value
from portcheck.frontends.nki.values.views import reshape
from portcheck.ir import Operator, Select, ValueType, arity
from portcheck.knowledge import OperatorForm, OperatorObject, Role

EXACT = frozenset(
    {
        Operator.ABSOLUTE, Operator.SQUARE, Operator.RELU, Operator.SIGN, Operator.NEGATE, Operator.FLOOR,
        Operator.CEIL, Operator.TRUNC, Operator.RECIPROCAL, Operator.LOGICAL_NOT, Operator.BITWISE_NOT,
    }
)  # fmt: skip
BITWISE = frozenset(
    {
        Operator.BITWISE_AND, Operator.BITWISE_OR, Operator.BITWISE_XOR, Operator.BITWISE_NOT, Operator.SHIFT_LEFT,
        Operator.SHIFT_RIGHT_LOGICAL, Operator.SHIFT_RIGHT_ARITHMETIC,
    }
)  # fmt: skip
SIGMOID_SLOPE = 1.702
"""The sigmoid that stands for the normal distribution in the approximated GELU has this slope."""


def rank_of(value: Value | None) -> int:
    """How many dimensions a tile has; 0 for anything else."""
    return len(value.shape) if isinstance(value, View | Result) else 0


def operand_for(call: Call, value: Value | None, rank: int = 0) -> Operand:
    """`value` as an operand; raises MisunderstoodError when it is none."""
    found = operand(call.context, value, rank)
    if found is None:
        raise MisunderstoodError("an operand is not understood")
    return found


def operand_like(call: Call, value: Value | None, like: Operand, rank: int = 0) -> Operand:
    """`value` as an operand beside `like`, laid out as it where both have as many elements in each partition."""
    view = as_view(call.context, value) if isinstance(value, View) else None
    is_laid_out = view is not None and len(view.shape) > 1 < len(like.shape)
    if view is not None and is_laid_out and misfit(view.shape, like.shape) and is_as_long(view.shape, like.shape):
        return load(call.context, reshape(call.context, view, like.shape))
    return operand_for(call, value, rank)


def operator_for(call: Call, role: Role) -> OperatorObject | None:
    """The operator object in `role`; None when it is left out, an error when it is not known."""
    value = call.given(role)
    if value is None:
        return None
    entry = operator_object(call.context, value)
    if entry is None or (ir_operator(entry) is None and entry.form is OperatorForm.PLAIN):
        raise MisunderstoodError(f"the operator {getattr(value, 'name', '')} is not understood".replace("  ", " "))
    return entry


def is_identity(entry: OperatorObject | None) -> bool:
    """Whether the operator is left out or gives its operand."""
    return entry is None or entry.form is OperatorForm.IDENTITY


def applied(call: Call, operator: Operator, left: Operand, right: Operand, *, reverse: bool = False) -> Operand:
    """`left operator right` in the engine's arithmetic; bit patterns are left as they are."""
    if arity(operator) != 2:
        raise MisunderstoodError(f"{operator.value} takes no second operand")
    data = left
    if reverse:
        left, right = right, left
    mask = call.mask_at(max(len(left.shape), len(right.shape)))
    if operator in BITWISE:
        dtype = right.dtype if left.is_scalar else left.dtype
        return compute(call.context, operator, (left, right), dtype, via=call.via, mask=mask, like=data)
    return compute(call.context, operator, (left, right), FLOAT32, via=call.via, mask=mask, like=data)


def single(call: Call, operator: Operator, value: Operand) -> Operand:
    """`operator` applied to a tile in the engine's arithmetic."""
    if arity(operator) != 1:
        raise MisunderstoodError(f"{operator.value} lacks an operand")
    dtype = value.dtype if operator in BITWISE else FLOAT32
    return compute(
        call.context, operator, (value,), dtype, via=call.via, mask=call.mask_at(len(value.shape)),
        approximate=operator not in EXACT,
    )  # fmt: skip


def function_of(call: Call, entry: OperatorObject, value: Operand, parameter: Operand | None = None) -> Operand:
    """The function that an operator object stands for, applied to one operand."""
    if entry.operator is not None:
        return single(call, entry.operator, value)
    if entry.form is OperatorForm.IDENTITY:
        return cast(call.context, value, FLOAT32, call.via)
    if entry.form is OperatorForm.DERIVATIVE and entry.of is not None:
        return _derivative(call, entry.of, value)
    if entry.form is OperatorForm.LEAKY and parameter is not None:
        return _leaky(call, value, parameter)
    raise MisunderstoodError("the function has no counterpart in the IR")


def combination(call: Call, entry: OperatorObject, left: Operand, right: Operand, *, reverse: bool) -> Operand:
    """Two operands combined by the operator that an operator object stands for."""
    if entry.operator is not None:
        return applied(call, entry.operator, left, right, reverse=reverse)
    if entry.form is OperatorForm.MAGNITUDES and entry.of is not None:
        left, right = (single(call, Operator.ABSOLUTE, side) for side in (left, right))
        return applied(call, entry.of, left, right)
    raise MisunderstoodError("the operator has no counterpart in the IR")


def _leaky(call: Call, value: Operand, parameter: Operand) -> Operand:
    context = call.context
    value = cast(context, value, FLOAT32, call.via)
    is_positive = applied(call, Operator.GREATER, value, _number(0.0))
    slanted = applied(call, Operator.MULTIPLY, value, parameter)
    made = context.builder.result(
        Select, via=call.via, condition=is_positive.expression, on_true=value.expression, on_false=slanted.expression,
        type=ValueType(FLOAT32, value.shape),
    )  # fmt: skip
    return Operand(made, FLOAT32, value.shape)


def _derivative(call: Call, operator: Operator, value: Operand) -> Operand:
    """The derivative of a function, from what it is made of."""
    value = cast(call.context, value, FLOAT32, call.via)
    match operator:
        case Operator.ERF:
            return _times(call, _bell(call, value, 1.0), _number(2 / math.sqrt(math.pi)))
        case Operator.GELU:
            density = _times(call, _bell(call, value, 0.5), _number(1 / math.sqrt(2 * math.pi)))
            below = single(call, Operator.NORMAL_CDF, value)
            return applied(call, Operator.ADD, below, _times(call, value, density))
        case Operator.SILU:
            return _sigmoid_product(call, value)
        case Operator.GELU_SIGMOID:
            return _sigmoid_product(call, _times(call, value, _number(SIGMOID_SLOPE)))
        case _:
            raise MisunderstoodError(f"the derivative of {operator.value} is not known")


def _bell(call: Call, value: Operand, width: float) -> Operand:
    """exp(-width * x * x)."""
    exponent = _times(call, single(call, Operator.SQUARE, value), _number(-width))
    return single(call, Operator.EXP, exponent)


def _sigmoid_product(call: Call, inner: Operand) -> Operand:
    """The derivative of x * sigmoid(a * x), which is s * (1 + a * x * (1 - s)); `inner` is a * x."""
    share = single(call, Operator.SIGMOID, inner)
    rest = applied(call, Operator.SUBTRACT, _number(1.0), share)
    return _times(call, share, applied(call, Operator.ADD, _times(call, inner, rest), _number(1.0)))


def _times(call: Call, left: Operand, right: Operand) -> Operand:
    return applied(call, Operator.MULTIPLY, left, right)


def _number(value: float) -> Operand:
    return Operand(literal(value), literal(value).dtype)
