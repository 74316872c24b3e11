"""Tiles as operands: loading, casting, computing, storing; every engine instruction is made of these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from portcheck.core.dtype import BOOL, INT32, INT64, DType
from portcheck.frontends.nki.objects.enumerations import plain_value
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.deepening import deepen_parameter
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.arithmetic import is_one, known_int, product, same
from portcheck.frontends.nki.values.fitting import broadcast_shape, misfit
from portcheck.frontends.nki.values.operands import Operand, cast
from portcheck.frontends.nki.values.origins import is_fixed
from portcheck.frontends.nki.values.stacking import note, slot
from portcheck.frontends.nki.values.tiles import Buffer, Grid, Result, View
from portcheck.frontends.nki.values.values import Either, Instance, Parameter, SomeText, Stretch, Unknown, Value
from portcheck.frontends.nki.values.views import (
    access,
    broadcast,
    expand,
    mask_of_indices,
    mask_over_view,
    moved,
    positions,
    reshape,
    select,
    whole,
)  # fmt: skip
from portcheck.ir import (
    PREDICATES,
    Alloc,
    Apply,
    Compute,
    Const,
    Expr,
    Load,
    OpaqueKind,
    Operator,
    Outside,
    Ref,
    Space,
    Store,
    Symbol,
    ValueType,
    WriteMode,
    apply,
    integer,
    refs_in,
    substitute,
    symbols_in,
)  # fmt: skip

_ASSUMED_RANK = 2
"""Dimensions a tensor is taken to have as long as nothing shows it."""


def as_number(context: Context, value: Value | None) -> Expr | None:
    """`value` as an expression; None when it is no number."""
    match value:
        case Const() | Symbol() | Ref() | Apply():
            return value if context.builder.sees(value) else None
        case Instance() if (plain := plain_value(value)) is not value:
            return as_number(context, plain)
        case Parameter(name) if not context.facts[name].is_tensor:
            return context.scalar(name)
        case View(Buffer(space=Space.REGISTER), dimensions=()) if is_in_sight(context, value):
            is_kept = value.buffer.name in context.kept_numbers
            return kept_number(context, value) if is_kept else load(context, value).expression
        case SomeText():
            return None
        case Unknown(text, _, parts) if text and (not parts or is_fixed(context, value)):
            return context.number_of(value)
        case Either():
            return as_number(context, context.certain(value))
        case _:
            return None


def kept_number(context: Context, view: View) -> Expr:
    """What a register holds that is written in the arms of one branch only: read once where that is seen."""
    found = context.kept_numbers.get(view.buffer.name)
    if found is None or isinstance(found, View) or not context.builder.sees(found):
        found = context.kept_numbers[view.buffer.name] = load(context, view, is_tile=False).expression
    return found


def in_register(context: Context, number: Expr, hint: str) -> Expr:
    """`number`, which is too large to be written out where it is used, as what a register holds from here on."""
    if not isinstance(number, Apply):
        return number
    view = allocate(context, hint, INT64, (), Space.REGISTER, via="=")
    store(context, view, Operand(number, number.dtype), via="=")
    return load(context, view, is_tile=False).expression


def as_view(context: Context, value: Value | None, rank: int = 2, hint: str = "") -> View | None:
    """`value` as elements of a buffer: a tensor parameter taken whole, a computed tile stored into its own buffer."""
    match value:
        case View():
            return value if is_in_sight(context, value) else None
        case Either():
            return as_view(context, context.certain(value), rank, hint)
        case Parameter(name) if not context.facts[name].is_count:
            if rank > _ASSUMED_RANK:
                context.facts[name].seen_at_least(rank)
            return context.parameter_view(name, rank)
        case Result():
            if value.view is None or not is_in_sight(context, value.view):
                if not all(map(context.builder.sees, (value.expression, *value.real, *value.shape))):
                    return None
                value.view = None
            return settled(context, value, hint)
        case _:
            return None


def is_in_sight(context: Context, view: View) -> bool:
    """Whether the buffer of `view` is a parameter or was allocated where it can be seen."""
    name = view.buffer.name
    is_register = any(item.buffer.name == name for item in context.registers.values())
    is_seen = is_register or name in context.facts or context.builder.sees_buffer(name)
    is_seen = is_seen and all(map(context.builder.sees, (*view.index, *view.shape)))
    return is_seen and all(is_in_sight(context, item.source) for item in view.gathered)


def settled(context: Context, result: Result, hint: str = "") -> View:
    """The buffer that holds `result`, stored there if it was in none: where it was made, for writing to it lasts."""
    if result.view is None:
        with _where_made(context, result):
            view = allocate(context, hint, result.dtype, result.real, result.space)
            store(context, view, Operand(result.expression, result.dtype, result.real), mask=result.mask, via="=")
        result.view = broadcast(context, view, result.shape) if result.real != result.shape else view
        context.settled.append(result)
    return result.view


@contextmanager
def _where_made(context: Context, result: Result) -> Iterator[None]:
    """What is emitted stands where `result` was made, outside the loops and branches that were begun since."""
    rounds = context.rounds
    begun = (place for place, made in enumerate(rounds) if made is not None and made.since > result.age)
    context.rounds = rounds[: next(begun, len(rounds))]
    try:
        with context.builder.outside(result.age, result.expression, *result.real, *result.shape):
            yield
    finally:
        context.rounds = rounds


def allocate(context: Context, hint: str, dtype: DType, shape: Sequence[Expr], space: Space, via: str = "") -> View:
    """A new buffer, or the place in one that a tile has which lasts beyond its loop."""
    stacked = slot(context, hint, dtype, shape, space)
    if stacked is not None:
        return stacked
    buffer = Buffer(context.fresh_buffer(hint), dtype, tuple(shape), space)
    context.builder.emit(Alloc, via=via, name=buffer.name, type=ValueType(dtype, buffer.shape, space))
    note(context, buffer)
    return whole(context, buffer)


def operand(context: Context, value: Value | None, rank: int = 0, mask: Grid | Expr | None = None) -> Operand | None:
    """`value` as an operand, loaded if it stands in a buffer; ones are appended up to `rank` dimensions."""
    if isinstance(value, Result) and value.view is None and not context.builder.sees(value.expression):
        return None
    if isinstance(value, Result) and value.view is None and len(value.real) >= rank:
        return Operand(value.expression, value.dtype, value.real)
    if isinstance(value, Parameter) and not context.facts[value.name].is_tensor:
        symbol = context.scalar(value.name)
        return Operand(symbol, symbol.dtype)
    if isinstance(value, Grid):
        shape = tuple(item.extent if item is not None else integer(1) for item in value.dimensions)
        return cast(context, Operand(positions(value, len(shape)), INT64, shape), INT32)
    view = as_view(context, value)
    if view is not None:
        while 0 < len(view.dimensions) < rank:
            view = expand(context, view, len(view.dimensions))
        return load(context, view, mask)
    number = as_number(context, value)
    return Operand(number, number.dtype) if number is not None else None


def load(
    context: Context, view: View, mask: Grid | Expr | None = None, *,
    via: str = "", is_tile: bool = True, outside: Outside = Outside.UNDEFINED, fill: Expr | None = None,
) -> Operand:  # fmt: skip
    """Reads `view`, `fill` where the mask is false; repeated dimensions are read once.

    A tile of the first generation has a partition and a free dimension: a column of one has one element a partition.
    """
    view = resolved(context, view)
    mask = mask if mask is not None else mask_of_indices(context.mask, view)
    if context.is_legacy and is_tile and len(view.dimensions) == 1:
        view = expand(context, view, 1)
    elements = access(view, mask_over_view(mask, view), is_tile=is_tile, spread=False, outside=outside)
    shape = tuple(axis.extent for axis in elements.axes if axis.extent is not None)
    reference = context.builder.result(
        Load, via=via or context.via, access=elements, type=ValueType(view.buffer.dtype, shape), fill=fill
    )
    return Operand(reference, view.buffer.dtype, shape)


def compute(
    context: Context,
    operator: Operator,
    operands: Sequence[Operand],
    dtype: DType,
    *,
    via: str = "",
    mask: Expr | None = None,
    approximate: bool = False,
    casts: bool = True,
    like: Operand | None = None,
) -> Operand:
    """`operator` on `operands`, cast to `dtype` first; the result is `dtype`, or bool for a predicate.

    Where it is not known which of them is broadcast, the result has the shape of `like` (None: of the first).
    """
    if casts:
        operands = [cast(context, item, dtype) for item in operands]
    operands = aligned(context, operands)
    shapes = [item.shape for item in operands]
    if like is not None and len(like.shape) == max(map(len, shapes)):
        shapes.insert(0, like.shape)
    shape = broadcast_shape(shapes)
    made = BOOL if operator in PREDICATES else dtype
    reference = context.builder.result(
        Compute,
        via=via,
        operator=operator,
        operands=tuple(item.expression for item in operands),
        type=ValueType(made, shape),
        mask=mask,
        approximate=approximate,
    )
    return Operand(reference, made, shape)


def aligned(context: Context, operands: Sequence[Operand]) -> list[Operand]:
    """Tiles of one rank: those of fewer dimensions go through memory to get more; raises MisunderstoodError if in vain.

    A tile has its partition first, so dimensions of extent 1 are added behind; in front where only the last ones match.
    """
    widest = max(operands, key=lambda item: len(item.shape)).shape
    made = [_widened(context, item, widest) if item.shape else item for item in operands]
    shape = broadcast_shape([item.shape for item in made])
    for item in made:
        reason = misfit(item.shape, shape) if item.shape else ""
        if reason:
            raise MisunderstoodError(reason)
    return made


def _widened(context: Context, item: Operand, widest: tuple[Expr, ...]) -> Operand:
    if len(item.shape) == len(widest):
        return item
    view = allocate(context, "", item.dtype, item.shape, Space.SHARED)
    store(context, view, item, via="=")
    is_behind = same(item.shape[0], widest[0]) or not same(item.shape[-1], widest[-1])
    while len(view.dimensions) < len(widest):
        view = expand(context, view, len(view.dimensions) if is_behind else 0)
    return load(context, view)


def store(
    context: Context,
    view: View,
    value: Operand,
    *,
    mask: Grid | Expr | None = None,
    via: str = "",
    mode: WriteMode = WriteMode.OVERWRITE,
    is_tile: bool = True,
    outside: Outside = Outside.UNDEFINED,
) -> None:
    """Writes `value`, cast to the buffer's dtype, to `view`; a value of other rank is laid out as the view.

    One that cannot be is kept as something not understood.
    """
    converted = cast(context, value, view.buffer.dtype)
    view = _fitted(context, view, converted.shape)
    note_written(context, view)
    reason = misfit(converted.shape, view.shape)
    if reason:
        if is_whole_parameter(context, view) and not context.facts[view.buffer.name].is_measured:
            deepen_parameter(context, view.buffer.name, len(converted.shape) - len(view.dimensions))
        written, operands = (view.buffer.name,), (converted.expression,)
        context.opaque(f"{via}: {reason}", via, writes=written, operands=operands, kind=OpaqueKind.MEMORY)
        return
    view = resolved(context, view)
    elements = access(view, mask_over_view(mask, view), is_tile=is_tile, outside=outside)
    context.builder.emit(Store, via=via, access=elements, value=converted.expression, mode=mode)


def is_whole_parameter(context: Context, view: View) -> bool:
    """Whether `view` is a tensor that the kernel is given, all of it and in its own shape."""
    is_own = view.buffer.name in context.facts and len(view.dimensions) == len(view.buffer.shape)
    return is_own and all(map(same, view.shape, view.buffer.shape))


def resolved(context: Context, view: View) -> View:
    """`view` with the parts of its index that stand in memory read, once for each position they depend on."""
    if not view.gathered:
        return view
    read: dict[str, Expr] = {}
    for item in view.gathered:
        used = frozenset().union(*(symbols_in(at) for at in item.at))
        dimensions = [
            dimension if dimension.symbol in used else replace(dimension, extent=integer(1), spread=False)
            for dimension in view.dimensions
        ]
        own = [dimension.symbol for dimension in item.source.dimensions]
        source = moved(item.source, dimensions if own else (), dict(zip(own, item.at, strict=True)))
        read[item.symbol] = load(context, source).expression
    return View(view.buffer, view.dimensions, tuple(substitute(part, read) for part in view.index))


def note_written(context: Context, view: View) -> None:
    """Notes that a parameter is written to."""
    buffer = view.buffer.shows or view.buffer
    facts = context.facts.get(buffer.name)
    if facts is not None:
        facts.is_written = True


def _fitted(context: Context, view: View, shape: tuple[Expr, ...]) -> View:
    """`view` without or with dimensions of extent 1, so that it has the rank of `shape`, or laid out as that is."""
    whole, position = view, len(view.dimensions) - 1
    while shape and len(view.dimensions) > len(shape) and position >= 0:
        if is_one(view.dimensions[position].extent):
            selectors = [integer(0) if at == position else Stretch(None, None) for at in range(len(view.dimensions))]
            view = select(context, view, selectors) or view
        position -= 1
    if len(view.dimensions) == len(shape) + 1 and _may_end_in_one(context, view, shape):
        context.assert_that(apply(Operator.EQUAL, view.dimensions[-1].extent, integer(1)), context.via)
        view = select(context, view, [*(Stretch(None, None) for _ in shape), integer(0)]) or view
    while len(view.dimensions) < len(shape) and _has_extra_one(view, shape):
        view = expand(context, view, len(view.dimensions))
    for tile in (view, whole) if misfit(shape, view.shape) else ():
        if len(tile.dimensions) > 1 < len(shape) and is_as_long(tile.shape, shape):
            return reshape(context, tile, shape)
    return view


def _may_end_in_one(context: Context, view: View, shape: tuple[Expr, ...]) -> bool:
    """Whether a tile of extents `shape` fits `view` if the last extent of that is 1, which is not known."""
    if not shape or context.is_legacy or known_int(view.dimensions[-1].extent) is not None:
        return False
    return not refs_in(view.dimensions[-1].extent) and not misfit(shape, view.shape[:-1])


def is_as_long(shape: Sequence[Expr], other: Sequence[Expr]) -> bool:
    """Whether tiles of both shapes have the same partitions and as many elements in each."""
    return same(shape[0], other[0]) and same(product(tuple(shape[1:])), product(tuple(other[1:])))


def _has_extra_one(view: View, shape: tuple[Expr, ...]) -> bool:
    return is_one(shape[len(view.dimensions)])
