"""Elements of a tile chosen by indices in another: within a partition, or among the partitions of one processor."""

from __future__ import annotations

from collections.abc import Sequence

from portcheck.frontends.nki.expressions.bind import Call
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.arithmetic import folded, plus, product, times
from portcheck.frontends.nki.values.data import as_view, load
from portcheck.frontends.nki.values.patterns import gathering, symbol_for
from portcheck.frontends.nki.values.tiles import Dimension, Gathered, View
from portcheck.frontends.nki.values.values import Value
from portcheck.frontends.nki.values.views import moved, reshape, symbol_of
from portcheck.ir import Expr, OpaqueKind, Operator, apply, integer
from portcheck.knowledge import Role

STREAM = "stream"
"""The number that says how many partitions one processor of the general engine is connected to."""


def flat(call: Call, value: Value | None) -> View:
    """A tile with its free dimensions as one."""
    view = as_view(call.context, value, hint=call.hint)
    if view is None or len(view.dimensions) < 2:
        raise MisunderstoodError("an operand is not understood")
    if len(view.dimensions) == 2:
        return view
    return reshape(call.context, view, (view.shape[0], folded(product(view.shape[1:]))))


def taken_along(context: Context, data: View, indices: View) -> View:
    """Of each partition of `data` the elements whose positions stand in that partition of `indices`."""
    item = gathering(context, indices, [symbol_of(dimension) for dimension in indices.dimensions])
    return at_column(data, indices.dimensions, item, symbol_for(item))


def at_column(data: View, dimensions: Sequence[Dimension], item: Gathered, column: Expr) -> View:
    """The elements of a flat tile at `column`, over `dimensions`, of which the first is the partition."""
    symbols: dict[str, Expr] = {
        data.dimensions[0].symbol: symbol_of(dimensions[0]),
        data.dimensions[1].symbol: column,
    }
    made = moved(data, dimensions, symbols)
    return View(made.buffer, made.dimensions, made.index, (*made.gathered, item))


def gather(call: Call) -> Value:
    """Elements of the flattened free dimensions, by indices in the same partition."""
    data, indices = flat(call, call.given(Role.SOURCE)), as_view(call.context, call.given(Role.INDICES))
    if indices is None or not indices.dimensions:
        raise MisunderstoodError("the indices are not understood")
    if call.constant(Role.AXIS) not in (None, 0):
        raise MisunderstoodError("the axis is not understood")
    found = load(call.context, taken_along(call.context, data, indices))
    return call.finish(found, call.given(Role.SOURCE))


def gather_in_stream(call: Call) -> Value:
    """Elements by indices that lie column by column in the partitions of a processor, for all of them."""
    context, stream = call.context, integer(call.documented(STREAM))
    data, indices = flat(call, call.given(Role.SOURCE)), flat(call, call.given(Role.INDICES))
    width = call.number(Role.SIZE) or integer(1)
    count = call.number(Role.COUNT) or folded(times(indices.shape[1], stream))
    if call.given(Role.COUNT) is not None and call.number(Role.COUNT) is None:
        raise MisunderstoodError("how many indices are valid is not known", OpaqueKind.MEMORY)
    partition, place, element = (context.placeholder(extent) for extent in (data.shape[0], count, width))
    group = apply(Operator.FLOOR_DIVIDE, symbol_of(partition), stream)
    lane = apply(Operator.FLOOR_MODULO, symbol_of(place), stream)
    column = apply(Operator.FLOOR_DIVIDE, symbol_of(place), stream)
    item = gathering(context, indices, [plus(times(group, stream), lane), column])
    view = at_column(data, (partition, place, element), item, plus(symbol_for(item), symbol_of(element)))
    return call.finish(load(context, view), call.given(Role.SOURCE))
