"""Access patterns: elements of a buffer at steps that are stated, beside offsets that may stand in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from portcheck.core.dtype import INT64, DType
from portcheck.frontends.nki.state.abbreviating import abbreviated
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.arithmetic import (
    LARGEST,
    constant_part,
    difference,
    divided,
    is_bounded,
    is_one,
    is_zero,
    known_int,
    plus,
    product,
    same,
    times,
)  # fmt: skip
from portcheck.frontends.nki.values.tiles import Buffer, Dimension, Gathered, View
from portcheck.frontends.nki.values.views import kept, linear, symbol_of
from portcheck.ir import Alloc, Expr, OpaqueKind, Operator, Symbol, ValueType, apply, integer, substitute

Pattern = Sequence[tuple[Expr, Expr]]


def start_of(view: View) -> Expr:
    """The row-major offset of the first element of `view` in its buffer."""
    offset = substitute(linear(view), {dimension.symbol: integer(0) for dimension in view.dimensions})
    return integer(0) if constant_part(offset) == 0 else offset


def step_of(view: View, place: int) -> Expr:
    """How far apart in its buffer the elements of `view` are along dimension `place`."""
    if not 0 <= place < len(view.dimensions):
        raise MisunderstoodError("the dimension does not exist", OpaqueKind.MEMORY)
    others: dict[str, Expr] = {item.symbol: integer(0) for at, item in enumerate(view.dimensions) if at != place}
    along = substitute(linear(view), others)
    symbol = view.dimensions[place].symbol
    ends = [substitute(along, {symbol: integer(number)}) for number in (1, 0)]
    step = difference(ends[0], ends[1])
    constant = constant_part(step)
    return step if constant is None else integer(constant)


@dataclass(frozen=True, slots=True)
class Moving:
    """An offset that stands in memory, in steps of `step` elements.

    A `vector` has one for each position along the first dimension of the pattern, in place of that dimension's own
    step; a view of several columns is read column by column. A scalar is one for all.
    """

    step: Expr
    vector: View | None = None
    scalar: View | Expr | None = None


def strided(context: Context, view: View, pattern: Pattern, offset: Expr | None, moving: Moving | None = None) -> View:
    """The elements at `offset` + sum of step * position of the buffer of `view`, from where the view starts."""
    if view.gathered:
        raise MisunderstoodError("a pattern over elements that are gathered", OpaqueKind.MEMORY)
    start = start_of(view)
    parts = len(pattern) + 2
    start = _short(context, plus(start, offset) if offset is not None else start, parts)
    pattern = [(_short(context, step, parts), extent) for step, extent in pattern]
    if moving is not None:
        moving = replace(moving, step=_short(context, moving.step, parts))
    dimensions = tuple(context.placeholder(extent, spread=is_zero(step)) for step, extent in pattern)
    steps = [integer(0) if item.spread else step for item, (step, _) in zip(dimensions, pattern, strict=True)]
    if moving is not None:
        return _gathered(context, view.buffer, dimensions, steps, start, moving)
    index = _by_dimension(view.buffer, dimensions, steps, start)
    return kept(View(view.buffer, dimensions, index or (_position(dimensions, steps, start),)))


def _short(context: Context, number: Expr, parts: int) -> Expr:
    """`number`, one of `parts` of an index, with names for what is long in it where the index must not be as large."""
    is_short = is_bounded(number, LARGEST // (2 * parts))
    return number if is_short else abbreviated(context, number, "offset")


def _position(dimensions: Sequence[Dimension], steps: Sequence[Expr], start: Expr) -> Expr:
    for dimension, step in zip(dimensions, steps, strict=True):
        if not is_zero(step):
            start = plus(start, times(symbol_of(dimension), step))
    return start


def _gathered(
    context: Context,
    buffer: Buffer,
    dimensions: Sequence[Dimension],
    steps: Sequence[Expr],
    start: Expr,
    moving: Moving,
) -> View:
    found: tuple[Gathered, ...] = ()
    own: Expr | None = None
    if moving.vector is not None:
        rows = symbol_of(dimensions[0])
        steps = [integer(0), *steps[1:]]
        found = (gathering(context, moving.vector, _down_columns(moving.vector, rows)),)
    elif isinstance(moving.scalar, View):
        found = (gathering(context, moving.scalar, [integer(0)] * len(moving.scalar.dimensions)),)
    else:
        own = moving.scalar
    amount = symbol_for(found[0]) if found else own
    if amount is not None:
        start = plus(start, times(amount, moving.step))
    return kept(View(buffer, tuple(dimensions), (_position(dimensions, steps, start),), found))


def _down_columns(vector: View, row: Expr) -> list[Expr]:
    """Where element `row` of `vector` stands, counted down its columns."""
    rest = [integer(0)] * (len(vector.dimensions) - 2)
    if len(vector.dimensions) < 2 or is_one(vector.shape[1]):
        return [row, *([integer(0)] if len(vector.dimensions) > 1 else []), *rest]
    height = vector.shape[0]
    return [apply(Operator.FLOOR_MODULO, row, height), apply(Operator.FLOOR_DIVIDE, row, height), *rest]


def _by_dimension(
    buffer: Buffer, dimensions: Sequence[Dimension], steps: Sequence[Expr], start: Expr
) -> tuple[Expr, ...] | None:
    """The index for each dimension of `buffer`; None where it is not certain that none runs over its extent."""
    extents = [known_int(extent) for extent in buffer.shape]
    offset = known_int(start)
    counts = [known_int(dimension.extent) for dimension in dimensions]
    if offset is None or None in counts or None in extents[1:] or len(extents) < 2:
        return _along_rows(buffer, dimensions, steps, start)
    sizes = [known_int(product(buffer.shape[place + 1 :])) or 1 for place in range(len(extents))]
    index: list[Expr] = []
    last: list[int] = []
    for size in sizes:
        index.append(integer(offset // size))
        last.append(offset // size)
        offset %= size
    for dimension, step, count in zip(dimensions, steps, counts, strict=True):
        number = known_int(step)
        if number is None or number < 0 or count is None:
            return None
        place = next((at for at, size in enumerate(sizes) if number and number % size == 0), None)
        if place is None:
            continue
        stride = number // sizes[place]
        index[place] = plus(index[place], times(symbol_of(dimension), integer(stride)))
        last[place] += stride * max(count - 1, 0)
    overrun = any(end >= extent for end, extent in zip(last[1:], extents[1:], strict=True) if extent is not None)
    return None if overrun else tuple(index)


def _along_rows(
    buffer: Buffer, dimensions: Sequence[Dimension], steps: Sequence[Expr], start: Expr
) -> tuple[Expr, ...] | None:
    """The index where the pattern is that of whole rows, or of all of the buffer."""
    if not is_zero(start) or len(buffer.shape) != len(dimensions):
        return None
    index: list[Expr] = []
    for place, (dimension, step) in enumerate(zip(dimensions, steps, strict=True)):
        if not same(step, product(buffer.shape[place + 1 :])):
            return None
        if place and not same(dimension.extent, buffer.shape[place]):
            return None
        index.append(symbol_of(dimension))
    return tuple(index)


def gathering(context: Context, source: View, at: Sequence[Expr]) -> Gathered:
    """The element of `source` at `at` as an index."""
    context.counter += 1
    return Gathered(f"${context.counter}", source, tuple(at))


def symbol_for(item: Gathered) -> Symbol:
    """What an index that stands in memory is called."""
    return Symbol(item.symbol, INT64)


def shown_as(context: Context, buffer: Buffer, dtype: DType) -> Buffer:
    """The bytes of `buffer` as elements of `dtype`, in one dimension."""
    root = buffer.shows or buffer
    if root.dtype == dtype and buffer.shows is None:
        return buffer
    found = context.shown.get((root.name, dtype.name))
    if found is not None and context.builder.sees_buffer(found.name):
        return found
    is_known = _widths(context, root.dtype, dtype) is not None
    shape = (_counted(context, product(root.shape), root.dtype, dtype),) if is_known else ()
    made = Buffer(context.fresh_buffer(f"{root.name}_{dtype.name}"), dtype, shape, root.space, root)
    context.builder.emit(
        Alloc, via=context.via, name=made.name, type=ValueType(dtype, shape, root.space), base=root.name
    )
    context.shown[root.name, dtype.name] = made
    return made


def reinterpreted(context: Context, view: View, dtype: DType) -> View:
    """The bytes of `view` as elements of `dtype`; the last dimension grows or shrinks as the elements do."""
    if view.buffer.dtype == dtype:
        return view
    if view.gathered or not view.dimensions:
        raise MisunderstoodError("the bits of elements that are gathered", OpaqueKind.DTYPE)
    old, widths = view.buffer.dtype, _widths(context, view.buffer.dtype, dtype)
    has_one_width = widths is not None and widths[0] == widths[1]
    last = view.dimensions[-1]
    if not has_one_width and known_int(step_of(view, len(view.dimensions) - 1)) != 1:
        raise MisunderstoodError("the bits of elements that do not follow each other", OpaqueKind.DTYPE)
    buffer = shown_as(context, view.buffer, dtype)
    taken = context.placeholder(_counted(context, last.extent, old, dtype), last.label, spread=last.spread)
    if has_one_width:
        offset = substitute(linear(view), {last.symbol: symbol_of(taken)})
    else:
        begin = substitute(linear(view), {last.symbol: integer(0)})
        offset = plus(_counted(context, begin, old, dtype), symbol_of(taken))
    return kept(View(buffer, (*view.dimensions[:-1], taken), (offset,)))


def patterned(
    context: Context, view: View, pattern: Pattern, offset: Expr | None, moving: Moving | None, dtype: DType
) -> View:
    """As `strided`, but over the bytes of the buffer as elements of `dtype`, which all numbers count."""
    start = _counted(context, start_of(view), view.buffer.dtype, dtype)
    buffer = shown_as(context, view.buffer, dtype)
    whole = View(buffer, (), (start,))
    return strided(context, whole, pattern, offset, moving)


def _scaled(number: Expr, old: int, new: int) -> Expr:
    """A number of elements of `old` bits, counted in elements of `new` bits."""
    if old == new:
        return number
    if old % new == 0:
        return times(number, integer(old // new))
    known = known_int(number)
    if known is not None and known * old % new == 0:
        return integer(known * old // new)
    return divided(number, new // old)


def _counted(context: Context, number: Expr, old: DType, new: DType) -> Expr:
    """A number of elements of `old`, counted in elements of `new`."""
    widths = _widths(context, old, new)
    if widths is not None or old == new or is_zero(number):
        return number if widths is None else _scaled(number, *widths)
    size = times(number, item_size(context, old))
    return apply(Operator.FLOOR_DIVIDE, size, item_size(context, new))


def item_size(context: Context, dtype: DType) -> Expr:
    """The bytes of one element of `dtype`; a symbol where the dtype is not known."""
    facts = context.knowledge.dtype(dtype.name)
    return context.free_symbol(f"itemsize({dtype})") if facts is None else integer((facts.bits + 7) // 8)


def _widths(context: Context, old: DType, new: DType) -> tuple[int, int] | None:
    """The bits of an element of each of two dtypes; None where one is not known."""
    facts = [context.knowledge.dtype(dtype.name) for dtype in (old, new)]
    return None if facts[0] is None or facts[1] is None else (facts[0].bits, facts[1].bits)
