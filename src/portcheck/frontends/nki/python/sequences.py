"""Functions of Python on lists, tuples, sets and dictionaries, and those that take functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, chain, islice, product, zip_longest
from typing import Any

from portcheck.core.dtype import INT64
from portcheck.frontends.nki.expressions.subscripts import key_of
from portcheck.frontends.nki.objects.attributes import UNROLL_LIMIT, give_back, items_of
from portcheck.frontends.nki.python.numbers import folded as folding
from portcheck.frontends.nki.python.texts import NotPlainError, Plain, plain
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.mutation import take_first
from portcheck.frontends.nki.values.arithmetic import difference, folded, known_int, literal, plus, same
from portcheck.frontends.nki.values.callables import Bound
from portcheck.frontends.nki.values.data import as_number
from portcheck.frontends.nki.values.series import at, element, listed, series_of
from portcheck.frontends.nki.values.values import NONE, Items, Key, Nothing, Series, Table, Value
from portcheck.ir import Operator, Symbol, apply, integer

Arguments = Sequence[Value]
Keywords = Mapping[str, Value]
Invoke = Callable[[Value, Sequence[Value]], Value]
Handler = Callable[[Context, Arguments, Keywords, Invoke], Value | None]
PRODUCT_LIMIT = 4096
"""Elements of a product of lists that is written out."""


def _all_items(context: Context, arguments: Arguments) -> list[list[Value]] | None:
    """What each argument holds; None where that is not known of one, or one iterator is given twice."""
    iterators = [id(value) for value in arguments if isinstance(value, Items) and value.once]
    if len(set(iterators)) < len(iterators):
        return None
    found = [items_of(context, value) for value in arguments]
    present = [items for items in found if items is not None]
    return present if len(present) == len(found) else None


def _list(context: Context, arguments: Arguments, keywords: Keywords, invoke: Invoke) -> Value | None:
    if not arguments:
        return Items([], is_list=True)
    return _copied(context, arguments[0], is_list=True)


def _tuple(context: Context, arguments: Arguments, keywords: Keywords, invoke: Invoke) -> Value | None:
    return _copied(context, arguments[0], is_list=False) if arguments else Items([])


def _copied(context: Context, value: Value, *, is_list: bool) -> Value | None:
    values = items_of(context, value)
    if values is not None:
        return Items(values, is_list)
    series = series_of(context, value)
    return listed(series, is_list=is_list) if series is not None else None


def _set(context: Context, arguments: Arguments, keywords: Keywords, invoke: Invoke) -> Value | None:
    values = items_of(context, arguments[0]) if arguments else []
    return None if values is None else without_repeats(values)


def without_repeats(values: Sequence[Value]) -> Items | None:
    """A set of `values`, in the order they first stand in; None where it is not known which are equal."""
    made: dict[Plain, Value] = {}
    try:
        for value in values:
            made.setdefault(_hashable(plain(value)), value)
    except NotPlainError:
        return Items(list(values), is_list=True) if len(values) == 1 else None
    return Items(list(made.values()), is_list=True)


def _hashable(value: Plain) -> Plain:
    if isinstance(value, list):
        raise NotPlainError
    return tuple(map(_hashable, value)) if isinstance(value, tuple) else value


def _dict(context: Context, arguments: Arguments, keywords: Keywords, invoke: Invoke) -> Value | None:
    made: dict[Key, Value] = {}
    if arguments and isinstance(arguments[0], Table):
        made.update(arguments[0].entries)
    elif arguments:
        for pair in items_of(context, arguments[0]) or [NONE]:
            parts = items_of(context, pair)
            key = key_of(parts[0]) if parts is not None and len(parts) == 2 else None
            if key is None or parts is None:
                return None
            made[key] = parts[1]
    made.update(keywords.items())
    return Table(made)


def _reversed(context: Context, arguments: Arguments, keywords: Keywords, invoke: Invoke) -> Value | None:
    values = items_of(context, arguments[0]) if arguments else None
    if values is not None:
        return Items(values[::-1])
    series = series_of(context, arguments[0]) if arguments else None
    if series is None:
        return None
    last = difference(series.length, plus(Symbol(series.variable, INT64), integer(1)))
    return listed(Series(series.length, series.variable, at(series.element, {series.variable: last})), is_list=False)


def _enumerate(context: Context, arguments: Arguments, keywords: Keywords, invoke: Invoke) -> Value | None:
    values = items_of(context, arguments[0]) if arguments else None
    start = as_number(context, keywords.get("start", arguments[1] if len(arguments) > 1 else literal(0)))
    if not arguments or start is None:
        return None
    if values is not None:
        places = [literal(place) for place in range(len(values))]
        return Items([Items([folded(plus(start, place)), item]) for place, item in zip(places, values, strict=True)])
    series = series_of(context, arguments[0])
    if series is None:
        return None
    pair = Items([plus(start, Symbol(series.variable, INT64)), series.element])
    return listed(Series(series.length, series.variable, pair), is_list=False)


def _zip(context: Context, arguments: Arguments, keywords: Keywords, invoke: Invoke) -> Value | None:
    columns = _all_items(context, arguments)
    if columns is not None:
        return Items([Items(list(row)) for row in zip(*columns, strict=False)])
    series = [series_of(context, value) for value in arguments]
    present = [item for item in series if item is not None]
    if len(present) != len(series) or not present:
        return None
    place = Symbol(present[0].variable, INT64)
    length = present[0].length
    for item in present[1:]:
        length = length if same(length, item.length) else apply(Operator.MINIMUM, length, item.length)
    return listed(Series(length, place.name, Items([element(item, place) for item in present])), is_list=False)


def _zip_longest(context: Context, arguments: Arguments, keywords: Keywords, invoke: Invoke) -> Value | None:
    columns = _all_items(context, arguments)
    fill = keywords.get("fillvalue", NONE)
    return None if columns is None else Items([Items(list(row)) for row in zip_longest(*columns, fillvalue=fill)])


def _map(context: Context, arguments: Arguments, keywords: Keywords, invoke: Invoke) -> Value | None:
    columns = _all_items(context, arguments[1:])
    if not columns:
        return None
    return Items([invoke(arguments[0], row) for row in zip(*columns, strict=False)], is_list=True)


def _filter(context: Context, arguments: Arguments, keywords: Keywords, invoke: Invoke) -> Value | None:
    values = items_of(context, arguments[1]) if len(arguments) == 2 else None
    if values is None:
        return None
    kept: list[Value] = []
    for value in values:
        found = value if isinstance(arguments[0], Nothing) else invoke(arguments[0], [value])
        decided = context.truth(context, found)
        if decided is None:
            return None
        kept.extend([value] if decided else [])
    return Items(kept, is_list=True)


def _reduce(context: Context, arguments: Arguments, keywords: Keywords, invoke: Invoke) -> Value | None:
    values = items_of(context, arguments[1]) if len(arguments) > 1 else None
    given = None if values is None else [*arguments[2:3], *values]
    if not given:
        return None
    result = given[0]
    for value in given[1:]:
        result = invoke(arguments[0], [result, value])
    return result


def _accumulate(context: Context, arguments: Arguments, keywords: Keywords, invoke: Invoke) -> Value | None:
    values = items_of(context, arguments[0]) if arguments else None
    if values is None or keywords:
        return None
    if len(arguments) > 1:
        return Items(list(accumulate(values, lambda one, other: invoke(arguments[1], [one, other]))), is_list=True)
    sums = [folding(Operator.ADD)(context, [Items(values[: place + 1])]) for place in range(len(values))]
    present = [value for value in sums if value is not None]
    return Items(present, is_list=True) if len(present) == len(sums) else None


def _partial(context: Context, arguments: Arguments, keywords: Keywords, invoke: Invoke) -> Value | None:
    return Bound(arguments[0], tuple(arguments[1:]), tuple(keywords.items())) if arguments else None


def _product(context: Context, arguments: Arguments, keywords: Keywords, invoke: Invoke) -> Value | None:
    columns = _all_items(context, arguments)
    repeat = known_int(as_number(context, keywords["repeat"])) if "repeat" in keywords else 1
    if columns is None or repeat is None or not 0 <= repeat <= 8:
        return None
    rows = list(islice(product(*columns, repeat=repeat), PRODUCT_LIMIT + 1))
    return Items([Items(list(row)) for row in rows]) if len(rows) <= PRODUCT_LIMIT else None


def _chain(context: Context, arguments: Arguments, keywords: Keywords, invoke: Invoke) -> Value | None:
    columns = _all_items(context, arguments)
    return None if columns is None else Items(list(chain.from_iterable(columns)))


def _repeat(context: Context, arguments: Arguments, keywords: Keywords, invoke: Invoke) -> Value | None:
    count = known_int(as_number(context, arguments[1])) if len(arguments) == 2 else None
    return Items([arguments[0]] * count) if count is not None and 0 <= count <= UNROLL_LIMIT else None


def _all(context: Context, arguments: Arguments, keywords: Keywords, invoke: Invoke) -> Value | None:
    return _combined(context, arguments, invoke, decisive=False)


def _any(context: Context, arguments: Arguments, keywords: Keywords, invoke: Invoke) -> Value | None:
    return _combined(context, arguments, invoke, decisive=True)


def _combined(context: Context, arguments: Arguments, invoke: Invoke, *, decisive: bool) -> Value | None:
    values = items_of(context, arguments[0]) if len(arguments) == 1 else None
    if values is None:
        return None
    decided = [context.truth(context, value) for value in values]
    if decisive in decided:
        place = decided.index(decisive)
        give_back(context, arguments[0], values, None if None in decided[:place] else place + 1)
        return literal(decisive)
    rest = [value for value, answer in zip(values, decided, strict=True) if answer is None]
    if not rest:
        return literal(not decisive)
    operator = Operator.LOGICAL_OR if decisive else Operator.LOGICAL_AND
    return folding(operator)(context, [Items(rest)])


def _sorted(context: Context, arguments: Arguments, keywords: Keywords, invoke: Invoke) -> Value | None:
    values = items_of(context, arguments[0]) if len(arguments) == 1 else None
    ranks = _ranks(values, keywords, invoke) if values is not None else None
    backwards = context.truth(context, keywords.get("reverse", literal(False)))
    if values is None or ranks is None or backwards is None:
        return None
    try:
        order = sorted(range(len(values)), key=lambda place: ranks[place], reverse=backwards)
    except TypeError:
        return None
    return Items([values[place] for place in order], is_list=True)


def _ranks(values: Sequence[Value], keywords: Keywords, invoke: Invoke) -> list[Any] | None:
    """What `values` are compared by."""
    key = keywords.get("key", NONE)
    try:
        return [plain(value if isinstance(key, Nothing) else invoke(key, [value])) for value in values]
    except NotPlainError:
        return None


def _extreme(is_least: bool) -> Handler:
    def function(context: Context, arguments: Arguments, keywords: Keywords, invoke: Invoke) -> Value | None:
        values = items_of(context, arguments[0]) if len(arguments) == 1 else list(arguments)
        if values is None:
            return None
        if not values:
            return keywords.get("default")
        if "key" not in keywords:
            return folding(Operator.MINIMUM if is_least else Operator.MAXIMUM)(context, [Items(values)])
        ranks = _ranks(values, keywords, invoke)
        try:
            best = (min if is_least else max)(range(len(values)), key=lambda place: (ranks or [])[place])
        except (TypeError, IndexError):
            return None
        return values[best]

    return function


def _next(context: Context, arguments: Arguments, keywords: Keywords, invoke: Invoke) -> Value | None:
    """Takes the first of what is left of an iterator."""
    if not arguments or not isinstance(arguments[0], Items):
        return None
    if not arguments[0].values:
        return arguments[1] if len(arguments) > 1 else None
    return take_first(context, arguments[0])


SEQUENCES: Mapping[str, Handler] = {
    "list": _list, "tuple": _tuple, "set": _set, "frozenset": _set, "dict": _dict, "reversed": _reversed,
    "enumerate": _enumerate, "zip": _zip, "zip_longest": _zip_longest, "map": _map, "filter": _filter,
    "reduce": _reduce, "accumulate": _accumulate, "partial": _partial, "product": _product, "chain": _chain,
    "repeat": _repeat, "next": _next, "all": _all, "any": _any, "sorted": _sorted, "min": _extreme(True),
    "max": _extreme(False),
}  # fmt: skip
"""Functions by name."""
ITERATORS = frozenset({
    "reversed", "enumerate", "zip", "zip_longest", "map", "filter", "accumulate", "product", "chain", "repeat",
})  # fmt: skip
"""Those whose result gives its elements once."""
