"""Functions of the halfwords or bytes of words: each part is computed on its own, as wide as it needs."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from portcheck.core.dtype import INT32, UINT32, DTypeKind, dtype_named
from portcheck.frontends.cuda.expressions.arithmetic import apply_operator, select
from portcheck.frontends.cuda.expressions.numbers import calculate, joined, split
from portcheck.frontends.cuda.memory.places import scalar
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.conversions import convert, integer_bits
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Scalar, Value
from portcheck.ir import Const, Operator, arity
from portcheck.knowledge import Construct, Semantics

Part = Callable[[State, Construct, tuple[Scalar, ...]], Scalar]


def is_simd(construct: Construct) -> bool:
    """Whether a construct works on parts of words."""
    return construct.semantics in _PARTS or construct.semantics is Semantics.SIMD_DISTANCE_SUM


def simd(state: State, call: CallSite, construct: Construct) -> Value | None:
    """The function of each part of the words given, put together again or summed."""
    if len(call.arguments) < len(construct.parameters):
        return None
    element = dtype_named(construct.dtype)
    words = [scalar(state, state.evaluate(node), node) for node in call.arguments[: len(construct.parameters)]]
    columns = [split(state, convert(state, word, UINT32), element, construct.lanes) for word in words]
    rows = [tuple(convert(state, part, INT32) for part in row) for row in zip(*columns, strict=True)]
    if construct.semantics is Semantics.SIMD_DISTANCE_SUM:
        distances = [convert(state, _distance(state, construct, row), UINT32) for row in rows]
        return reduce(lambda one, other: calculate(state, "+", one, other), distances)
    values = [_PARTS[construct.semantics](state, construct, row) for row in rows]
    return joined(state, [convert(state, value, element) for value in values])


def _computed(state: State, construct: Construct, parts: tuple[Scalar, ...]) -> Scalar:
    """One operator, its result kept within the part's range where the function saturates."""
    operator = construct.operator or Operator.ADD
    count = arity(operator)
    value = apply_operator(state, operator, parts[:count], INT32, construct.name)
    for part in parts[count:]:
        value = apply_operator(state, operator, (value, part), INT32, construct.name)
    if construct.value is not None:
        least_wanted = Scalar(Const(int(construct.value), INT32), INT32)
        value = apply_operator(state, Operator.MAXIMUM, (value, least_wanted), INT32, construct.name)
    if not construct.saturates:
        return value
    element = dtype_named(construct.dtype)
    bits = integer_bits(element)
    is_signed = element.kind is DTypeKind.SIGNED
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    for limit, way in ((least, Operator.MAXIMUM), (most, Operator.MINIMUM)):
        value = apply_operator(state, way, (value, Scalar(Const(limit, INT32), INT32)), INT32, construct.name)
    return value


def _compared(state: State, construct: Construct, parts: tuple[Scalar, ...]) -> Scalar:
    """All bits, or the number that the function gives instead, where the comparison holds."""
    holds = apply_operator(state, construct.operator or Operator.EQUAL, parts, INT32, construct.name)
    yes = Const(-1 if construct.value is None else int(construct.value), INT32)
    return select(state, holds, Scalar(yes, INT32), Scalar(Const(0, INT32), INT32))


def _distance(state: State, construct: Construct, parts: tuple[Scalar, ...]) -> Scalar:
    difference = calculate(state, "-", parts[0], parts[1])
    return apply_operator(state, Operator.ABSOLUTE, (difference,), INT32, construct.name)


def _average(state: State, construct: Construct, parts: tuple[Scalar, ...]) -> Scalar:
    """Half of the sum, and of what is added to it so that it is rounded."""
    total = calculate(state, "+", parts[0], parts[1])
    rounded = calculate(state, "+", total, int(construct.value)) if construct.value else total
    return calculate(state, ">>", rounded, 1)


_PARTS: dict[Semantics, Part] = {
    Semantics.SIMD_COMPUTE: _computed, Semantics.SIMD_COMPARE: _compared, Semantics.SIMD_DISTANCE: _distance,
    Semantics.SIMD_AVERAGE: _average,
}  # fmt: skip
