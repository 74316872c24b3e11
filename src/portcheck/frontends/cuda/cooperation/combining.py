"""What values of several threads are combined with: an operator, or a function that a program passes."""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.core.dtype import BOOL, DType
from portcheck.frontends.cuda.expressions.arithmetic import apply_operator, logical, select
from portcheck.frontends.cuda.functions.inlining import closure_call, inline
from portcheck.frontends.cuda.functions.methods import functions_of, method_call, record_of
from portcheck.frontends.cuda.functions.overloads import chosen
from portcheck.frontends.cuda.memory.places import read
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.conversions import common, convert
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import type_of_value
from portcheck.frontends.cuda.model.values import Aggregate, Closure, FunctionName, Functor, Lost, Scalar, Value
from portcheck.ir import ASSOCIATIVE, COMPARISONS, Compute, Expr, Op, OpaqueKind, Operator, Ref, Select

_CALL = "operator()"
_PAIR = 2
_PAIRED = frozenset({Operator.GREATER, Operator.LESS})
_GREATER = frozenset({Operator.GREATER, Operator.GREATER_EQUAL})
_LESS = frozenset({Operator.LESS, Operator.LESS_EQUAL})
_RELATIONS = COMPARISONS | {Operator.SUBTRACT, Operator.ADD}
_LEFT, _RIGHT = -1, -2
"""Results of no operation: they stand for the operands of a function that is only looked at."""


@dataclass(frozen=True, slots=True)
class Combination:
    """How two values become one: by `operator`, or by calling `function`; `call` is where that is asked for."""

    call: CallSite
    operator: Operator | None = None
    function: Value | None = None


def is_function(state: State, value: Value) -> bool:
    """Whether a value can be called: a function object of a library or record, a lambda, the name of a function."""
    if isinstance(value, Functor | FunctionName | Closure):
        return True
    record = record_of(state, type_of_value(value))
    return record is not None and bool(functions_of(state, record, _CALL))


def combination(state: State, call: CallSite, function: Value, dtype: DType | None) -> Combination:
    """What `function` combines numbers of `dtype` with (None: values of several members)."""
    if isinstance(function, Functor):
        return Combination(call, function.operator, function)
    operator = _recognised(state, call, function, dtype) if dtype is not None else None
    return Combination(call, operator, function)


def combined(state: State, how: Combination, left: Value, right: Value) -> Value | None:
    """`left` and `right` combined; None where that is not followed."""
    node = how.call.node
    if how.operator in _PAIRED and isinstance(left, Aggregate) and isinstance(right, Aggregate):
        return _greater_pair(state, how, left, right)
    if how.operator in ASSOCIATIVE and isinstance(left, Scalar) and isinstance(right, Scalar):
        right = convert(state, right, left.dtype)
        return apply_operator(state, how.operator, (left, right), left.dtype, how.call.via)
    if how.operator is Operator.ADD:
        found = state.operator_call(node, "operator+", [(node, left), (node, right)])
        return read(state, found, node) if found is not None else None
    if how.function is None or isinstance(how.function, Functor):
        return None
    return applied(state, how.call, how.function, [left, right])


def functor_call(state: State, call: CallSite, functor: Functor) -> Value | None:
    """The call of a function object of CUDA's libraries."""
    if len(call.arguments) != _PAIR:
        return None
    left, right = (read(state, state.evaluate(node), node) for node in call.arguments)
    if isinstance(left, Scalar) and isinstance(right, Scalar):
        dtype = common(left.dtype, right.dtype) if left.dtype != right.dtype else left.dtype
        left, right = convert(state, left, dtype), convert(state, right, dtype)
    if functor.operator not in ASSOCIATIVE and functor.operator in _RELATIONS and isinstance(left, Scalar):
        found: Value | None = related(state, call, functor, left, right)
    else:
        found = combined(state, Combination(call, functor.operator, functor), left, right)
    return found or state.opaque(call.node, f"{functor.name} is not modelled", kind=OpaqueKind.LIBRARY, via=call.via)


def _greater_pair(state: State, how: Combination, left: Aggregate, right: Aggregate) -> Value | None:
    """Of two pairs of a key and a value that with the greater (or smaller) value, of equals that with the lower key."""
    first, second = numbers_of(left), numbers_of(right)
    operator = how.operator or Operator.GREATER
    if not isinstance(how.function, Functor) or first is None or second is None:
        return None
    construct = state.construct(how.function.name)
    if construct is None or not len(first) == len(second) == construct.lanes == _PAIR:
        return None
    (key, value), (other_key, other) = first, second
    beats = apply_operator(state, operator, (other, value), value.dtype, how.call.via)
    ties = apply_operator(state, Operator.EQUAL, (other, value), value.dtype, how.call.via)
    is_earlier = apply_operator(state, Operator.LESS, (other_key, key), key.dtype, how.call.via)
    wins = logical(state, Operator.LOGICAL_OR, beats, logical(state, Operator.LOGICAL_AND, ties, is_earlier, ""), "")
    return selected(state, wins, right, left)


