"""Element-by-element instructions: operands to float32, the operators, one cast to the result's dtype."""

from __future__ import annotations

from portcheck.core.dtype import FLOAT32, INT32, INT64, UINT32, DType
from portcheck.frontends.nki.arithmetic import literal
from portcheck.frontends.nki.bind import Call, as_sizes, ir_operator, operator_object
from portcheck.frontends.nki.data import Operand, cast, compute, operand, store
from portcheck.frontends.nki.failure import MisunderstoodError
from portcheck.frontends.nki.lowering.reducing import combine_free
from portcheck.frontends.nki.values import Items, Result, Value, View
from portcheck.ir import OpaqueKind, Operator, Random, Select, ValueType, arity
from portcheck.knowledge import OperatorObject, Role, Semantics

EXACT = frozenset(
    {
        Operator.ABSOLUTE, Operator.SQUARE, Operator.RELU, Operator.SIGN, Operator.NEGATE, Operator.FLOOR,
        Operator.CEIL, Operator.TRUNC, Operator.RECIPROCAL, Operator.LOGICAL_NOT, Operator.BITWISE_NOT,
    }
)  # fmt: skip
_BITWISE = frozenset(
    {
        Operator.BITWISE_AND, Operator.BITWISE_OR, Operator.BITWISE_XOR, Operator.BITWISE_NOT, Operator.SHIFT_LEFT,
        Operator.SHIFT_RIGHT_LOGICAL, Operator.SHIFT_RIGHT_ARITHMETIC,
    }
)  # fmt: skip
IDENTITIES = frozenset({"copy", "bypass"})
_DISTRIBUTIONS = {Semantics.RANDOM_UNIFORM: "uniform", Semantics.RANDOM_NORMAL: "normal"}


def rank_of(value: Value | None) -> int:
    """How many dimensions a tile has; 0 for anything else."""
    return len(value.shape) if isinstance(value, View | Result) else 0


def operand_for(call: Call, value: Value | None, rank: int = 0) -> Operand:
    """`value` as an operand; raises MisunderstoodError when it is none."""
    found = operand(call.context, value, rank)
    if found is None:
        raise MisunderstoodError("an operand is not understood")
    return found


def operator_for(call: Call, role: Role) -> OperatorObject | None:
    """The operator object in `role`; None when it is left out, an error when it is not known."""
    value = call.given(role)
    if value is None:
        return None
    entry = operator_object(call.context, value)
    if entry is None or (ir_operator(entry) is None and entry.name not in IDENTITIES):
        raise MisunderstoodError(f"the operator {getattr(value, 'name', '')} is not understood".replace("  ", " "))
    return entry


def applied(call: Call, operator: Operator, left: Operand, right: Operand, *, reverse: bool = False) -> Operand:
    """`left operator right` in the engine's arithmetic; bit patterns are left as they are."""
    if arity(operator) != 2:
        raise MisunderstoodError(f"{operator.value} takes no second operand")
    if reverse:
        left, right = right, left
    mask = call.mask_at(max(len(left.shape), len(right.shape)))
    if operator in _BITWISE:
        dtype = right.dtype if left.is_scalar else left.dtype
        return compute(call.context, operator, (left, right), dtype, via=call.via, mask=mask)
    return compute(call.context, operator, (left, right), FLOAT32, via=call.via, mask=mask)


def unary(call: Call) -> Value:
    """One operator on one tile."""
    operator = call.api.operator or ir_operator(operator_for(call, Role.OPERATOR))
    given = call.given(Role.SOURCE)
    if operator is None:
        raise MisunderstoodError("the operator has no counterpart in the IR")
    value = operand_for(call, given)
    return call.finish(single(call, operator, value), given)


def single(call: Call, operator: Operator, value: Operand) -> Operand:
    """`operator` applied to a tile in the engine's arithmetic."""
    if arity(operator) != 1:
        raise MisunderstoodError(f"{operator.value} lacks an operand")
    dtype = value.dtype if operator in _BITWISE else FLOAT32
    return compute(
        call.context, operator, (value,), dtype, via=call.via, mask=call.mask_at(len(value.shape)),
        approximate=operator not in EXACT,
    )  # fmt: skip


