"""Searches along the free dimensions of a tile: largest elements, positions of values, elements that are not zero."""

from __future__ import annotations

from collections.abc import Sequence

from portcheck.core.dtype import BOOL, FLOAT32, INT32, INT64, UINT32, DType
from portcheck.frontends.nki.expressions.bind import Call
from portcheck.frontends.nki.lowering.functions import operand_for
from portcheck.frontends.nki.lowering.gathering import STREAM, flat, taken_along
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.arithmetic import difference, literal, plus
from portcheck.frontends.nki.values.data import allocate, compute, load, store
from portcheck.frontends.nki.values.operands import Operand, cast
from portcheck.frontends.nki.values.tiles import Result, View
from portcheck.frontends.nki.values.values import NONE, Stretch, Value
from portcheck.frontends.nki.values.views import expand, moved, select, symbol_of
from portcheck.ir import (
    Const,
    Expr,
    OpaqueKind,
    Operator,
    Reduce,
    Scan,
    Select,
    Sort,
    Space,
    Symbol,
    ValueType,
    apply,
    integer,
)  # fmt: skip
from portcheck.knowledge import Role

_FREE = 1
_FOUND = "found"
"""The number that says how many elements an instruction finds."""
_NOWHERE = (1 << 31) - 1
_ALL_ONES = -1


def top(call: Call) -> Value:
    """The largest elements of each partition, the largest first."""
    if call.api.with_role(Role.COUNT):
        raise MisunderstoodError("how the result is laid out over the partitions is not documented", OpaqueKind.LIBRARY)
    context, count = call.context, integer(call.documented(_FOUND))
    data = flat(call, call.given(Role.SOURCE))
    value = cast(context, load(context, data), FLOAT32, call.via)
    made = context.builder.result(
        Sort, via=call.via, operand=value.expression, type=ValueType(INT32, value.shape), dimension=_FREE,
        descending=True,
    )  # fmt: skip
    order = allocate(context, "", INT32, value.shape, Space.SHARED)
    store(context, order, Operand(made, INT32, value.shape), via=call.via)
    first = _part(call, order, Stretch(integer(0), count, None, count))
    return call.finish(load(context, taken_along(context, data, first)), call.given(Role.SOURCE))


def _part(call: Call, view: View, columns: Stretch, rows: Stretch | None = None) -> View:
    taken = select(call.context, view, [rows or Stretch(None, None), columns])
    if taken is None:
        raise MisunderstoodError("the tile has no such columns", OpaqueKind.MEMORY)
    return taken


def index_of(call: Call) -> Value:
    """The positions of eight values; values that are equal find equal elements from the first on."""
    if not call.api.with_role(Role.INDICES):
        return _bounds(call)
    data, values = flat(call, call.given(Role.SOURCE)), flat(call, call.given(Role.INDICES))
    hits = _hits(call, data, values, is_first=True)
    destination = call.destination()
    stated = destination.buffer.dtype if destination is not None else call.dtype()
    found = _position(call, hits, stated or UINT32)
    if destination is not None:
        return call.finish(found)
    return Result(found.expression, found.dtype, found.shape, found.shape, mask=call.mask)


def replace(call: Call) -> Value:
    """A tile with the elements that eight values find replaced; of equal values the last finds the first element."""
    context = call.context
    data, values = flat(call, call.given(Role.SOURCE)), flat(call, call.given(Role.INDICES))
    hits = _hits(call, data, values, is_first=False)
    held = load(context, data)
    number = cast(context, hits, INT32, call.via)
    any_hit = _reduced(call, Operator.MAXIMUM, number)
    is_hit = compute(context, Operator.GREATER, (any_hit, _whole(0)), INT32, via=call.via)
    filling = cast(context, operand_for(call, call.given(Role.VALUE)), held.dtype, call.via)
    made = context.builder.result(
        Select, via=call.via, condition=is_hit.expression, on_true=filling.expression, on_false=held.expression,
        type=ValueType(held.dtype, held.shape),
    )  # fmt: skip
    places = call.destination(Role.REDUCE_DESTINATION)
    if places is not None:
        store(context, places, _position(call, hits, places.buffer.dtype), via=call.via)
    return call.finish(Operand(made, held.dtype, held.shape), call.given(Role.SOURCE))


