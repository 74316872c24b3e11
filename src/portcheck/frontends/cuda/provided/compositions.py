"""Functions of numbers that no single operator is, each as the operations its documentation spells out."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from portcheck.core.dtype import BOOL, FLOAT64, INT32, DType, dtype_named
from portcheck.frontends.cuda.expressions.arithmetic import apply_operator, select
from portcheck.frontends.cuda.expressions.numbers import bits_of, joined, unsigned_of
from portcheck.frontends.cuda.memory.places import pointer_of, read, scalar, target, write
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.conversions import common, convert, convert_constant
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import type_of
from portcheck.frontends.cuda.model.values import Aggregate, Nothing, Scalar, Value
from portcheck.ir import PREDICATES, Const, Operator, Rounding
from portcheck.knowledge import Construct, Role, Semantics

Composition = Callable[[State, CallSite, Construct, tuple[Scalar, ...], DType], Scalar]


def composed(state: State, call: CallSite, construct: Construct) -> Value | None:
    """The function `construct` of the call's arguments, member by member for vectors; None where it has too few."""
    count = len(construct.parameters)
    is_compared_otherwise = construct.semantics in _OF_ANY_TYPE and len(call.arguments) > count
    if len(call.arguments) < count or count == 0 or is_compared_otherwise:
        return None
    values = [read(state, state.evaluate(node), node) for node in call.arguments[:count]]
    if any(isinstance(value, Aggregate) for value in values):
        return _memberwise(state, call, construct, values)
    numbers = tuple(scalar(state, value, node) for value, node in zip(values, call.arguments, strict=False))
    stated = type_of(state, call.templates[0]).dtype if call.templates else None
    if stated is not None and construct.semantics in _OF_ANY_TYPE:
        numbers = tuple(convert(state, number, stated) for number in numbers)
    return composed_of(state, call, construct, numbers)