def applied(state: State, call: CallSite, function: Value, values: list[Value]) -> Value | None:
    """What the call of a function given as a value gives; None where it is not followed."""
    nodes = (call.node,) * len(values)
    found: Value | None = None
    if isinstance(function, Closure):
        found = closure_call(state, CallSite(call.node, "function", (), nodes), function, values)
    elif isinstance(function, FunctionName):
        one = chosen(state, state.definitions.functions.get(function.name, ()), values)
        inner = CallSite(call.node, function.name, (), nodes)
        found = inline(state, one, inner, values) if one is not None else None
    else:
        record = record_of(state, type_of_value(function))
        inner = CallSite(call.node, _CALL, (), nodes)
        found = method_call(state, inner, function, record, values) if record is not None else None
    result = read(state, found, call.node) if found is not None else None
    return None if isinstance(result, Lost) else result


def related(state: State, call: CallSite, function: Value, left: Value, right: Value) -> Scalar | None:
    """Whether, or how, a function relates two values; a comparison of a library is one of numbers."""
    if isinstance(function, Functor):
        if not (isinstance(left, Scalar) and isinstance(right, Scalar)) or function.operator not in _RELATIONS:
            return None
        dtype = BOOL if function.operator in COMPARISONS else left.dtype
        return apply_operator(state, function.operator, (left, right), dtype, call.via)
    found = applied(state, call, function, [left, right])
    return found if isinstance(found, Scalar) else None


def selected(state: State, condition: Scalar, on_true: Value, on_false: Value) -> Value:
    """`on_true` where `condition` holds, else `on_false`, member by member."""
    if isinstance(on_true, Scalar) and isinstance(on_false, Scalar):
        return select(state, condition, on_true, on_false)
    if isinstance(on_true, Aggregate) and isinstance(on_false, Aggregate):
        pairs = zip(on_true.members, on_false.members, strict=True)
        members = ((name, selected(state, condition, one, other)) for (name, one), (_, other) in pairs)
        return Aggregate(on_true.type, tuple(members))
    return on_true


def numbers_of(value: Value) -> list[Scalar] | None:
    """The numbers a value is made of; None where something else is part of it."""
    if isinstance(value, Lost):
        return None
    if isinstance(value, Scalar):
        return [value]
    if not isinstance(value, Aggregate):
        return None
    parts = [numbers_of(member) for _, member in value.members]
    known = [part for part in parts if part is not None]
    return [number for part in known for number in part] if len(known) == len(parts) and known else None


def rebuilt(value: Value, numbers: list[Scalar]) -> Value:
    """A value like `value`, made of other numbers; these are taken from the list, the first one first."""
    if not isinstance(value, Aggregate):
        return numbers.pop(0)
    return Aggregate(value.type, tuple((name, rebuilt(member, numbers)) for name, member in value.members))


def _recognised(state: State, call: CallSite, function: Value, dtype: DType) -> Operator | None:
    """The operator that a function of two numbers is; a choice of the greater one leaves open what becomes of NaN."""
    left, right = Ref(_LEFT, dtype), Ref(_RIGHT, dtype)
    with state.builder.region() as emitted:
        result = applied(state, call, function, [Scalar(left, dtype), Scalar(right, dtype)])
    if not isinstance(result, Scalar) or result.dtype != dtype or not isinstance(result.expr, Ref):
        return None
    made = {op.id: op for op in emitted}
    if not all(isinstance(op, Compute | Select) for op in emitted):
        return None
    last = made.pop(result.expr.id, None)
    if isinstance(last, Compute) and not made:
        is_plain = _is_pair(last.operands, (left, right)) and not last.approximate
        return last.operator if is_plain and last.operator in ASSOCIATIVE else None
    return _choice(last, list(made.values()), (left, right)) if isinstance(last, Select) else None


def _choice(last: Select, others: list[Op], pair: tuple[Expr, Expr]) -> Operator | None:
    test = others[0] if len(others) == 1 else None
    if not isinstance(test, Compute) or last.condition != Ref(test.id, last.condition.dtype):
        return None
    if not _is_pair(test.operands, pair) or not _is_pair((last.on_true, last.on_false), pair):
        return None
    if test.operator not in _GREATER | _LESS:
        return None
    takes_first = last.on_true == test.operands[0]
    return Operator.MAXIMUM if takes_first == (test.operator in _GREATER) else Operator.MINIMUM


def _is_pair(operands: tuple[Expr, ...], pair: tuple[Expr, Expr]) -> bool:
    return operands in (pair, pair[::-1])
