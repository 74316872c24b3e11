"""Selecting by a condition, by an affine index, by a range; index tiles."""

from __future__ import annotations

from collections.abc import Sequence

from portcheck.core.dtype import BOOL, FLOAT32, INT32, INT64
from portcheck.frontends.nki.expressions.bind import Call, as_sizes, ir_operator
from portcheck.frontends.nki.lowering.accumulators import reduce_beside
from portcheck.frontends.nki.lowering.functions import operand_for, operator_for, rank_of
from portcheck.frontends.nki.lowering.memory import condition
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.arithmetic import folded, known_int, literal, plus, product, times
from portcheck.frontends.nki.values.data import aligned, as_number, compute, operand
from portcheck.frontends.nki.values.fitting import broadcast_shape, may_equal
from portcheck.frontends.nki.values.operands import Operand, cast
from portcheck.frontends.nki.values.tiles import Grid, Result, View
from portcheck.frontends.nki.values.values import Items, Value
from portcheck.frontends.nki.values.views import positions
from portcheck.ir import Expr, Operator, Select, Symbol, ValueType, apply, integer
from portcheck.knowledge import Role


def select(call: Call) -> Value:
    """One of two operands by a condition, element by element."""
    sources = call.all(Role.SOURCE) or [*call.all(Role.ON_TRUE), *call.all(Role.ON_FALSE)]
    predicate = call.given(Role.CONDITION) or call.given(Role.PREDICATE)
    if len(sources) != 2 or predicate is None:
        raise MisunderstoodError("an operand is not understood")
    rank = max(rank_of(source) for source in sources)
    truth = condition(call, operand_for(call, predicate, rank))
    first, second = (operand_for(call, source, rank) for source in sources)
    if call.flag(Role.REVERSE0):
        first, second = second, first
    if call.api.with_role(Role.REDUCE_DESTINATION):
        first, second = (cast(call.context, side, FLOAT32, call.via) for side in (first, second))
    chosen = _chosen(call, truth, first, second)
    if call.api.with_role(Role.REDUCE_DESTINATION):
        reduce_beside(call, chosen, Operator.MAXIMUM)
    return call.finish(chosen, *sources)


def _chosen(call: Call, truth: Operand, first: Operand, second: Operand) -> Operand:
    dtype = first.dtype if second.is_scalar or first.dtype == second.dtype else FLOAT32
    if first.is_scalar:
        dtype = second.dtype if not second.is_scalar else FLOAT32
    first, second = cast(call.context, first, dtype, call.via), cast(call.context, second, dtype, call.via)
    truth, first, second = aligned(call.context, (truth, first, second))
    shape = broadcast_shape([truth.shape, first.shape, second.shape])
    made = call.context.builder.result(
        Select, via=call.via, condition=truth.expression, on_true=first.expression, on_false=second.expression,
        type=ValueType(dtype, shape),
    )  # fmt: skip
    return Operand(made, dtype, shape)


def affine_select(call: Call) -> Value:
    """Keeps a tile where an affine function of the position compares true with zero."""
    given = call.given(Role.ON_TRUE)
    value = operand_for(call, given)
    predicate = call.given(Role.PREDICATE)
    if isinstance(predicate, Grid):
        test = positions(predicate, len(value.shape))
    else:
        operator = ir_operator(operator_for(call, Role.COMPARISON0))
        if operator is None:
            raise MisunderstoodError("the comparison is not understood")
        test = apply(operator, affine(call, value.shape), integer(0))
    truth = Operand(test, BOOL, value.shape)
    if call.result_dtype(given) != value.dtype:
        value = cast(call.context, value, FLOAT32, call.via)
    return call.finish(_chosen(call, truth, value, operand_for(call, call.given(Role.ON_FALSE))), given)


def affine(call: Call, shape: Sequence[Expr]) -> Expr:
    """offset + partition * channel_multiplier + sum of step * index, over the positions of a tile of that shape."""
    pattern = pairs(call)
    total: Expr = call.number(Role.OFFSET) or integer(0)
    multiplier = call.number(Role.CHANNEL_MULTIPLIER) or integer(0)
    if known_int(multiplier) != 0:
        total = plus(total, times(multiplier, Symbol("dim0", INT64)))
    for place, (step, _) in enumerate(pattern):
        if known_int(step) != 0:
            total = plus(total, times(step, _index_of(pattern, place, shape)))
    return total