def _memberwise(state: State, call: CallSite, construct: Construct, values: list[Value]) -> Value | None:
    shape = next(value for value in values if isinstance(value, Aggregate))
    rows: list[tuple[str, Scalar]] = []
    for name, _ in shape.members:
        parts = [value.member(name) if isinstance(value, Aggregate) else value for value in values]
        numbers = tuple(part for part in parts if isinstance(part, Scalar))
        if len(numbers) != len(parts):
            return None
        rows.append((name, composed_of(state, call, construct, numbers)))
    if construct.semantics is Semantics.COMPUTE_COMPARE_ALL:
        return reduce(lambda one, other: _of(state, Operator.LOGICAL_AND, one, other), [number for _, number in rows])
    if construct.semantics is Semantics.COMPUTE_COMPARE_MASK:
        part = unsigned_of(bits_of(state, dtype_named(construct.dtype)) // len(rows))
        ones, zero = Scalar(Const(-1, INT32), INT32), Scalar(Const(0, INT32), INT32)
        return joined(state, [convert(state, select(state, number, ones, zero), part) for _, number in rows])
    return Aggregate(shape.type, tuple(rows))


def composed_of(state: State, call: CallSite, construct: Construct, numbers: tuple[Scalar, ...]) -> Scalar:
    """The composition on numbers brought to their common type, or to that of the function."""
    dtype = reduce(common, (number.dtype for number in numbers))
    is_compared = construct.semantics in _COMPARED
    if construct.dtype not in ("", "operand", "bool") and not is_compared:
        dtype = dtype_named(construct.dtype)
    elif not dtype.is_float and construct.semantics not in _OF_ANY_TYPE:
        dtype = FLOAT64
    operands = tuple(convert(state, number, dtype) for number in numbers)
    return _COMPOSITIONS[construct.semantics](state, call, construct, operands, dtype)


_OF_ANY_TYPE = frozenset({Semantics.COMPUTE_CLAMP, Semantics.COMPUTE_EXTREMUM})
"""Templates of C++, which may be given a type or a comparison besides."""
_COMPARED = frozenset({Semantics.COMPUTE_COMPARE_MASK, Semantics.COMPUTE_COMPARE_NUMBERS})


def is_composition(construct: Construct) -> bool:
    """Whether a construct is a function made of several operators."""
    return construct.semantics in _COMPOSITIONS


def saturated(state: State, value: Scalar, via: str = "") -> Scalar:
    """`value` within 0 .. 1; 0 where it is no number."""
    zero, one = _constant(0, value.dtype), _constant(1, value.dtype)
    at_least = _of(state, Operator.MAXIMUM, value, zero, via=via)
    clamped = _of(state, Operator.MINIMUM, at_least, one, via=via)
    return select(state, _of(state, Operator.IS_NAN, value, via=via), zero, clamped)


def _saturate(state: State, call: CallSite, construct: Construct, operands: tuple[Scalar, ...], dtype: DType) -> Scalar:
    del construct, dtype
    return saturated(state, operands[0], call.via)


def _positive_difference(
    state: State, call: CallSite, construct: Construct, operands: tuple[Scalar, ...], dtype: DType
) -> Scalar:
    """x - y, or 0 where x is at most y; no number where one of them is none."""
    del construct
    left, right = operands
    difference = _of(state, Operator.SUBTRACT, left, right, via=call.via)
    is_less = _of(state, Operator.LESS_EQUAL, left, right, via=call.via)
    return select(state, is_less, _constant(0, dtype), difference)


def _reciprocal_of(
    state: State, call: CallSite, construct: Construct, operands: tuple[Scalar, ...], dtype: DType
) -> Scalar:
    operator = construct.operator or Operator.RECIPROCAL
    inner = apply_operator(state, operator, operands, dtype, call.via, True)
    return apply_operator(state, Operator.RECIPROCAL, (inner,), dtype, call.via, True)


def _is_finite(
    state: State, call: CallSite, construct: Construct, operands: tuple[Scalar, ...], dtype: DType
) -> Scalar:
    del construct
    size = _of(state, Operator.ABSOLUTE, operands[0], via=call.via)
    return _of(state, Operator.LESS, size, _infinity(dtype), via=call.via)


def _propagating(
    state: State, call: CallSite, construct: Construct, operands: tuple[Scalar, ...], dtype: DType
) -> Scalar:
    """A minimum or maximum that is no number where one of the operands is none."""
    chosen = apply_operator(state, construct.operator or Operator.MAXIMUM, operands, dtype, call.via)
    return propagated(state, operands, chosen, call.via)


def propagated(state: State, operands: tuple[Scalar, ...], value: Scalar, via: str) -> Scalar:
    """`value`, or no number where one of two operands is none."""
    is_none = [_of(state, Operator.IS_NAN, operand, via=via) for operand in operands]
    either = _of(state, Operator.LOGICAL_OR, is_none[0], is_none[-1], via=via)
    return select(state, either, Scalar(Const(float("nan"), value.dtype), value.dtype), value)


def _sign_bit(state: State, call: CallSite, construct: Construct, operands: tuple[Scalar, ...], dtype: DType) -> Scalar:
    """Whether the sign is negative, that of 0 and of NaN included."""
    del construct
    signed = _of(state, Operator.COPYSIGN, _constant(1, dtype), operands[0], via=call.via)
    return _of(state, Operator.LESS, signed, _constant(0, dtype), via=call.via)


def _compare(state: State, call: CallSite, construct: Construct, operands: tuple[Scalar, ...], dtype: DType) -> Scalar:
    """A comparison that holds where an operand is NaN if its value is 1, and fails there if it is 0."""
    operator = construct.operator or Operator.EQUAL
    holds = apply_operator(state, operator, operands, dtype, call.via)
    if construct.value is None or (operator is Operator.NOT_EQUAL) == bool(construct.value):
        return holds
    is_none = [_of(state, Operator.IS_NAN, operand, via=call.via) for operand in operands]
    either = _of(state, Operator.LOGICAL_OR, is_none[0], is_none[1], via=call.via)
    if construct.value:
        return _of(state, Operator.LOGICAL_OR, holds, either, via=call.via)
    return _of(state, Operator.LOGICAL_AND, holds, _of(state, Operator.LOGICAL_NOT, either), via=call.via)


def rectified(state: State, value: Scalar, via: str = "") -> Scalar:
    """`value`, or 0 where it is less; NaN stays."""
    zero = _constant(0, value.dtype)
    return select(state, _of(state, Operator.LESS, value, zero, via=via), zero, value)


def _rectified(
    state: State, call: CallSite, construct: Construct, operands: tuple[Scalar, ...], dtype: DType
) -> Scalar:
    operator = construct.operator or Operator.FMA
    return rectified(state, apply_operator(state, operator, operands, dtype, call.via), call.via)


def _clamp(state: State, call: CallSite, construct: Construct, operands: tuple[Scalar, ...], dtype: DType) -> Scalar:
    """The first number, or the limit that it is beyond; NaN stays."""
    del construct, dtype
    value, low, high = operands
    below = _of(state, Operator.LESS, value, low, via=call.via)
    above = _of(state, Operator.LESS, high, value, via=call.via)
    return select(state, below, low, select(state, above, high, value))


def _extremum(state: State, call: CallSite, construct: Construct, operands: tuple[Scalar, ...], dtype: DType) -> Scalar:
    """The second number where it is beyond the first, else the first: so also where one of them is NaN."""
    first, second = operands
    if not dtype.is_float:
        return apply_operator(state, construct.operator or Operator.MAXIMUM, operands, dtype, call.via)
    ordered = (first, second) if construct.operator is Operator.MAXIMUM else (second, first)
    return select(state, _of(state, Operator.LESS, *ordered, via=call.via), second, first)


def _fold(state: State, call: CallSite, construct: Construct, operands: tuple[Scalar, ...], dtype: DType) -> Scalar:
    """The least or greatest of several numbers, of the sum of the first two and the third, of those and 0."""
    operator = construct.operator or Operator.MAXIMUM
    if construct.semantics is Semantics.COMPUTE_ADD_THEN:
        operands = (apply_operator(state, Operator.ADD, operands[:2], dtype, call.via), *operands[2:])
    found = reduce(lambda one, other: apply_operator(state, operator, (one, other), dtype, call.via), operands)
    if construct.value is None:
        return found
    return apply_operator(state, Operator.MAXIMUM, (found, _constant(int(construct.value), dtype)), dtype, call.via)


def _average(state: State, call: CallSite, construct: Construct, operands: tuple[Scalar, ...], dtype: DType) -> Scalar:
    """(x + y + value) >> 1 without overflow."""
    left, right = operands
    wide = dtype_named({"int32": "int64", "uint32": "uint64"}.get(dtype.name, "int64"))
    total = _of(state, Operator.ADD, convert(state, left, wide), convert(state, right, wide), via=call.via)
    if construct.value:
        total = _of(state, Operator.ADD, total, _constant(int(construct.value), wide), via=call.via)
    half = _of(state, Operator.SHIFT_RIGHT_ARITHMETIC, total, _constant(1, wide), via=call.via)
    return convert(state, half, dtype)


def _fixed_order(
    state: State, call: CallSite, construct: Construct, operands: tuple[Scalar, ...], dtype: DType
) -> Scalar:
    """A function of an order and a number, where the name fixes the order."""
    order = _constant(int(construct.value or 0), dtype)
    operator = construct.operator or Operator.BESSEL_J
    return apply_operator(state, operator, (order, *operands), dtype, call.via, construct.approximate)


def _norm(state: State, call: CallSite, construct: Construct, operands: tuple[Scalar, ...], dtype: DType) -> Scalar:
    """The root of the sum of the squares, or its reciprocal."""
    squares = [apply_operator(state, Operator.MULTIPLY, (x, x), dtype, call.via, True) for x in operands]
    total = reduce(lambda one, other: apply_operator(state, Operator.ADD, (one, other), dtype, call.via, True), squares)
    return apply_operator(state, construct.operator or Operator.SQRT, (total,), dtype, call.via, True)


def split_results(state: State, call: CallSite, construct: Construct) -> Value | None:
    """Functions with two results, one or both of which are written through pointers."""
    node = call.at(construct, Role.SOURCE)
    targets = call.all(construct, Role.DESTINATION)
    if node is None or not targets:
        return None
    number = scalar(state, state.evaluate(node), node)
    dtype = number.dtype if number.dtype.is_float else FLOAT64
    if construct.dtype not in ("", "operand"):
        dtype = dtype_named(construct.dtype)
    number = convert(state, number, dtype)
    pointers = [pointer_of(state, state.evaluate(found)) for found in targets]
    if any(pointer is None for pointer in pointers):
        return None
    returned, written = _SPLITS[construct.semantics](state, call, construct, number)
    for pointer, value, found in zip(pointers, written, targets, strict=False):
        if pointer is not None:
            write(state, target(pointer), value, found, call.via)
    return returned if returned is not None else Nothing()


def is_split(construct: Construct) -> bool:
    """Whether a construct has two results."""
    return construct.semantics in _SPLITS


Split = tuple[Scalar | None, tuple[Scalar, ...]]


def _sine_and_cosine(state: State, call: CallSite, construct: Construct, number: Scalar) -> Split:
    is_of_pi = construct.operator is Operator.SINPI
    operators = (Operator.SINPI, Operator.COSPI) if is_of_pi else (Operator.SIN, Operator.COS)
    fast = construct.approximate or (state.options.fast_math and bool(construct.fast_math))
    both = [apply_operator(state, operator, (number,), number.dtype, call.via, fast) for operator in operators]
    return None, (both[0], both[1])


def _fraction_and_exponent(state: State, call: CallSite, construct: Construct, number: Scalar) -> Split:
    """x = m * 2^e with m in [1/2, 1); both are 0 for 0, and what is not finite is its own m."""
    del construct
    dtype = number.dtype
    leading = _of(state, Operator.EXPONENT, number, via=call.via)
    power = _of(state, Operator.ADD, leading, _constant(1, dtype), via=call.via)
    back = _of(state, Operator.NEGATE, power, via=call.via)
    fraction = _of(state, Operator.LDEXP, number, back, via=call.via)
    is_zero = _of(state, Operator.EQUAL, number, _constant(0, dtype), via=call.via)
    is_finite = _of(state, Operator.LESS, _of(state, Operator.ABSOLUTE, number), _infinity(dtype), via=call.via)
    has_power = _of(state, Operator.LOGICAL_AND, is_finite, _of(state, Operator.LOGICAL_NOT, is_zero), via=call.via)
    fraction = select(state, has_power, fraction, number)
    power = select(state, has_power, power, _constant(0, dtype))
    return fraction, (convert(state, power, INT32),)


def _fraction_and_whole(state: State, call: CallSite, construct: Construct, number: Scalar) -> Split:
    """The part before the point, and what is after it with the number's sign; 0 after an infinity."""
    del construct
    dtype = number.dtype
    whole = _of(state, Operator.TRUNC, number, via=call.via)
    rest = _of(state, Operator.SUBTRACT, number, whole, via=call.via)
    rest = select(state, _of(state, Operator.IS_INF, number, via=call.via), _constant(0, dtype), rest)
    return _of(state, Operator.COPYSIGN, rest, number, via=call.via), (whole,)


def _of(state: State, operator: Operator, *operands: Scalar, via: str = "") -> Scalar:
    """`operator` on operands of one type; nothing of it is fused with a neighbour."""
    dtype = BOOL if operator in PREDICATES else operands[0].dtype
    rounding = Rounding.NEAREST_EVEN if operands[0].dtype.is_float else None
    return apply_operator(state, operator, operands, dtype, via, False, rounding)


def _infinity(dtype: DType) -> Scalar:
    return Scalar(Const(float("inf"), dtype), dtype)


def _constant(value: int, dtype: DType) -> Scalar:
    return Scalar(convert_constant(Const(value, INT32), dtype), dtype)


_COMPOSITIONS: dict[Semantics, Composition] = {
    Semantics.COMPUTE_SATURATE: _saturate, Semantics.COMPUTE_POSITIVE_DIFFERENCE: _positive_difference,
    Semantics.COMPUTE_RECIPROCAL_OF: _reciprocal_of, Semantics.COMPUTE_IS_FINITE: _is_finite,
    Semantics.COMPUTE_PROPAGATING: _propagating, Semantics.COMPUTE_SIGN_BIT: _sign_bit,
    Semantics.COMPUTE_COMPARE_ALL: _compare, Semantics.COMPUTE_COMPARE_NUMBERS: _compare,
    Semantics.COMPUTE_COMPARE_MASK: _compare, Semantics.COMPUTE_RECTIFIED: _rectified,
    Semantics.COMPUTE_EXTREMUM: _extremum, Semantics.COMPUTE_CLAMP: _clamp,
    Semantics.COMPUTE_FOLD: _fold, Semantics.COMPUTE_ADD_THEN: _fold,
    Semantics.COMPUTE_AVERAGE: _average, Semantics.COMPUTE_FIXED_ORDER: _fixed_order, Semantics.COMPUTE_NORM: _norm,
}  # fmt: skip
_SPLITS: dict[Semantics, Callable[[State, CallSite, Construct, Scalar], Split]] = {
    Semantics.COMPUTE_SINCOS: _sine_and_cosine, Semantics.COMPUTE_SPLIT_EXPONENT: _fraction_and_exponent,
    Semantics.COMPUTE_SPLIT_INTEGER: _fraction_and_whole,
}  # fmt: skip
