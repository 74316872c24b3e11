"""What a kernel hands back: buffers, or the parts of them that its `return` names."""

from __future__ import annotations

from dataclasses import replace

from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.flow import Flow
from portcheck.frontends.nki.values.arithmetic import is_one, product
from portcheck.frontends.nki.values.data import allocate, as_view, resolved
from portcheck.frontends.nki.values.fitting import same_shape
from portcheck.frontends.nki.values.leaves import buffers_of, leaves_of
from portcheck.frontends.nki.values.tiles import Result, View
from portcheck.frontends.nki.values.values import NONE, Items, Nothing, Parameter, Unknown
from portcheck.frontends.nki.values.views import access, linear, symbol_of
from portcheck.ir import Copy, Ranges, Return, Space, number
from portcheck.ir.algebra import polynomial_of


def emit_return(context: Context, flow: Flow) -> None:
    """What the kernel hands back."""
    value = flow.value if flow.value is not None else NONE
    if isinstance(value, Items) and (value.lost or value.series is not None):
        value = context.unknown("return", value.lost or "a list of unknown length", *leaves_of(value))
    values = value.values if isinstance(value, Items) else [] if isinstance(value, Nothing) else [value]
    views: list[View] = []
    for item in values:
        view = as_view(context, item) if isinstance(item, View | Result | Parameter) else None
        if view is not None:
            views.append(_handed_back(context, view))
        elif isinstance(item, Unknown):
            reason = f"returns something that is not understood: {item.reason}"
            context.opaque(reason, "return", reads=buffers_of(context, item), kind=item.kind)
    buffers = tuple(view.buffer.name for view in views)
    context.results = buffers or context.results
    is_plain = all(same_shape(view.shape, view.buffer.shape) for view in views)
    shapes = () if is_plain else tuple(view.shape for view in views)
    place = {} if flow.span is None else {"span": flow.span}
    context.builder.emit(Return, via="return", buffers=buffers, shapes=shapes, **place)


def _handed_back(context: Context, view: View) -> View:
    """`view` as a whole buffer: itself, or a copy of the elements that it takes, in their order."""
    if _is_whole(view):
        return view
    made = allocate(context, view.buffer.name, view.buffer.dtype, view.shape, Space.GLOBAL)
    source, destination = access(resolved(context, view), is_tile=False), access(made, is_tile=False)
    context.builder.emit(Copy, via="return", destination=destination, source=source)
    return made


def _is_whole(view: View) -> bool:
    """Whether a view takes every element of its buffer, in their order."""
    ranges = Ranges()
    for dimension in view.dimensions:
        ranges = ranges.with_extent(dimension.symbol, polynomial_of(dimension.extent))
    ones = {dimension.symbol: number(0) for dimension in view.dimensions if is_one(dimension.extent)}
    own = View(replace(view.buffer, shape=view.shape), view.dimensions, tuple(map(symbol_of, view.dimensions)))
    reached, wanted = (polynomial_of(linear(seen), ranges, ones) for seen in (view, own))
    return reached == wanted and polynomial_of(product(view.shape)) == polynomial_of(product(view.buffer.shape))