def binary(call: Call) -> Value:
    """One operator on two tiles, or on a tile and a scalar."""
    sources = call.all(Role.SOURCE)
    operator = call.api.operator or ir_operator(operator_for(call, Role.OPERATOR))
    if operator is None or len(sources) != 2:
        raise MisunderstoodError("the operator or an operand is not understood")
    return combine(call, operator, sources[0], sources[1])


def combine(call: Call, operator: Operator, first: Value, second: Value) -> Value:
    """`first operator second`, rounded once to the result's dtype."""
    left, right = operand_for(call, first), operand_for(call, second)
    native = _native(left, right)
    if native is not None and operator not in _BITWISE:
        mask = call.mask_at(max(len(left.shape), len(right.shape)))
        result = compute(call.context, operator, (left, right), native, via=call.via, mask=mask)
    else:
        result = applied(call, operator, left, right)
    return call.finish(result, first, second)


def _native(left: Operand, right: Operand) -> DType | None:
    """int32 or uint32 when both operands are: the general-purpose engine computes those natively."""
    return left.dtype if left.dtype == right.dtype and left.dtype in (INT32, UINT32) else None


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
    kind = ir_operator(entry)
    if entry is None or kind is None:
        return value
    if call.given(other) is None or arity(kind) == 1:
        return single(call, kind, value)
    return applied(call, kind, value, operand_for(call, call.given(other), rank), reverse=call.flag(reverse))


def activation(call: Call) -> Value:
    """op(data * scale + bias), optionally summed over the free axes."""
    given = call.given(Role.SOURCE)
    value, bias = _activated(call, given)
    _reduce_beside(call, value)
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
    entry = operator_for(call, Role.OPERATOR)
    operator = call.api.operator or ir_operator(entry)
    if operator is None and (entry is None or entry.name not in IDENTITIES):
        raise MisunderstoodError("the function has no counterpart in the IR")
    if operator is None:
        return cast(call.context, value, FLOAT32, call.via), bias
    return single(call, operator, value), bias


def tensor_scalar_reduce(call: Call) -> Value:
    """data op0 operand0, and its reduction over the free axes beside it."""
    given = call.given(Role.SOURCE)
    value = _stage(call, operand_for(call, given), Role.OPERATOR0, Role.OPERAND0, Role.REVERSE0, rank_of(given))
    _reduce_beside(call, value)
    return call.finish(value, given, call.given(Role.OPERAND0))


def _reduce_beside(call: Call, value: Operand) -> None:
    """Stores the reduction of `value` over its free axes where the call asks for it."""
    target = call.destination(Role.REDUCE_DESTINATION)
    if target is None:
        if call.given(Role.REDUCE_DESTINATION) is not None:
            raise MisunderstoodError("the destination of the reduction is not understood")
        return
    command = getattr(call.given(Role.REDUCE_COMMAND), "name", "").rpartition(".")[2]
    if command in ("reduce", "load_reduce", "reset"):
        raise MisunderstoodError(f"a reduction that continues an accumulator ({command})")
    operator = ir_operator(operator_for(call, Role.REDUCE_OPERATOR)) or Operator.ADD
    reduced = combine_free(call, operator, value)
    if call.flag(Role.NEGATE):
        reduced = compute(call.context, Operator.NEGATE, (reduced,), FLOAT32, via=call.via)
    store(call.context, target, reduced, via=call.via, mask=None)


def nary(call: Call) -> Value:
    """The sum of several tensors, element by element."""
    sources = call.given(Role.SOURCES)
    if not isinstance(sources, Items) or not sources.values:
        raise MisunderstoodError("the list of sources is not understood")
    operands = [operand_for(call, item) for item in sources.values]
    total = cast(call.context, operands[0], FLOAT32, call.via)
    operator = ir_operator(operator_for(call, Role.REDUCE_OPERATOR)) or Operator.ADD
    for item in operands[1:]:
        total = applied(call, operator, total, item)
    return call.finish(total, *sources.values)


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
    limits = [call.number(Role.MINIMUM), call.number(Role.MAXIMUM)]
    drawn = call.context.builder.result(
        Random, via=call.via, generator=call.api.semantics.value, type=ValueType(dtype, shape),
        operands=tuple(limit for limit in limits if limit is not None),
        distribution=_DISTRIBUTIONS.get(call.api.semantics, ""),
    )  # fmt: skip
    return call.finish(Operand(drawn, dtype, shape))
