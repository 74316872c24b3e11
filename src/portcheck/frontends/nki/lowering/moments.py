"""Means and variances in parts: (count, mean, variance * count) triples, and how they are merged."""

from __future__ import annotations

from portcheck.core.dtype import FLOAT32
from portcheck.frontends.nki.bind import Call
from portcheck.frontends.nki.data import Operand, allocate, as_view, cast, compute, load, store
from portcheck.frontends.nki.failure import MisunderstoodError
from portcheck.frontends.nki.lowering.reducing import combine_over, scaled
from portcheck.frontends.nki.values import NONE, Stretch, Value, View
from portcheck.frontends.nki.views import select
from portcheck.ir import Expr, Operator, Space, integer
from portcheck.knowledge import Role

_FREE = (1,)


def statistics(call: Call) -> Value:
    """Count, mean and variance * count of the even elements of each partition, then of the odd ones."""
    data = _matrix(call)
    if call.mask is not None:
        raise MisunderstoodError("moments of a masked tile")
    parts: list[Operand] = []
    for start in (0, 1):
        value = cast(call.context, load(call.context, _every(call, data, start, 2)), FLOAT32)
        count = value.shape[1]
        mean = scaled(call, combine_over(call, Operator.ADD, value, _FREE), count)
        distance = compute(call.context, Operator.SUBTRACT, (value, mean), FLOAT32, via=call.via)
        square = compute(call.context, Operator.SQUARE, (distance,), FLOAT32, via=call.via)
        number = cast(call.context, Operand(count, count.dtype), FLOAT32)
        parts.extend((number, mean, combine_over(call, Operator.ADD, square, _FREE)))
    return _put(call, data, parts)


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
    dtype = call.dtype() or FLOAT32
    target = destination or allocate(context, call.hint, dtype, shape, Space.SHARED, call.via)
    for place, part in enumerate(parts):
        column = Stretch(integer(place), integer(place + 1), None, integer(1))
        view = select(context, target, [Stretch(None, None), column])
        if view is None:
            raise MisunderstoodError("the destination is not a matrix")
        store(context, view, part, via=call.via)
    return NONE if destination is not None else target