def _hits(call: Call, data: View, values: View, *, is_first: bool) -> Operand:
    """Whether value k finds element f, over (partition, k, f): the n-th occurrence, after n - 1 equal values."""
    context, via = call.context, call.via
    elements, wanted, others = (
        cast(context, load(context, expand(context, view, place)), FLOAT32, via)
        for view, place in ((data, 1), (values, 2), (values, 1))
    )
    same = compute(context, Operator.EQUAL, (wanted, elements), FLOAT32, via=via)
    number = cast(context, same, INT32, via)
    counted = context.builder.result(
        Scan, via=via, operator=Operator.ADD, operands=(number.expression,), type=ValueType(INT32, number.shape),
        dimension=2, accumulate=ValueType(INT32),
    )  # fmt: skip
    equal = compute(context, Operator.EQUAL, (wanted, others), FLOAT32, via=via)
    own, other = (Symbol(f"dim{place}", INT64) for place in (1, 2))
    is_before = apply(Operator.LESS if is_first else Operator.GREATER, other, own)
    shape = equal.shape
    before = compute(
        context, Operator.LOGICAL_AND, (equal, Operand(is_before, BOOL, shape)), BOOL, via=via, casts=False
    )
    rank = _reduced(call, Operator.ADD, cast(context, before, INT32, via), 2, keep=True)
    turn = compute(context, Operator.ADD, (rank, _whole(1)), INT32, via=via)
    is_turn = compute(context, Operator.EQUAL, (Operand(counted, INT32, number.shape), turn), INT32, via=via)
    return compute(context, Operator.LOGICAL_AND, (same, is_turn), BOOL, via=via, casts=False)


def _position(call: Call, hits: Operand, dtype: DType) -> Operand:
    """Where value k finds its element, over (partition, k); all bits set where it finds none."""
    context = call.context
    place = cast(context, Operand(Symbol("dim2", INT64), INT64, hits.shape), INT32)
    found = _chosen(call, hits, place, _whole(_NOWHERE))
    first = _reduced(call, Operator.MINIMUM, found, 2)
    is_none = compute(context, Operator.EQUAL, (first, _whole(_NOWHERE)), INT32, via=call.via)
    facts = context.knowledge.dtype(dtype.name)
    if facts is None or not dtype.is_integer:
        raise MisunderstoodError("positions in a dtype that is not known")
    nowhere = Const(int(facts.max_finite) if facts.min_finite == 0 else _ALL_ONES, dtype)
    made = context.builder.result(
        Select, via=call.via, condition=is_none.expression, on_true=nowhere, type=ValueType(dtype, first.shape),
        on_false=cast(context, first, dtype, call.via).expression,
    )  # fmt: skip
    return Operand(made, dtype, first.shape)


def _chosen(call: Call, condition: Operand, first: Operand, second: Operand) -> Operand:
    shape = condition.shape
    made = call.context.builder.result(
        Select, via=call.via, condition=condition.expression, type=ValueType(INT32, shape),
        on_true=cast(call.context, first, INT32).expression, on_false=cast(call.context, second, INT32).expression,
    )  # fmt: skip
    return Operand(made, INT32, shape)


def _reduced(call: Call, operator: Operator, value: Operand, dimension: int = 1, *, keep: bool = False) -> Operand:
    """Whole numbers combined along one dimension."""
    shape = tuple(
        integer(1) if place == dimension else extent
        for place, extent in enumerate(value.shape)
        if keep or place != dimension
    )
    made = call.context.builder.result(
        Reduce, via=call.via, operator=operator, operand=value.expression, type=ValueType(INT32, shape),
        accumulate=ValueType(INT32, shape), dimensions=(dimension,), keep_dimensions=keep,
    )  # fmt: skip
    return Operand(made, INT32, shape)


def _whole(number: int) -> Operand:
    return Operand(literal(number), INT64)


