"""Element-by-element instructions: operands to float32, the operators, one cast to the result's dtype."""

from __future__ import annotations

from portcheck.core.dtype import FLOAT32, INT32, INT64, UINT32, DType
from portcheck.frontends.nki.expressions.bind import Call, as_sizes
from portcheck.frontends.nki.lowering.accumulators import reduce_beside
from portcheck.frontends.nki.lowering.functions import (
    BITWISE,
    applied,
    combination,
    function_of,
    is_identity,
    operand_for,
    operand_like,
    operator_for,
    rank_of,
    single,
)  # fmt: skip
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.arithmetic import literal
from portcheck.frontends.nki.values.data import compute
from portcheck.frontends.nki.values.operands import Operand, cast
from portcheck.frontends.nki.values.tiles import View
from portcheck.frontends.nki.values.values import External, Value
from portcheck.ir import COMPARISONS, Expr, OpaqueKind, Operator, Random, Select, Space, ValueType, arity
from portcheck.ir.operators import INTEGER
from portcheck.knowledge import OperatorObject, Role, Semantics

_DISTRIBUTIONS = {Semantics.RANDOM_UNIFORM: "uniform", Semantics.RANDOM_NORMAL: "normal"}


def unary(call: Call) -> Value:
    """One operator on one tile."""
    given = call.given(Role.SOURCE)
    return call.finish(_function(call, operand_for(call, given)), given)


def _function(call: Call, value: Operand, parameter: Operand | None = None) -> Operand:
    """The function of the call on one operand: its operator argument, what it always does, or what it is called."""
    if call.api.operator is not None:
        return single(call, call.api.operator, value)
    entry = operator_for(call, Role.OPERATOR) or _named(call)
    if entry is None:
        raise MisunderstoodError("the function has no counterpart in the IR")
    return function_of(call, entry, value, parameter)


def _named(call: Call) -> OperatorObject | None:
    """The operator object of the same name as the call."""
    return call.context.knowledge.operator_object(call.api.name)


def binary(call: Call) -> Value:
    """One operator on two tiles, or on a tile and a scalar."""
    sources = call.all(Role.SOURCE)
    if len(sources) != 2:
        raise MisunderstoodError("an operand is not understood")
    if call.api.operator is not None:
        return combine(call, call.api.operator, sources[0], sources[1])
    entry = operator_for(call, Role.OPERATOR) or _named(call)
    if entry is None:
        raise MisunderstoodError("the operator has no counterpart in the IR")
    if entry.operator is not None:
        return combine(call, entry.operator, sources[0], sources[1])
    left, right = (operand_for(call, source) for source in sources)
    return call.finish(combination(call, entry, left, right, reverse=False), *sources)


def combine(call: Call, operator: Operator, first: Value, second: Value) -> Value:
    """`first operator second`, rounded once to the result's dtype."""
    left = operand_for(call, first)
    right = operand_like(call, second, left)
    native = _native(call, operator, left, right, (first, second))
    if native is not None:
        mask = call.mask_at(max(len(left.shape), len(right.shape)))
        result = compute(call.context, operator, (left, right), native, via=call.via, mask=mask)
    else:
        result = applied(call, operator, left, right)
    return call.finish(result, first, second)


def _native(
    call: Call, operator: Operator, left: Operand, right: Operand, sources: tuple[Value, Value]
) -> DType | None:
    """int32 or uint32 where the general-purpose engine computes in it: all tiles have it and none lies in PSUM."""
    if operator in BITWISE or (operator not in INTEGER and operator not in COMPARISONS):
        return None
    if left.dtype != right.dtype or left.dtype not in (INT32, UINT32):
        return None
    destination = call.destination()
    views = [item for item in (*sources, destination) if isinstance(item, View)]
    if any(view.buffer.space is Space.PSUM for view in views) or _engine(call) == "vector":
        return None
    is_kept = destination is None or destination.buffer.dtype in (INT32, UINT32)
    return left.dtype if is_kept or call.context.is_legacy else None


def _engine(call: Call) -> str:
    """The engine that the call asks for; "" where it asks for none that is known."""
    value = call.given(Role.ENGINE)
    return (call.context.knowledge.engine(value.name) or "") if isinstance(value, External) else ""


def tensor_scalar(call: Call) -> Value:
    """(data op0 operand0) op1 operand1, rounded once."""
    given = call.given(Role.SOURCE)
    value = _stage(call, operand_for(call, given), Role.OPERATOR0, Role.OPERAND0, Role.REVERSE0, rank_of(given))
    value = _stage(call, value, Role.OPERATOR1, Role.OPERAND1, Role.REVERSE1, rank_of(given))
    return call.finish(value, given, call.given(Role.OPERAND0), call.given(Role.OPERAND1))


def scalar_tensor_tensor(call: Call) -> Value:
    """(data op0 scalar) op1 tile, rounded once."""
    return tensor_scalar(call)


