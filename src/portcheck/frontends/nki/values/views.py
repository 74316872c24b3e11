"""Views of buffers: slicing, indexing, reshaping, and the `Access` that names their elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import zip_longest

from portcheck.core.dtype import INT64
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.arithmetic import (
    binary,
    constant_part,
    difference,
    is_bounded,
    is_one,
    known_int,
    plus,
    product,
    same,
    times,
)  # fmt: skip
from portcheck.frontends.nki.values.tiles import Buffer, Dimension, Grid, View
from portcheck.frontends.nki.values.undoing import undone
from portcheck.frontends.nki.values.values import Dots, Nothing, Stretch
from portcheck.ir import (
    PREDICATES,
    Access,
    Apply,
    Axis,
    AxisKind,
    Expr,
    OpaqueKind,
    Operator,
    Outside,
    Symbol,
    apply,
    integer,
    substitute,
    symbols_in,
)

Selector = Expr | Stretch | Grid | Dots | Nothing


def whole(context: Context, buffer: Buffer) -> View:
    """All of `buffer`."""
    dimensions = tuple(context.placeholder(extent) for extent in buffer.shape)
    return View(buffer, dimensions, tuple(symbol_of(dimension) for dimension in dimensions))


def symbol_of(dimension: Dimension) -> Symbol:
    """The position along `dimension`."""
    return _position(dimension.symbol)


@lru_cache(maxsize=4096)
def _position(name: str) -> Symbol:
    return Symbol(name, INT64)


def select(context: Context, view: View, selectors: Sequence[Selector]) -> View | None:
    """`view[selectors]`; None with more of them than dimensions, a step backwards, a position that is not whole."""
    expanded = _expanded(selectors, len(view.dimensions))
    if expanded is None or any(map(_is_no_position, expanded)):
        return None
    grids = [selector for selector in expanded if isinstance(selector, Grid)]
    shared = _shared(grids)
    made: list[Dimension] = []
    replaced: dict[str, Expr] = {}
    remaining = iter(view.dimensions)
    placed = False
    for selector in expanded:
        if isinstance(selector, Nothing):
            made.append(context.placeholder(integer(1)))
            continue
        dimension = next(remaining)
        if isinstance(selector, Grid):
            if not placed:
                made.extend(item if item is not None else context.placeholder(integer(1)) for item in shared)
                placed = True
            replaced[dimension.symbol] = _over(selector, shared)
        elif isinstance(selector, Stretch):
            taken, position = _stretched(context, dimension, selector)
            made.append(taken)
            replaced[dimension.symbol] = position
        else:
            replaced[dimension.symbol] = from_start(selector, dimension.extent)
    selected = moved(view, made, replaced)
    return selected if _is_kept(selected) else None


def moved(view: View, dimensions: Sequence[Dimension], symbols: dict[str, Expr]) -> View:
    """`view` over other dimensions, in whose terms `symbols` puts the old ones."""
    gathered = tuple(replace(item, at=tuple(substitute(at, symbols) for at in item.at)) for item in view.gathered)
    index = tuple(substitute(part, symbols) for part in view.index)
    return View(view.buffer, tuple(dimensions), index, gathered)


def _is_kept(view: View) -> bool:
    """Whether the expressions of `view` are small enough to be carried along."""
    return all(map(is_bounded, (*view.index, *view.shape)))


def kept(view: View) -> View:
    """`view`; raises MisunderstoodError when its expressions are too large to be carried along."""
    if not _is_kept(view):
        raise MisunderstoodError("an index too large to keep", OpaqueKind.LIMIT)
    return view


def _expanded(selectors: Sequence[Selector], rank: int) -> list[Expr | Stretch | Grid | Nothing] | None:
    everything = Stretch(None, None)
    consumed = sum(not isinstance(selector, Nothing | Dots) for selector in selectors)
    missing = rank - consumed
    if missing < 0 or sum(isinstance(selector, Dots) for selector in selectors) > 1:
        return None
    expanded: list[Expr | Stretch | Grid | Nothing] = []
    filled = False
    for selector in selectors:
        if isinstance(selector, Dots):
            expanded.extend([everything] * missing)
            filled = True
        else:
            expanded.append(selector)
    return expanded if filled else [*expanded, *[everything] * missing]


def _stretched(context: Context, dimension: Dimension, stretch: Stretch) -> tuple[Dimension, Expr]:
    start = from_start(stretch.start, dimension.extent) if stretch.start is not None else integer(0)
    stop = from_start(stretch.stop, dimension.extent) if stretch.stop is not None else dimension.extent
    extent = stretch.size if stretch.size is not None else difference(stop, start)
    step = stretch.step if stretch.step is not None else integer(1)
    if not is_one(step):
        extent = apply(Operator.CEILING_DIVIDE, extent, step, dtype=INT64)
        count = known_int(extent)
        extent = extent if count is None else integer(count)
    taken = context.placeholder(extent, dimension.label, spread=dimension.spread)
    return taken, plus(start, times(symbol_of(taken), step))


def _is_no_position(selector: Selector) -> bool:
    """Whether it steps backwards, or has an end that is not whole: Python takes neither."""
    if isinstance(selector, Stretch):
        ends = (selector.start, selector.stop, selector.step)
        is_backwards = selector.step is not None and (known_int(selector.step) or 0) < 0
        return is_backwards or any(end is not None and end.dtype.is_float for end in ends)
    return not isinstance(selector, Grid | Dots | Nothing) and selector.dtype.is_float


def from_start(position: Expr, extent: Expr) -> Expr:
    """`position` counted from the start, as Python counts negative ones from the end."""
    value = known_int(position)
    return plus(extent, position) if value is not None and value < 0 else position


def linear(view: View) -> Expr:
    """The row-major offset of an element of `view` in its buffer."""
    if len(view.index) == 1:
        return view.index[0]
    total: Expr = integer(0)
    for position, index in enumerate(view.index):
        total = plus(total, times(index, product(view.buffer.shape[position + 1 :])))
    return total


def is_whole(view: View) -> bool:
    """Whether `view` is all of its buffer, in order."""
    return len(view.index) == len(view.dimensions) and all(
        index == symbol_of(dimension) and same(dimension.extent, extent)
        for index, dimension, extent in zip(view.index, view.dimensions, view.buffer.shape, strict=False)
    )


def reshape(context: Context, view: View, shape: Sequence[Expr]) -> View:
    """`view` with its elements, in row-major order, arranged as `shape` (one entry may be -1)."""
    shape = _completed(view, shape)
    dimensions = tuple(context.placeholder(extent) for extent in shape)
    old, new = list(view.dimensions), list(dimensions)
    replaced: dict[str, Expr] = {}
    while old and new and same(old[0].extent, new[0].extent):
        replaced[old.pop(0).symbol] = symbol_of(new.pop(0))
    while old and new and same(old[-1].extent, new[-1].extent):
        replaced[old.pop().symbol] = symbol_of(new.pop())
    offset = _offset(new)
    if len(old) == len(view.dimensions) > 1 and is_whole(view) and not view.gathered:
        return View(view.buffer, dimensions, (offset,))
    old = [dimension for dimension in old if not _put_zero(dimension, replaced)]
    for position, dimension in enumerate(old):
        inner = product(tuple(item.extent for item in old[position + 1 :]))
        outer = offset if is_one(inner) else apply(Operator.FLOOR_DIVIDE, offset, inner)
        replaced[dimension.symbol] = outer if position == 0 else apply(Operator.FLOOR_MODULO, outer, dimension.extent)
    return kept(undone(moved(view, dimensions, replaced)))


def _put_zero(dimension: Dimension, replaced: dict[str, Expr]) -> bool:
    if not is_one(dimension.extent):
        return False
    replaced[dimension.symbol] = integer(0)
    return True


def _offset(dimensions: Sequence[Dimension]) -> Expr:
    total: Expr = integer(0)
    for position, dimension in enumerate(dimensions):
        if not is_one(dimension.extent):
            inner = product(tuple(item.extent for item in dimensions[position + 1 :]))
            total = plus(total, times(symbol_of(dimension), inner))
    return total


def _completed(view: View, shape: Sequence[Expr]) -> list[Expr]:
    open_at = [position for position, extent in enumerate(shape) if known_int(extent) == -1]
    if len(open_at) != 1:
        return list(shape)
    rest = product(tuple(extent for position, extent in enumerate(shape) if position != open_at[0]))
    total = product(view.shape)
    whole_number = constant_part(total)
    divisor = constant_part(rest)
    missing: Expr = apply(Operator.FLOOR_DIVIDE, total, rest)
    if whole_number is not None and divisor:
        missing = integer(whole_number // divisor)
    elif is_one(rest):
        missing = total
    return [missing if position == open_at[0] else extent for position, extent in enumerate(shape)]


def broadcast(context: Context, view: View, shape: Sequence[Expr]) -> View:
    """`view` with its dimensions of extent 1 repeated to fill `shape`; missing ones are added in front.

    Raises MisunderstoodError for a shape of fewer dimensions.
    """
    if len(shape) < len(view.dimensions):
        raise MisunderstoodError("a tile is broadcast to fewer dimensions", OpaqueKind.MEMORY)
    added = [context.placeholder(extent, spread=True) for extent in shape[: max(0, len(shape) - len(view.dimensions))]]
    kept: list[Dimension] = []
    replaced: dict[str, Expr] = {}
    for dimension, extent in zip(view.dimensions, shape[len(added) :], strict=False):
        if is_one(dimension.extent) and not is_one(extent):
            kept.append(context.placeholder(extent, dimension.label, spread=True))
            replaced[dimension.symbol] = integer(0)
        else:
            kept.append(dimension)
    return moved(view, (*added, *kept), replaced)


def permute(view: View, order: Sequence[int]) -> View | None:
    """`view` with dimension `order[i]` in place i; None when `order` is no permutation."""
    if sorted(order) != list(range(len(view.dimensions))):
        return None
    return replace(view, dimensions=tuple(view.dimensions[position] for position in order))


def expand(context: Context, view: View, position: int) -> View:
    """`view` with a dimension of extent 1 put in at `position`."""
    rank = len(view.dimensions) + 1
    position = position % rank
    dimensions = list(view.dimensions)
    dimensions.insert(position, context.placeholder(integer(1)))
    return replace(view, dimensions=tuple(dimensions))


def access(
    view: View, mask: Expr | None = None, *, is_tile: bool, spread: bool = True, outside: Outside = Outside.UNDEFINED
) -> Access:
    """The elements of `view` as an `Access`.

    `is_tile` says that dimension 0 is the partition of an on-chip tile, here or at the other end of the transfer.
    Without `spread` repeated dimensions are taken once, with extent 1.
    """
    free = set().union(*(symbols_in(index) for index in view.index), symbols_in(mask) if mask is not None else ())
    taken = {name for name in free if not name.startswith("$")}
    axes: list[Axis] = []
    renamed: dict[str, Expr] = {}
    for position, dimension in enumerate(view.dimensions):
        is_partition = is_tile and position == 0
        name = _unused(dimension.label or ("p" if is_partition else "f"), taken)
        extent = integer(1) if dimension.spread and not spread else dimension.extent
        axes.append(Axis(name, AxisKind.PARTITION if is_partition else AxisKind.FREE, extent))
        renamed[dimension.symbol] = Symbol(name, INT64)
    index = tuple(substitute(item, renamed) for item in view.index)
    condition = substitute(mask, renamed) if mask is not None else None
    return Access(buffer=view.buffer.name, index=index, axes=tuple(axes), mask=condition, outside=outside)


def _unused(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 0
    while name in taken:
        number += 1
        name = f"{wanted}{number}"
    taken.add(name)
    return name


def mask_over_view(mask: Grid | Expr | None, view: View) -> Expr | None:
    """`mask` over the symbols of `view`: the same index variables, others by position from the last.

    Raises MisunderstoodError for one about a dimension that the view does not have.
    """
    if mask is None or not isinstance(mask, Grid):
        return mask
    own = {dimension.symbol for dimension in view.dimensions}
    replaced: dict[str, Expr] = {}
    for dimension, target in zip(reversed(mask.dimensions), reversed(view.dimensions), strict=False):
        if dimension is not None and dimension.symbol not in own:
            replaced[dimension.symbol] = symbol_of(target)
    lacking = {dimension.symbol for dimension in mask.dimensions if dimension is not None} - own - replaced.keys()
    if lacking & symbols_in(mask.expression):
        raise MisunderstoodError("the mask is about a dimension that the tile does not have", OpaqueKind.MEMORY)
    return substitute(mask.expression, replaced)


def mask_of_indices(mask: Grid | Expr | None, view: View) -> Grid | None:
    """What `mask` says about the very index variables of `view`, where they may reach beyond its buffer."""
    if not isinstance(mask, Grid) or _is_inside(view):
        return None
    own = {dimension.symbol for dimension in view.dimensions}
    made: Expr | None = None
    for part in conditions(mask.expression):
        used = {name for name in symbols_in(part) if name.startswith("$")}
        if used and used <= own:
            made = part if made is None else apply(Operator.LOGICAL_AND, made, part)
    return None if made is None else Grid(made, view.dimensions)


def _is_inside(view: View) -> bool:
    """Whether every index of `view` is the position along a dimension that is as long as the buffer's."""
    extents = {dimension.symbol: dimension.extent for dimension in view.dimensions}
    return len(view.index) == len(view.buffer.shape) and all(
        isinstance(index, Symbol) and index.name in extents and same(extents[index.name], extent)
        for index, extent in zip(view.index, view.buffer.shape, strict=True)
    )