def nonzero(call: Call) -> Value:
    """Positions of the elements that are not zero, a filling, how many there are; one partition a processor."""
    context = call.context
    destination = call.destination()
    if destination is None:
        raise MisunderstoodError("the destination is not understood")
    rows = Stretch(None, None, integer(call.documented(STREAM)))
    data = _part(call, flat(call, call.given(Role.SOURCE)), Stretch(None, None), rows)
    target = _part(call, flat(call, destination), Stretch(None, None), rows)
    value = load(context, data)
    zero = cast(context, _whole(0), value.dtype)
    is_set = compute(context, Operator.NOT_EQUAL, (value, zero), value.dtype, via=call.via, casts=False)
    number = cast(context, is_set, INT32, call.via)
    counted = context.builder.result(
        Scan, via=call.via, operator=Operator.ADD, operands=(number.expression,), dimension=_FREE,
        type=ValueType(INT32, number.shape), accumulate=ValueType(INT32),
    )  # fmt: skip
    width = data.shape[1]
    filling = operand_for(call, call.given(Role.VALUE))
    store(context, _part(call, target, Stretch(integer(0), width, None, width)), filling, via=call.via)
    offset = call.number(Role.OFFSET) or integer(0)
    place = cast(context, Operand(plus(Symbol("dim1", INT64), offset), INT64, number.shape), INT32)
    symbols: dict[str, Expr] = {
        target.dimensions[0].symbol: symbol_of(data.dimensions[0]),
        target.dimensions[1].symbol: difference(counted, integer(1)),
    }
    scattered = moved(target, data.dimensions, symbols)
    store(context, scattered, place, mask=is_set.expression, via=call.via)
    total = _reduced(call, Operator.ADD, number, keep=True)
    end = Stretch(width, plus(width, integer(1)), None, integer(1))
    store(context, _part(call, target, end), total, via=call.via)
    return NONE


def _bounds(call: Call) -> Value:
    """Where the run of equal elements that each belongs to begins and ends; zeros belong to none."""
    context, given = call.context, call.given(Role.SOURCE)
    data = flat(call, given)
    width = data.shape[1]
    destination = call.destination()
    shape = (data.shape[0], integer(2), width)
    target = destination or allocate(context, call.hint, call.result_dtype(given), shape, Space.SHARED, call.via)
    here, place = load(context, data), symbol_of(data.dimensions[1])
    last = difference(width, integer(1))
    neighbours: Sequence[tuple[Expr, Operator, Expr, bool]] = (
        (apply(Operator.MAXIMUM, difference(place, integer(1)), integer(0)), Operator.MAXIMUM, integer(0), False),
        (apply(Operator.MINIMUM, plus(place, integer(1)), last), Operator.MINIMUM, width, True),
    )
    for row, (beside, operator, edge, is_reverse) in enumerate(neighbours):
        other = load(context, moved(data, data.dimensions, {data.dimensions[1].symbol: beside}))
        is_edge = compute(context, Operator.NOT_EQUAL, (here, other), here.dtype, via=call.via, casts=False)
        own = plus(Symbol("dim1", INT64), integer(1)) if is_reverse else Symbol("dim1", INT64)
        marks = _chosen(call, is_edge, Operand(own, INT64, here.shape), Operand(edge, INT64))
        run = context.builder.result(
            Scan, via=call.via, operator=operator, operands=(marks.expression,), dimension=_FREE, reverse=is_reverse,
            type=ValueType(INT32, here.shape), accumulate=ValueType(INT32),
        )  # fmt: skip
        zero = cast(context, _whole(0), here.dtype)
        is_padding = compute(context, Operator.EQUAL, (here, zero), here.dtype, via=call.via, casts=False)
        outside = Operand(width, INT64) if not is_reverse else _whole(_ALL_ONES)
        bound = _chosen(call, is_padding, outside, Operand(run, INT32, here.shape))
        view = select(context, target, [Stretch(None, None), integer(row)])
        if view is None:
            raise MisunderstoodError("the destination has no rows for the bounds", OpaqueKind.MEMORY)
        store(context, view, bound, via=call.via)
    return NONE if destination is not None else target
