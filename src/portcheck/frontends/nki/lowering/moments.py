"""Means and variances in parts: (count, mean, variance * count) triples, and how they are merged."""

from __future__ import annotations

from portcheck.core.dtype import FLOAT32, FLOAT64, INT64
from portcheck.frontends.nki.expressions.bind import Call
from portcheck.frontends.nki.lowering.masking import place
from portcheck.frontends.nki.lowering.reducing import combine_over, combine_where, elements_where, mask_left, scaled
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.arithmetic import literal, plus, product, times
from portcheck.frontends.nki.values.data import allocate, as_view, compute, load, store
from portcheck.frontends.nki.values.operands import Operand, cast
from portcheck.frontends.nki.values.tiles import Grid, Result, View
from portcheck.frontends.nki.values.values import NONE, Stretch, Value
from portcheck.frontends.nki.values.views import reshape, select, symbol_of
from portcheck.ir import Expr, Operator, Space, Symbol, integer, substitute
from portcheck.knowledge import Role

_FREE = (1,)


def statistics(call: Call) -> Value:
    """Count, mean and variance * count of the even elements of each partition, then of the odd ones."""
    context, data, mask = call.context, _matrix(call), call.mask_at(2)
    parts: list[Operand] = []
    for start in (0, 1):
        half = _every(call, data, start, 2)
        at = plus(integer(start), times(integer(2), Symbol(place(1), INT64)))
        where = substitute(mask, {place(1): at}) if mask is not None else None
        value = cast(context, load(context, half, _over(where, half)), FLOAT32)
        count = elements_where(call, where, value.shape, _FREE)
        divisor = count if count.is_scalar else _at_least_one(call, count)
        mean = scaled(call, combine_where(call, where, Operator.ADD, value, _FREE), divisor)
        distance = compute(context, Operator.SUBTRACT, (value, mean), FLOAT32, via=call.via)
        square = compute(context, Operator.SQUARE, (distance,), FLOAT32, via=call.via)
        parts.extend((cast(context, count, FLOAT32), mean, combine_where(call, where, Operator.ADD, square, _FREE)))
    return _put(call, data, parts)


def _over(mask: Expr | None, view: View) -> Grid | None:
    """`mask`, over the positions of a tile, as one over `view`."""
    if mask is None:
        return None
    own: dict[str, Expr] = {place(at): symbol_of(dimension) for at, dimension in enumerate(view.dimensions)}
    return Grid(substitute(mask, own), view.dimensions)


def _at_least_one(call: Call, count: Operand) -> Operand:
    one = Operand(literal(1.0), FLOAT64)
    return compute(call.context, Operator.MAXIMUM, (count, one), FLOAT32, via=call.via)


def aggregate(call: Call) -> Value:
    """Mean and population variance from triples side by side."""
    data = _matrix(call)
    context = call.context
    counts, means, spreads = (cast(context, load(context, _every(call, data, start, 3)), FLOAT32) for start in range(3))
    total = combine_over(call, Operator.ADD, counts, _FREE)
    share = compute(context, Operator.RECIPROCAL, (total,), FLOAT32, via=call.via)
    weighted = compute(context, Operator.MULTIPLY, (counts, means), FLOAT32, via=call.via)
    mean = _product(call, combine_over(call, Operator.ADD, weighted, _FREE), share)
    distance = compute(context, Operator.SUBTRACT, (means, mean), FLOAT32, via=call.via)
    square = compute(context, Operator.SQUARE, (distance,), FLOAT32, via=call.via)
    spread = compute(context, Operator.ADD, (spreads, _product(call, counts, square)), FLOAT32, via=call.via)
    variance = _product(call, combine_over(call, Operator.ADD, spread, _FREE), share)
    return _put(call, data, [mean, variance])


def _product(call: Call, left: Operand, right: Operand) -> Operand:
    return compute(call.context, Operator.MULTIPLY, (left, right), FLOAT32, via=call.via)


def _matrix(call: Call) -> View:
    data = as_view(call.context, call.given(Role.SOURCE), hint=call.hint)
    if data is not None and len(data.dimensions) > 2 and call.mask is None:
        data = reshape(call.context, data, (data.shape[0], product(data.shape[1:])))
    if data is None or len(data.dimensions) != 2:
        raise MisunderstoodError("the operand is not a matrix")
    return data


def _every(call: Call, data: View, start: int, step: int) -> View:
    """The elements start, start + step, ... of each partition."""
    taken = select(call.context, data, [Stretch(None, None), Stretch(integer(start), None, integer(step))])
    assert taken is not None
    return taken


def _put(call: Call, data: View, parts: list[Operand]) -> Value:
    """The columns `parts` in the destination, or in a new tile."""
    context = call.context
    shape: tuple[Expr, Expr] = (data.shape[0], integer(len(parts)))
    destination = call.destination()
    dtype = call.result_dtype(data)
    mask = mask_left(call, data.shape, _FREE, (data.shape[0], integer(1)))
    target = destination or allocate(context, call.hint, dtype, shape, Space.SHARED, call.via)
    for number, part in enumerate(parts):
        column = Stretch(integer(number), integer(number + 1), None, integer(1))
        view = select(context, target, [Stretch(None, None), column])
        if view is None:
            raise MisunderstoodError("the destination is not a matrix")
        store(context, view, part, via=call.via, mask=mask)
    if destination is not None or mask is None:
        return NONE if destination is not None else target
    return Result(load(context, target).expression, dtype, target.shape, target.shape, view=target, mask=mask)
