"""Indexing: tiles, index variables, lists, dictionaries, shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from portcheck.core.dtype import BOOL, INT64, DType
from portcheck.frontends.nki.loops.growing import of_this_round
from portcheck.frontends.nki.objects.attributes import deepen, items_of
from portcheck.frontends.nki.objects.dunders import special
from portcheck.frontends.nki.objects.enumerations import members_of, plain_value
from portcheck.frontends.nki.objects.parameters import part as part_of
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.deepening import deepen_parameter
from portcheck.frontends.nki.state.failure import ForkError, NeedsUnrollingError, RaisedError
from portcheck.frontends.nki.state.holding import is_small
from portcheck.frontends.nki.values.arithmetic import difference, is_number, known, known_int, plus
from portcheck.frontends.nki.values.callables import Class, ClassKind, Function
from portcheck.frontends.nki.values.data import as_number, as_view, load
from portcheck.frontends.nki.values.series import element, listed, part, series_of
from portcheck.frontends.nki.values.stacking import can_unroll
from portcheck.frontends.nki.values.tiles import Dimension, Grid, Masked, Result, View
from portcheck.frontends.nki.values.values import (
    NONE,
    Counter,
    Dots,
    Either,
    External,
    Format,
    Instance,
    Items,
    Key,
    Nothing,
    Parameter,
    Series,
    ShapeOf,
    Stretch,
    Table,
    Text,
    Unknown,
    Value,
)  # fmt: skip
from portcheck.frontends.nki.values.views import Selector, expand, from_start, select, symbol_of
from portcheck.ir import Apply, Expr, OpaqueKind, Operator, apply, integer, substitute
from portcheck.knowledge import Semantics
from portcheck.knowledge import load as load_knowledge

_LEAST_ON_CHIP = 2
"""Dimensions that a part of an on-chip tensor has at least."""
_MOST_IN_TURN = 4
"""Tiles of a list that are used in turn, each told from the others by a condition."""
MOST_DIMENSIONS = 16
"""No tensor has more; an index beyond it into a shape is a mistake."""


def subscript(context: Context, target: Value, chosen: Sequence[Value], hint: str, text: str) -> Value:
    """`target[chosen]`."""
    match target:
        case Either():
            return subscript(context, context.certain(target), chosen, hint, text)
        case View() | Result() if (condition := _condition(chosen)) is not None:
            return Masked(target, condition)
        case View() | Result():
            view = indexed(context, target, chosen)
            if view is None:
                _deepen(context, target, chosen)
            return view if view is not None else _unread(context, text, target, chosen)
        case Parameter(name):
            return _of_parameter(context, name, chosen, text)
        case ShapeOf(parameter):
            return _size(context, parameter, chosen, text)
        case Grid():
            return _reaxed(context, target, chosen, text)
        case External(name) if _is_mesh(context, name):
            return _mesh(context, chosen, text)
        case Items():
            return _item(context, target, chosen, text)
        case Instance():
            given = chosen[0] if len(chosen) == 1 else Items(list(chosen))
            own = special(context, target, "getitem", given)
            fields = items_of(context, target)
            if own is None and fields is not None:
                return _item(context, Items(fields), chosen, text)
            return own if own is not None else context.unknown(text, f"{target.record} is indexed", target)
        case Class():
            return _of_class(context, target, chosen)
        case Table(entries):
            key = key_of(chosen[0] if len(chosen) == 1 else Items(list(chosen)))
            if key is not None and key in entries:
                return entries[key]
            return context.unknown(text, "the key is not known", *entries.values())
        case Function():
            return target
        case Counter():
            found = series_of(context, target)
            return (
                _item(context, listed(found), chosen, text)
                if found is not None
                else _unread(context, text, target, chosen)
            )
        case Unknown(name, reason, parts):
            tiles = (item for item in chosen if isinstance(item, View | Result))
            return Unknown(text, reason, (*parts, *tiles), target.kind)
        case Nothing() if context.is_chosen(target):
            raise RaisedError  # in this arm of a branch, which nothing takes then
        case _:
            return context.unknown(text, "indexing something that is not a tile", target, kind=OpaqueKind.MEMORY)


def _condition(chosen: Sequence[Value]) -> Grid | None:
    """The condition that chooses elements of a tile, if the index is one."""
    only = chosen[0] if len(chosen) == 1 else None
    return only if isinstance(only, Grid) and only.expression.dtype == BOOL else None


def _deepen(context: Context, target: View | Result, chosen: Sequence[Value]) -> None:
    """Notes for the next pass that the parameter that `target` is part of has as many dimensions as are indexed."""
    if isinstance(target, View) and target.buffer.name in context.facts:
        indexed_at = sum(not isinstance(item, Nothing | Dots) for item in chosen)
        deepen_parameter(context, target.buffer.name, indexed_at - len(target.dimensions))


def _of_class(context: Context, target: Class, chosen: Sequence[Value]) -> Value:
    """The member of an enumeration by its name; a class that is given types is itself."""
    if target.kind is not ClassKind.ENUMERATION:
        return target
    name = chosen[0].value if len(chosen) == 1 and isinstance(chosen[0], Text) else ""
    found = next((item for item in members_of(target) if item.record == name), None)
    return found if found is not None else context.unknown(target.name, "which member is not known", target)


def indexed(context: Context, target: Value, chosen: Sequence[Value]) -> View | None:
    """The elements of a tile or tensor that `chosen` names; None when they are not understood."""
    selectors: list[Selector] = []
    for value in chosen:
        selector = _selector(context, value)
        if selector is None:
            return None
        selectors.append(selector)
    if isinstance(target, Parameter):
        consumed = sum(not isinstance(item, Nothing | Dots) for item in selectors)
        facts = context.facts[target.name]
        if context.is_legacy and all(is_number(item) and known(item) is None for item in selectors):
            facts.seen_at_least(consumed + _TILE_RANK)
        elif not any(isinstance(item, Dots) for item in selectors):
            facts.seen_at_least(consumed)
        view = as_view(context, target, consumed)
    else:
        view = as_view(context, target)
    if view is None:
        return None
    if not context.is_legacy:
        return select(context, view, _on_chip(view, selectors))
    count = sum(not isinstance(item, Nothing | Dots) for item in selectors)
    while view.buffer.is_on_chip and len(view.dimensions) < min(count, _TILE_RANK):
        view = expand(context, view, len(view.dimensions))
    return select(context, view, selectors)


def _on_chip(view: View, selectors: Sequence[Selector]) -> Sequence[Selector]:
    """An index of an on-chip tensor does not remove the partition, nor the last dimension beside it."""
    if not view.buffer.is_on_chip or not selectors:
        return selectors
    numbers = [place for place, item in enumerate(selectors) if is_number(item)]
    rank = len(view.dimensions) + sum(isinstance(item, Nothing) for item in selectors)
    kept_at = {0} if 0 in numbers else set()
    for place in reversed(numbers):
        if rank - len(numbers) + len(kept_at) < _LEAST_ON_CHIP:
            kept_at.add(place)
    return [_one_long(item) if place in kept_at else item for place, item in enumerate(selectors)]


def _one_long(selector: Selector) -> Selector:
    if not is_number(selector):
        return selector
    return Stretch(selector, plus(selector, integer(1)), None, integer(1))


_TILE_RANK = 2
"""A tile has a partition and a free dimension: `x[i]` in a loop is one of many tiles rather than an element."""


def _selector(context: Context, value: Value) -> Selector | None:
    match value:
        case Grid(expression) if expression.dtype == BOOL:
            return None  # elements chosen by a condition, not by their positions
        case Stretch() | Grid() | Dots() | Nothing():
            return value
        case View() | Result():
            return _from_memory(context, value)
        case _:
            return as_number(context, value)


def _from_memory(context: Context, value: View | Result) -> Selector | None:
    """An index that stands in a tile: the loaded element at each position of that tile."""
    view = as_view(context, value)
    if view is None:
        return None
    loaded = load(context, view)
    return Grid(loaded.expression, tuple(context.placeholder(extent) for extent in loaded.shape))


def _of_parameter(context: Context, name: str, chosen: Sequence[Value], text: str) -> Value:
    is_plain = len(chosen) == 1 and not isinstance(chosen[0], Stretch | Grid | Dots)
    if is_plain and not context.facts[name].is_tensor:
        number = as_number(context, chosen[0])
        if number is not None and known_int(number) is not None:
            # `shape2D[0]`: an index by a constant says nothing about being a tensor.
            place = known_int(number)
            is_counted = place is not None and place >= 0
            return part_of(context, f"{name}[{place}]", INT64) if is_counted else context.free_symbol(text)
    context.facts[name].used.add("__getitem__")
    view = indexed(context, Parameter(name), chosen)
    if view is None:
        _refuse(context, name, chosen)
    return view if view is not None else _unread(context, text, Parameter(name), chosen)


def _refuse(context: Context, name: str, chosen: Sequence[Value]) -> None:
    """Raises RaisedError in an arm of a branch that indexes a tensor of another rank than the rest of the text says."""
    rank = context.facts[name].rank
    indexed_at = sum(not isinstance(item, Nothing | Dots) for item in chosen)
    if rank is not None and rank < indexed_at and context.holding and not context.is_legacy:
        context.assume(f"{name} is taken to have {rank} dimensions, which only some arms of branches fit")
        raise RaisedError


def _unread(context: Context, text: str, target: Value, chosen: Sequence[Value]) -> Unknown:
    return context.unknown(text, "the index is not understood", target, *chosen, kind=OpaqueKind.MEMORY)


def _size(context: Context, parameter: str, chosen: Sequence[Value], text: str) -> Value:
    choice = _choice_of_places(context, chosen)
    if choice is not None:
        first, second = (_size(context, parameter, [place], text) for place in choice.arguments[1:])
        return _chosen_by(context, choice.arguments[0], first, second)
    place = known_int(as_number(context, chosen[0])) if len(chosen) == 1 else None
    facts = context.facts[parameter]
    if place is not None and place < 0 and facts.rank is not None:
        place += facts.rank
    if place is not None and place >= MOST_DIMENSIONS:
        return context.unknown(text, "a tensor of more dimensions than there are", kind=OpaqueKind.MEMORY)
    if place is None or place < 0:
        if len(chosen) == 1 and isinstance(chosen[0], Stretch):
            return _item(context, Items(list(context.parameter_view(parameter).shape)), chosen, text)
        return context.unknown(text, "which dimension is not known", kind=OpaqueKind.MEMORY)
    return context.size_of(parameter, place)


def _choice_of_places(context: Context, chosen: Sequence[Value]) -> Apply | None:
    """The only index where it is one of two known numbers by a condition."""
    number = as_number(context, chosen[0]) if len(chosen) == 1 and is_number(chosen[0]) else None
    if not isinstance(number, Apply) or number.operator is not Operator.SELECT:
        return None
    return number if None not in (known_int(number.arguments[1]), known_int(number.arguments[2])) else None


def _chosen_by(context: Context, condition: Expr, first: Value, second: Value) -> Value:
    """`first` where `condition` holds, else `second`."""
    numbers = [as_number(context, value) if is_number(value) else None for value in (first, second)]
    if numbers[0] is None or numbers[1] is None:
        return Either(condition, first, second)
    return Apply(Operator.SELECT, (condition, numbers[0], numbers[1]), numbers[0].dtype)


def _reaxed(context: Context, grid: Grid, chosen: Sequence[Value], text: str) -> Value:
    """An index variable given its place among dimensions, `[:, None]`, or an element of it, `[i]`."""
    remaining = list(grid.dimensions)
    made: list[Dimension | None] = []
    replaced: dict[str, Expr] = {}
    for value in chosen:
        if isinstance(value, Nothing):
            made.append(None)
        elif isinstance(value, Stretch) and value == Stretch(None, None) and remaining:
            made.append(remaining.pop(0))
        elif isinstance(value, Dots):
            made.extend(remaining)
            remaining = []
        elif remaining and (number := as_number(context, value)) is not None:
            dimension = remaining.pop(0)
            if dimension is not None:
                replaced[dimension.symbol] = from_start(number, dimension.extent)
        else:
            return context.unknown(text, "indexing an index variable", grid, kind=OpaqueKind.MEMORY)
    expression, dimensions = substitute(grid.expression, replaced), (*made, *remaining)
    return replace(grid, expression=expression, dimensions=dimensions) if dimensions else expression


def _is_mesh(context: Context, name: str) -> bool:
    entry = context.knowledge.api_in_any_version(name)
    return entry is not None and entry.latest.semantics is Semantics.INDEX_GRID


def _mesh(context: Context, chosen: Sequence[Value], text: str) -> Value:
    """One index variable a slice, each along its own dimension."""
    found: list[Value] = []
    for place, value in enumerate(chosen):
        if not isinstance(value, Stretch) or value.stop is None:
            return context.unknown(text, "the index grid is not understood", kind=OpaqueKind.MEMORY)
        start = value.start if value.start is not None else integer(0)
        dimension = context.placeholder(difference(value.stop, start))
        dimensions = tuple(dimension if at == place else None for at in range(len(chosen)))
        found.append(Grid(plus(start, symbol_of(dimension)), dimensions))
    return Items(found) if len(found) != 1 else found[0]


def _item(context: Context, items: Items, chosen: Sequence[Value], text: str) -> Value:
    if items.choice is not None:
        raise ForkError(items.choice.condition)
    if items.lost and all(isinstance(item, View | Result | Nothing) for item in items.held):
        return Unknown(text, items.lost, (NONE, *items.held), OpaqueKind.CONTROL)
    if len(chosen) != 1:
        return context.unknown(text, "indexing a list with several indices", *items.values)
    value = chosen[0]
    added = of_this_round(context, items, value)
    if added is not None:
        return added
    if items.series is not None and not items.lost:
        return _of_series(context, items.series, value, text)
    if isinstance(value, Stretch):
        ends = [known_int(end) for end in (value.start, value.stop, value.step)]
        given = [end is not None for end in (value.start, value.stop, value.step)]
        if any(is_given and end is None for is_given, end in zip(given, ends, strict=True)):
            return context.unknown(text, "a slice of a list that is not known", *items.values)
        return Items(items.values[slice(*ends)] if ends[2] != 0 else [], items.is_list)
    choice = _choice_of_places(context, chosen)
    if choice is not None:
        first, second = (_item(context, items, [place], text) for place in choice.arguments[1:])
        return _chosen_by(context, choice.arguments[0], first, second)
    number = as_number(context, value)
    place = known(number) if number is not None else None
    taking_turns = _taking_turns(number, items.values) if number is not None and not can_unroll(context) else []
    if number is not None and taking_turns:
        return _in_turn(context, number, taking_turns)
    if place is None and number is not None and context.loop_depth:
        raise NeedsUnrollingError
    if isinstance(place, int) and -len(items.values) <= place < len(items.values):
        return items.values[place]
    if isinstance(place, int):
        deepen(context, items.values, max(place - len(items.values) + 1, -len(items.values) - place))
    return context.unknown(text, "the position in the list is not known", value, *items.values)


def _taking_turns(place: Expr, values: Sequence[Value]) -> Sequence[Value]:
    """The few of `values` that `place` may mean, where it is what is left of a division by a known number."""
    is_left = isinstance(place, Apply) and place.operator is Operator.FLOOR_MODULO
    count = known_int(place.arguments[1]) if isinstance(place, Apply) and is_left else None
    is_few = count is not None and 1 < count <= min(len(values), _MOST_IN_TURN)
    return values[:count] if is_few else ()


def _in_turn(context: Context, place: Expr, values: Sequence[Value]) -> Value:
    """The one of `values` that stands at `place`."""
    *others, found = values
    for number, value in reversed(list(enumerate(others))):
        found = _chosen_by(context, apply(Operator.EQUAL, place, integer(number)), value, found)
    return found


def _of_series(context: Context, series: Series, value: Value, text: str) -> Value:
    """An element or a slice of a list of a length that is not known."""
    if isinstance(value, Stretch):
        found = part(series, value)
        return listed(found) if found is not None else context.unknown(text, "a slice of a list that is not known")
    number = as_number(context, value)
    if number is None:
        return context.unknown(text, "the position in the list is not known", value, series.element)
    return element(series, number)


def key_of(value: Value) -> Key | None:
    """A dictionary key, if it is known: members of enumerations and functions are keys by identity."""
    match value:
        case Either(condition):
            raise ForkError(condition)
        case Text(text):
            return text
        case External(name):
            dtype = load_knowledge().nki_dtype(name)
            return value if dtype is None else Format(DType(dtype.name, dtype.kind))
        case Format(dtype):
            return None if dtype.is_symbolic else value
        case Instance(owner=owner):
            plain = plain_value(value)
            is_single = owner.kind in (ClassKind.ENUMERATION, ClassKind.PLAIN)
            return key_of(plain) if plain is not value and plain is not None else value if is_single else None
        case Nothing() | Class() | Function():
            return value
        case Items() if not value.is_list and is_small(value):
            keys = [key_of(item) for item in value.values]
            return tuple(key for key in keys if key is not None) if None not in keys else None
        case _:
            return known(value) if is_number(value) else None
