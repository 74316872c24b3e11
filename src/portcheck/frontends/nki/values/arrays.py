"""Arrays of the host that a port computes while it is traced: functions of their position, as index variables are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from portcheck.frontends.nki.expressions.bind import as_dtype, as_sizes
from portcheck.frontends.nki.lowering.indices import three
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.arithmetic import difference, known_int, plus, times
from portcheck.frontends.nki.values.data import as_number
from portcheck.frontends.nki.values.tiles import Grid
from portcheck.frontends.nki.values.values import Value
from portcheck.frontends.nki.values.views import symbol_of
from portcheck.ir import Apply, Expr, Operator, apply, integer

ARRAY_LIBRARIES = frozenset({"numpy"})
Arguments = Sequence[Value]


def array_call(context: Context, word: str, arguments: Arguments, keywords: Mapping[str, Value]) -> Value | None:
    """The array that the function `word` of an array library makes; None when it is not modelled."""
    function = _FUNCTIONS.get(word)
    named = dict(keywords)
    dtype = as_dtype(context, named.pop("dtype", None))
    try:
        made = function(context, [*arguments, *named.values()]) if function is not None else None
    except MisunderstoodError:
        return None
    return Grid(made.expression, made.dimensions, dtype) if made is not None else None


def _identity(context: Context, arguments: Arguments) -> Grid | None:
    size = as_number(context, arguments[0]) if len(arguments) == 1 else None
    if size is None:
        return None
    row, column = context.placeholder(size), context.placeholder(size)
    is_diagonal = apply(Operator.EQUAL, symbol_of(row), symbol_of(column))
    return Grid(apply(Operator.SELECT, is_diagonal, integer(1), integer(0)), (row, column))


def _arange(context: Context, arguments: Arguments) -> Grid | None:
    start, stop, step = three([as_number(context, value) for value in arguments])
    count = known_int(step)
    if count is None or count < 1:
        return None
    extent = difference(stop, start)
    if count != 1:
        extent = Apply(Operator.CEILING_DIVIDE, (extent, step), extent.dtype)
    dimension = context.placeholder(extent)
    return Grid(plus(start, times(symbol_of(dimension), step)), (dimension,))


def _filled(value: int | None) -> Callable[[Context, Arguments], Grid | None]:
    def function(context: Context, arguments: Arguments) -> Grid | None:
        given = list(arguments)
        content: Expr | None = integer(value) if value is not None else None
        if content is None and len(given) == 2:
            content = as_number(context, given.pop())
        shape = as_sizes(context, given[0]) if len(given) == 1 else None
        if shape is None or content is None:
            return None
        return Grid(content, tuple(context.placeholder(extent) for extent in shape))

    return function


_FUNCTIONS: Mapping[str, Callable[[Context, Arguments], Grid | None]] = {
    "identity": _identity, "eye": _identity, "arange": _arange, "zeros": _filled(0), "ones": _filled(1),
    "full": _filled(None),
}  # fmt: skip