def _stage(call: Call, value: Operand, operator: Role, other: Role, reverse: Role, rank: int) -> Operand:
    entry = operator_for(call, operator)
    if entry is None or is_identity(entry):
        call.asked.update((other, reverse))
        return value
    second = call.given(other)
    if second is None or (entry.operator is not None and arity(entry.operator) == 1):
        return function_of(call, entry, value)
    return combination(call, entry, value, operand_like(call, second, value, rank), reverse=call.flag(reverse))


def activation(call: Call) -> Value:
    """op(data * scale + bias), optionally summed over the free axes."""
    given = call.given(Role.SOURCE)
    value, bias = _activated(call, given)
    reduce_beside(call, value, Operator.ADD)
    return call.finish(value, given, bias)


def _activated(call: Call, given: Value | None) -> tuple[Operand, Value | None]:
    rank = rank_of(given)
    value = operand_for(call, given)
    scale, bias = call.given(Role.SCALE), call.given(Role.BIAS)
    if scale is not None and call.constant(Role.SCALE) != 1:
        value = applied(call, Operator.MULTIPLY, value, operand_for(call, scale, rank))
    if bias is not None and call.constant(Role.BIAS) != 0:
        kind = Operator.SUBTRACT if call.api.operator else Operator.ADD
        value = applied(call, kind, value, operand_for(call, bias, rank))
    value = _stage(call, value, Role.OPERATOR0, Role.OPERAND0, Role.REVERSE0, rank)
    value = _stage(call, value, Role.OPERATOR1, Role.OPERAND1, Role.REVERSE1, rank)
    parameter = call.given(Role.PARAMETER)
    slope = operand_for(call, parameter, rank) if parameter is not None else None
    return _function(call, value, slope), bias


def tensor_scalar_reduce(call: Call) -> Value:
    """data op0 operand0, and its reduction over the free axes beside it."""
    given = call.given(Role.SOURCE)
    value = _stage(call, operand_for(call, given), Role.OPERATOR0, Role.OPERAND0, Role.REVERSE0, rank_of(given))
    reduce_beside(call, value, Operator.ADD)
    return call.finish(value, given, call.given(Role.OPERAND0))


def dropout(call: Call) -> Value:
    """Elements are set to zero with a given probability, and not rescaled."""
    given = call.given(Role.SOURCE)
    value = operand_for(call, given)
    rate = operand_for(call, call.given(Role.PROBABILITY), rank_of(given))
    context = call.context
    drawn = context.builder.result(
        Random, via=call.via, generator="uniform", distribution="uniform", operands=(),
        type=ValueType(FLOAT32, value.shape),
    )  # fmt: skip
    keep = compute(context, Operator.GREATER_EQUAL, (Operand(drawn, FLOAT32, value.shape), rate), FLOAT32, via=call.via)
    zero = cast(context, Operand(literal(0), INT64), value.dtype)
    kept = context.builder.result(
        Select, via=call.via, condition=keep.expression, on_true=value.expression, on_false=zero.expression,
        type=ValueType(value.dtype, value.shape),
    )  # fmt: skip
    return call.finish(Operand(kept, value.dtype, value.shape), given)


def random_tile(call: Call) -> Value:
    """Random numbers, uniform or as raw bits."""
    destination = call.destination()
    shape = destination.shape if destination is not None else as_sizes(call.context, call.given(Role.SHAPE))
    if shape is None:
        raise MisunderstoodError("the shape is not understood", OpaqueKind.MEMORY)
    dtype = call.result_dtype()
    limits = [call.given(Role.MINIMUM), call.given(Role.MAXIMUM)]
    if any(isinstance(limit, View) for limit in limits):
        return call.finish(_between(call, _drawn(call, FLOAT32, shape, ()), limits))
    numbers = [call.number(role) for role in (Role.MINIMUM, Role.MAXIMUM)]
    present = tuple(number for number in numbers if number is not None)
    return call.finish(_drawn(call, dtype, shape, present))


def _drawn(call: Call, dtype: DType, shape: tuple[Expr, ...], limits: tuple[Expr, ...]) -> Operand:
    drawn = call.context.builder.result(
        Random, via=call.via, generator=call.api.semantics.value, type=ValueType(dtype, shape), operands=limits,
        distribution=_DISTRIBUTIONS.get(call.api.semantics, ""),
    )  # fmt: skip
    return Operand(drawn, dtype, shape)


def _between(call: Call, share: Operand, limits: list[Value | None]) -> Operand:
    """Numbers from 0 to 1 spread between two limits, each of which may differ between partitions."""
    rank = len(share.shape)
    low, high = (operand_for(call, limit, rank) for limit in limits)
    width = applied(call, Operator.SUBTRACT, high, low)
    return applied(call, Operator.ADD, applied(call, Operator.MULTIPLY, share, width), low)