def _index_of(pattern: Sequence[tuple[Expr, Expr]], place: int, shape: Sequence[Expr]) -> Expr:
    """The index of entry `place` of the pattern: a dimension of its own, or part of all free dimensions as one."""
    counts = [count for _, count in pattern]
    if len(counts) == len(shape) - 1 and all(map(may_equal, counts, shape[1:])):
        return Symbol(f"dim{place + 1}", INT64)
    position = free_position(shape)
    if place < len(counts) - 1:
        position = apply(Operator.FLOOR_DIVIDE, position, folded(product(tuple(counts[place + 1 :]))))
    return apply(Operator.FLOOR_MODULO, position, counts[place]) if place else position


def pairs(call: Call) -> list[tuple[Expr, Expr]]:
    """The (step, count) pairs of the pattern argument."""
    given = call.given(Role.PATTERN)
    return pairs_of(call, given)


def pairs_of(call: Call, given: Value | None) -> list[tuple[Expr, Expr]]:
    """The (step, count) pairs of a list of lists."""
    found = []
    for item in given.values if isinstance(given, Items) else ():
        pair = as_sizes(call.context, item)
        if pair is None or len(pair) != 2:
            raise MisunderstoodError("the pattern is not understood")
        found.append((pair[0], pair[1]))
    if not found:
        raise MisunderstoodError("the pattern is not understood")
    return found


def iota(call: Call) -> Value:
    """An affine function of the position as a tile of int32."""
    expression = call.given(Role.PATTERN)
    if isinstance(expression, Grid):
        return call.finish(operand_for(call, expression))
    number = call.number(Role.PATTERN) if call.context.is_legacy else None
    if number is not None:
        return call.finish(operand_for(call, Grid(number, (None, None))))
    destination = call.destination()
    if destination is None:
        raise MisunderstoodError("the destination is not understood")
    value = Operand(affine(call, destination.shape), INT64, destination.shape)
    return call.finish(cast(call.context, value, INT32, call.via))


def range_select(call: Call) -> Value:
    """Keeps a tile where its free index lies between two bounds a partition, and reduces it if asked."""
    given = call.given(Role.ON_TRUE)
    value = operand_for(call, given)
    start = call.number(Role.START) or literal(0)
    place = Operand(plus(free_position(value.shape), start), INT64, value.shape)
    place = cast(call.context, place, FLOAT32, call.via)
    tests = []
    for comparison, bound in ((Role.COMPARISON0, Role.BOUND0), (Role.COMPARISON1, Role.BOUND1)):
        operator = ir_operator(operator_for(call, comparison))
        limit = operand(call.context, call.given(bound), len(value.shape))
        if operator is None or limit is None:
            raise MisunderstoodError("a bound is not understood")
        tests.append(compute(call.context, operator, (place, limit), FLOAT32, via=call.via))
    both = compute(call.context, Operator.LOGICAL_AND, tests, BOOL, via=call.via, casts=False)
    chosen = _chosen(call, both, cast(call.context, value, FLOAT32, call.via), _outside_range(call))
    reduce_beside(call, chosen, Operator.MAXIMUM)
    return call.finish(chosen, given)


def free_position(shape: Sequence[Expr]) -> Expr:
    """The position along the free dimensions of a tile, which count as one."""
    total: Expr = integer(0)
    for place in range(1, len(shape)):
        own = Symbol(f"dim{place}", INT64)
        total = own if place == 1 else plus(times(total, shape[place]), own)
    return total


def _outside_range(call: Call) -> Operand:
    """What stands outside the range: what the call says, else the smallest number of float32."""
    given = call.given(Role.ON_FALSE)
    is_stated = isinstance(given, Grid | View | Result) or as_number(call.context, given) is not None
    if given is not None and is_stated:
        return operand_for(call, given)
    facts = call.context.knowledge.dtype(FLOAT32.name)
    if facts is None:
        raise MisunderstoodError("what stands outside the range is not known")
    return Operand(literal(facts.min_finite), FLOAT32)
