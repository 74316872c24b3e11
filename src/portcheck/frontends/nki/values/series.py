"""Lists of a length that is not known: each element is one value with the position put in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from portcheck.core.dtype import INT64
from portcheck.frontends.nki.loops.rounds import length_of
from portcheck.frontends.nki.state.failure import UnfollowedError
from portcheck.frontends.nki.state.mutation import use_up
from portcheck.frontends.nki.values.arithmetic import difference, folded, known_int, plus, same, times
from portcheck.frontends.nki.values.callables import Function, Method
from portcheck.frontends.nki.values.tiles import Grid, Result, View
from portcheck.frontends.nki.values.values import Counter, Either, Items, Series, Stretch, Table, Unknown, Value
from portcheck.frontends.nki.values.views import moved
from portcheck.ir import Apply, Const, Expr, Operator, Ref, Symbol, apply, substitute

if TYPE_CHECKING:
    from portcheck.frontends.nki.state.context import Context

WRITTEN_OUT = 4096
"""Elements of a list of a known length that are written out where that is asked for."""
_PARTS = 10_000


def series_of(context: Context, value: Value) -> Series | None:
    """A list, iterator or range as a series; None for anything else, and where it is held element by element."""
    match value:
        case Items():
            series = value.series
            if series is not None:
                use_up(context, value)
            return series
        case Counter(start=start, step=step):
            place = Symbol(context.fresh_symbol("place"), INT64)
            return Series(length_of(value), place.name, plus(start, times(place, step)))
        case _:
            return None


def listed(series: Series, *, is_list: bool = True) -> Items:
    """A list that holds `series`."""
    made = Items([], is_list)
    made.series = series
    return made


def as_iterator(made: Items) -> Items:
    """A list that was just made, as what gives its elements once."""
    made.once = made.is_list = True
    return made


def element(series: Series, place: Expr) -> Value:
    """The element at `place`, counted from the end where it is known to be negative."""
    number = known_int(place)
    if number is not None and number < 0:
        place = folded(plus(series.length, place))
    return at(series.element, {series.variable: place})


def elements(series: Series) -> list[Value] | None:
    """All elements where it is known how many there are."""
    count = known_int(series.length)
    if count is None or count > WRITTEN_OUT:
        return None
    return [element(series, Const(place, INT64)) for place in range(count)]


def write_out(context: Context, item: Items) -> None:
    """Holds the elements of `item` one by one, where it is known how many there are, so that it can be changed."""
    found = elements(item.series) if item.series is not None and not item.lost else None
    if found is not None:
        context.journal.note(item)
        item.held[:], item.series = found, None


def part(series: Series, stretch: Stretch) -> Series | None:
    """The elements that a slice takes; None for a step or an end that is not understood."""
    if stretch.step is not None and known_int(stretch.step) != 1:
        return None
    start = _end(series, stretch.start, Const(0, INT64))
    stop = _end(series, stretch.stop, series.length)
    if not same(stop, series.length):
        stop = apply(Operator.MINIMUM, stop, series.length)
    shifted = {series.variable: plus(start, Symbol(series.variable, INT64))}
    return Series(difference(stop, start), series.variable, at(series.element, shifted))


def _end(series: Series, given: Expr | None, default: Expr) -> Expr:
    if given is None:
        return default
    number = known_int(given)
    return plus(series.length, given) if number is not None and number < 0 else given


def joined(outer: Expr, variable: str, inner: Series, place: Symbol) -> Series:
    """The elements of `inner` for each of the `outer` rounds that `variable` counts, one after the other."""
    here: dict[str, Expr] = {
        variable: apply(Operator.FLOOR_DIVIDE, place, inner.length),
        inner.variable: apply(Operator.FLOOR_MODULO, place, inner.length),
    }
    return Series(times(outer, inner.length), place.name, at(inner.element, here))


def at(value: Value, symbols: dict[str, Expr]) -> Value:
    """`value` with symbols replaced; raises UnfollowedError for what cannot be."""
    return _Substitution(symbols).of(value)


class _Substitution:
    def __init__(self, symbols: dict[str, Expr]) -> None:
        self._symbols = symbols
        self._done: dict[int, Value] = {}

    def of(self, value: Value) -> Value:
        match value:
            case Const():
                return value
            case Symbol() | Ref() | Apply():
                return substitute(value, self._symbols)
            case View():
                return view_at(value, self._symbols)
            case Result(view=View() as view):
                return view_at(view, self._symbols)
            case Either(condition, first, second):
                return Either(substitute(condition, self._symbols), self.of(first), self.of(second))
            case Items() | Table():
                return self._object(value)
            case Grid(expression, axes):
                return Grid(substitute(expression, self._symbols), axes)
            case Counter(start, stop, step):
                ends = [substitute(end, self._symbols) for end in (start, stop, step)]
                return replace(value, start=ends[0], stop=ends[1], step=ends[2])
            case Stretch(start, stop, step, size):
                return Stretch(*map(self._end, (start, stop, step, size)))
            case Unknown():
                return self._unknown(value)
            case Result():
                raise UnfollowedError("a list of unknown length holds a tile that is in no buffer")
            case Method(receiver, _):
                return replace(value, receiver=self.of(receiver))
            case Function(home=home) if home.root is not None:
                raise UnfollowedError("a list of unknown length holds functions of a function")
            case _:
                return value

    def _unknown(self, value: Unknown) -> Value:
        """What is not understood, each once: its parts may share theirs."""
        found = self._done.get(id(value))
        if found is None:
            found = replace(value, parts=tuple(self.of(item) for item in value.parts))
            self._done[id(value)] = found
        return found

    def _end(self, value: Expr | None) -> Expr | None:
        return None if value is None else substitute(value, self._symbols)

    def _object(self, value: Items | Table) -> Value:
        """A copy of a list, table or object, which must not change from then on."""
        found = self._done.get(id(value))
        if found is not None:
            return found
        if len(self._done) > _PARTS:
            raise UnfollowedError("a list of unknown length holds too much")
        made = replace(value, held=[]) if isinstance(value, Items) else replace(value, held={})
        self._done[id(value)] = made
        made.lost = value.lost
        if isinstance(value, Items) and isinstance(made, Items):
            made.origin, made.once, made.watches = value, value.once, value.watches
            made.held.extend(self.of(item) for item in value.held)
            made.series = None if value.series is None else self._series(value.series)
        elif isinstance(value, Table) and isinstance(made, Table):
            made.origin = value
            made.held.update({key: self.of(item) for key, item in value.held.items()})
        chosen = None if value.choice is None else self.of(value.choice)
        made.choice = chosen if isinstance(chosen, Either) else None
        return made

    def _series(self, series: Series) -> Series:
        symbols = {name: put for name, put in self._symbols.items() if name != series.variable}
        return Series(substitute(series.length, symbols), series.variable, at(series.element, symbols))


def view_at(view: View, symbols: dict[str, Expr]) -> View:
    """`view` with symbols of loops replaced."""
    dimensions = [replace(item, extent=substitute(item.extent, symbols)) for item in view.dimensions]
    gathered = tuple(replace(item, source=view_at(item.source, symbols)) for item in view.gathered)
    return moved(replace(view, gathered=gathered), dimensions, symbols)