def conditions(mask: Expr | None) -> list[Expr]:
    """The conditions that all hold where `mask` holds."""
    if mask is None:
        return []
    if isinstance(mask, Apply) and mask.operator is Operator.LOGICAL_AND:
        return [part for argument in mask.arguments for part in conditions(argument)]
    return [mask]


def mask_by_position(mask: Grid | Expr | None, rank: int) -> Expr | None:
    """`mask` over `dim0`, `dim1`, ... of a result of `rank` dimensions."""
    if mask is None or not isinstance(mask, Grid):
        return mask
    return positions(mask, rank)


def positions(grid: Grid, rank: int) -> Expr:
    """The expression of `grid` over `dim0`, `dim1`, ... of a tile of `rank` dimensions."""
    replaced: dict[str, Expr] = {}
    shift = rank - len(grid.dimensions)
    for position, dimension in enumerate(grid.dimensions):
        if dimension is not None:
            replaced[dimension.symbol] = Symbol(f"dim{position + shift}", INT64)
    return substitute(grid.expression, replaced)


def combined(operator: Operator, left: Grid | Expr, right: Grid | Expr) -> Grid | None:
    """The index expression `left operator right`, broadcast; None when it grows beyond what is kept."""
    grids = [side if isinstance(side, Grid) else Grid(side, ()) for side in (left, right)]
    shared = _shared(grids)
    first, second = (_over(grid, shared) for grid in grids)
    made = binary(operator, first, second)
    dtypes = {grid.dtype for grid in grids if grid.dimensions}
    dtype = dtypes.pop() if len(dtypes) == 1 and operator not in PREDICATES else None
    return Grid(made, shared, dtype) if made is not None else None


def _shared(grids: Sequence[Grid]) -> tuple[Dimension | None, ...]:
    """The dimensions of index expressions broadcast against one another, aligned at the last."""
    made: list[Dimension | None] = []
    for column in zip_longest(*(reversed(grid.dimensions) for grid in grids)):
        named = [dimension for dimension in column if dimension is not None]
        made.append(max(named, key=_certainty, default=None))
    return tuple(made[::-1])


def _certainty(dimension: Dimension) -> int:
    """How sure it is that `dimension` says what extent dimensions broadcast against one another have."""
    count = known_int(dimension.extent)
    if count is not None and count > 1:
        return 2
    return 0 if is_one(dimension.extent) else 1


def _over(grid: Grid, shared: Sequence[Dimension | None]) -> Expr:
    """The expression of `grid` over the symbols of `shared`; its own dimensions of extent 1 stand at 0."""
    replaced: dict[str, Expr] = {}
    for own, target in zip(reversed(grid.dimensions), reversed(shared), strict=False):
        if own is not None and target is not None and own.symbol != target.symbol:
            replaced[own.symbol] = integer(0) if is_one(own.extent) else symbol_of(target)
    return substitute(grid.expression, replaced)
