"""Lists of tiles that one round makes for the next: as many alike each time, so that one buffer holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from portcheck.core.dtype import INT64
from portcheck.frontends.nki.state.failure import NeedsUnrollingError
from portcheck.frontends.nki.values.arithmetic import same
from portcheck.frontends.nki.values.copying import put
from portcheck.frontends.nki.values.data import allocate, operand
from portcheck.frontends.nki.values.fitting import same_shape
from portcheck.frontends.nki.values.series import listed, view_at
from portcheck.frontends.nki.values.stacking import added
from portcheck.frontends.nki.values.tiles import View
from portcheck.frontends.nki.values.values import Items, Series, Stretch, Value
from portcheck.frontends.nki.values.views import Selector, select
from portcheck.ir import AxisKind, Expr, Loop, Range, Symbol, integer, symbols_in

if TYPE_CHECKING:
    from portcheck.frontends.nki.loops.rounds import Round
    from portcheck.frontends.nki.state.context import Context


@dataclass(frozen=True, slots=True)
class Tiles:
    """The `length` tiles of a list, all of one kind: each, or one with the symbol `variable` for its place."""

    length: Expr
    parts: tuple[View, ...]
    variable: str = ""


def tiles_of(value: Value | None) -> Tiles | None:
    """The tiles of a list; None for anything else, and where they are not alike."""
    if not isinstance(value, Items) or not value.is_list or value.lost or value.once or value.choice is not None:
        return None
    series = value.series
    held = value.held if series is None else [series.element]
    parts = tuple(item for item in held if isinstance(item, View) and not item.gathered)
    if not parts or len(parts) != len(held) or not all(_is_one_kind(parts[0], part) for part in parts):
        return None
    if series is None:
        return Tiles(integer(len(parts)), parts)
    is_uniform = not any(series.variable in symbols_in(extent) for extent in parts[0].shape)
    return Tiles(series.length, parts, series.variable) if is_uniform else None


def _is_one_kind(one: View, other: View) -> bool:
    is_alike = (one.buffer.dtype, one.buffer.space) == (other.buffer.dtype, other.buffer.space)
    return is_alike and same_shape(one.shape, other.shape)


def is_made_for_next(made: Round, before: Value | None, end: Value | None) -> bool:
    """Whether a round that began with one list of tiles made another, of its own tiles, that can take its place."""
    one, other = tiles_of(before), tiles_of(end)
    if one is None or other is None or not isinstance(end, Items) or end.age < made.changes.since:
        return False
    is_own = all(part.buffer.name in made.sites for part in other.parts)
    return is_own and same(one.length, other.length) and _is_one_kind(one.parts[0], other.parts[0])


def in_one_buffer(context: Context, hint: str, value: Value) -> tuple[View, Items] | None:
    """A buffer with the tiles of a list, and the list of its parts, which must not change; None for anything else."""
    tiles = tiles_of(value)
    if tiles is None:
        return None
    first = tiles.parts[0]
    shape = list(first.shape)
    shape.insert(added(first.buffer.space, shape), tiles.length)
    view = allocate(context, hint, first.buffer.dtype, shape, first.buffer.space, via="=")
    copy_into(context, view, value)
    place = Symbol(context.fresh_symbol("place"), INT64)
    series = Series(tiles.length, place.name, _part(context, view, place))
    made = listed(series)
    made.origin = listed(series)
    return view, made


def copy_into(context: Context, view: View, value: Value) -> None:
    """Copies the tiles of a list into the buffer that holds as many."""
    tiles = tiles_of(value)
    assert tiles is not None
    if not tiles.variable:
        for number, part in enumerate(tiles.parts):
            _copy(context, view, integer(number), part)
        return
    variable = context.bind_symbol("place")
    place = Symbol(variable, INT64)
    with context.builder.region() as body:
        _copy(context, view, place, view_at(tiles.parts[0], {tiles.variable: place}))
    values = Range(start=integer(0), stop=tiles.length, step=integer(1))
    context.builder.emit(Loop, via="=", variable=variable, values=values, body=tuple(body), kind=AxisKind.UNROLLED)
    context.builder.end(variable)


def _copy(context: Context, view: View, place: Expr, tile: View) -> None:
    source = operand(context, tile)
    if source is None:
        raise NeedsUnrollingError
    put(context, _part(context, view, place), source)


def _part(context: Context, view: View, place: Expr) -> View:
    """The tile at `place` of a buffer that holds those of a list."""
    shape = list(view.shape)
    position = added(view.buffer.space, shape)
    selectors: list[Selector] = [Stretch(integer(0), extent, None, extent) for extent in shape]
    selectors[position] = place
    found = select(context, view, selectors)
    if found is None:
        raise NeedsUnrollingError
    return found
