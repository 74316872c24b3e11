"""Values exchanged between partitions."""

from __future__ import annotations

from functools import partial, reduce

from portcheck.core.dtype import INT32
from portcheck.frontends.nki.expressions.bind import Call, as_sizes
from portcheck.frontends.nki.lowering.functions import operand_for
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.arithmetic import known_int, plus, times
from portcheck.frontends.nki.values.data import as_number, as_view, load, store
from portcheck.frontends.nki.values.operands import Operand
from portcheck.frontends.nki.values.series import element
from portcheck.frontends.nki.values.values import NONE, Items, Series, Value
from portcheck.frontends.nki.values.views import kept, moved, symbol_of
from portcheck.ir import ZERO, Exchange, ExchangeKind, Operator, ValueType, apply, integer
from portcheck.knowledge import Role

_KEPT = "kept"
"""The number that says which entry of a pattern leaves the destination as it is."""


def stream_shuffle(call: Call) -> Value:
    """Partition i of every group takes the value of partition pattern[i] of its group, or keeps what it holds."""
    context, given, keeping = call.context, call.given(Role.SOURCE), call.documented(_KEPT)
    places = call.given(Role.PATTERN)
    if isinstance(places, Items) and places.series is not None and not places.lost:
        return _by_formula(call, given, places.series)
    value = operand_for(call, given)
    pattern = _pattern(call)
    destination = call.destination()
    kept = [lane for lane, source in enumerate(pattern) if source == keeping]
    if kept and destination is None:
        raise MisunderstoodError("the pattern keeps partitions of a destination that is not known")
    if not value.shape:
        raise MisunderstoodError("what is shuffled has no partitions")
    rows = destination.shape[0] if destination is not None and destination.shape else value.shape[0]
    shape = (rows, *value.shape[1:])
    sources = tuple(lane if source == keeping else source for lane, source in enumerate(pattern))
    made = context.builder.result(
        Exchange, via=call.via, kind=ExchangeKind.PATTERN, operand=value.expression, lane=ZERO,
        width=integer(len(pattern), INT32), pattern=sources, type=ValueType(value.dtype, shape),
    )  # fmt: skip
    moved = Operand(made, value.dtype, shape)
    if not kept or destination is None:
        return call.finish(moved, given)
    lane_at = apply(Operator.FLOOR_MODULO, symbol_of(destination.dimensions[0]), integer(len(pattern)))
    tests = [apply(Operator.NOT_EQUAL, lane_at, integer(lane)) for lane in kept]
    store(context, destination, moved, mask=reduce(partial(apply, Operator.LOGICAL_AND), tests), via=call.via)
    return NONE


def _by_formula(call: Call, given: Value | None, series: Series) -> Value:
    """As `stream_shuffle`, for a pattern of which it is known how each entry follows from its place."""
    context, destination, source = call.context, call.destination(), as_view(call.context, given)
    count, keeping = known_int(series.length), call.documented(_KEPT)
    if count is None or destination is None or source is None or not source.dimensions or not destination.dimensions:
        raise MisunderstoodError("the pattern is not known")
    row, width = context.placeholder(destination.shape[0]), integer(count)
    lane, begin = (apply(sign, symbol_of(row), width) for sign in (Operator.FLOOR_MODULO, Operator.FLOOR_DIVIDE))
    wanted, lane_at = as_number(context, element(series, lane)), symbol_of(destination.dimensions[0])
    tested = as_number(context, element(series, apply(Operator.FLOOR_MODULO, lane_at, width)))
    if wanted is None or tested is None:
        raise MisunderstoodError("the pattern is not known")
    is_kept = apply(Operator.EQUAL, wanted, integer(keeping))
    taken = plus(times(begin, width), apply(Operator.SELECT, is_kept, lane, wanted))
    moving = moved(source, (row, *source.dimensions[1:]), {source.dimensions[0].symbol: taken})
    changes = apply(Operator.NOT_EQUAL, tested, integer(keeping))
    store(context, destination, load(context, kept(moving)), mask=changes, via=call.via)
    return NONE


def _pattern(call: Call) -> tuple[int, ...]:
    """The source of each partition of a group."""
    sizes = [known_int(size) for size in as_sizes(call.context, call.given(Role.PATTERN)) or ()]
    pattern = tuple(size for size in sizes if size is not None)
    if not pattern or len(pattern) != len(sizes):
        raise MisunderstoodError("the pattern is not known")
    if not all(0 <= source < len(pattern) or source == call.documented(_KEPT) for source in pattern):
        raise MisunderstoodError("the pattern names partitions that there are not")
    return pattern
