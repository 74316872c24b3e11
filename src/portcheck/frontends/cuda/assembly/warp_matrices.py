"""PTX instructions of a warp on matrices: tiles spread over its lanes are loaded, stored and multiplied.

The layouts are those of `mappings`: an element's row and column are bits of the lane's and the register's number.
"""

from __future__ import annotations

from portcheck.core.dtype import FLOAT32, INT32, INT64, DType, dtype_named
from portcheck.frontends.cuda.assembly.inline import Handler, Run, Step, UnreadInstructionError
from portcheck.frontends.cuda.assembly.instructions import inputs
from portcheck.frontends.cuda.assembly.ptx import Several, Written
from portcheck.frontends.cuda.cooperation.groups import lane_of
from portcheck.frontends.cuda.expressions.arithmetic import apply_operator
from portcheck.frontends.cuda.expressions.numbers import bits_of, unsigned_of
from portcheck.frontends.cuda.memory.places import target
from portcheck.frontends.cuda.memory.views import flat, seen_as
from portcheck.frontends.cuda.model.conversions import convert, materialised
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import scalar_type
from portcheck.frontends.cuda.model.values import Place, Pointer, Scalar
from portcheck.ir import (
    Access,
    Axis,
    AxisKind,
    Const,
    Exchange,
    ExchangeKind,
    Expr,
    Load,
    Loop,
    Matmul,
    Operator,
    Range,
    Store,
    Symbol,
    ValueType,
    apply,
    integer,
)  # fmt: skip
from portcheck.knowledge import Semantics
from portcheck.knowledge.fragments import Bit, FragmentLayout

_HALF = 16
"""Bits of an element of the matrices that are loaded and stored."""
_TILE = 8
"""Rows and columns of such a matrix: a row for each of eight lanes, two elements in each register."""
_PAIR = 2


def _names(written: Written) -> tuple[Written, ...]:
    return written.parts if isinstance(written, Several) else (written,)


def _bits(number: Expr, first: int, count: int, to: int) -> Expr:
    """`count` bits of a number from `first` on, moved to `to`."""
    value = number
    if first:
        value = apply(Operator.SHIFT_RIGHT_LOGICAL, value, Const(first, number.dtype), dtype=number.dtype)
    value = apply(Operator.BITWISE_AND, value, Const((1 << count) - 1, number.dtype), dtype=number.dtype)
    return apply(Operator.SHIFT_LEFT, value, Const(to, number.dtype), dtype=number.dtype) if to else value


def coordinate(bits: tuple[Bit, ...], lane: Expr, element: int) -> Expr:
    """A row or column number: bits of the lane's number and of the element's, put together."""
    known = sum((element >> bit.position & 1) << place for place, bit in enumerate(bits) if not bit.of_lane)
    total: Expr = Const(known, lane.dtype)
    place = 0
    while place < len(bits):
        length = _run_length(bits, place)
        if length:
            part = _bits(lane, bits[place].position, length, place)
            total = part if total == Const(0, lane.dtype) else apply(Operator.ADD, total, part, dtype=lane.dtype)
        place += max(1, length)
    return total


def _run_length(bits: tuple[Bit, ...], start: int) -> int:
    """How many neighbouring bits from `start` on are neighbouring bits of the lane's number."""
    length = 0
    while start + length < len(bits) and bits[start + length] == Bit(True, bits[start].position + length):
        length += 1
    return length


def _loaded_rows(run: Run, step: Step) -> None:
    """Every register gets two elements of a row, or of a column, whose address another lane has."""
    names = _names(step.written.operands[0])
    place = _rows(run, step, inputs(step, 1)[0])
    for number, name in enumerate(names):
        values = [
            run.state.load(Place(place.buffer, (index,), place.type), place.type.dtype or FLOAT32, step.via)
            for index in _elements(run, step, place, number)
        ]
        run.put(name, tuple(values))


def _stored_rows(run: Run, step: Step) -> None:
    """The opposite: two elements of each register go to a row or column whose address another lane has."""
    place = _rows(run, step, step.written.operands[0])
    dtype = place.type.dtype or FLOAT32
    if run.state.buffers[place.buffer].constant:
        raise UnreadInstructionError(step.via)
    for number, name in enumerate(_names(inputs(step, 1)[0])):
        indices = _elements(run, step, place, number)
        for index, value in zip(indices, run.lanes(name, dtype, _PAIR), strict=True):
            run.state.store(Place(place.buffer, (index,), place.type), materialised(run.state, value), step.via)


def _rows(run: Run, step: Step, written: Written) -> Place:
    """Where this lane's row begins, in elements of 16 bits."""
    if run.guard is not None or not step.has("b16") or not step.has("m8n8"):
        raise UnreadInstructionError(step.via)
    pointer = run.address(written)
    held = run.state.buffers[pointer.buffer].dtype
    dtype = held if bits_of(run.state, held) == _HALF else unsigned_of(_HALF)
    place = seen_as(run.state, target(Pointer(pointer.buffer, pointer.index, scalar_type(dtype), pointer.rest)), dtype)
    if place is None:
        raise UnreadInstructionError(step.via)
    return place


def _elements(run: Run, step: Step, place: Place, number: int) -> list[Expr]:
    """Where the two elements lie that this lane's register `number` has to do with."""
    lane = materialised(run.state, lane_of(run.state))
    high, low = _bits(lane, 2, 3, 0), _bits(lane, 0, 2, 1)
    if not step.has("trans"):
        start = _start_of(run, step, place, high, number * _TILE)
        return [_plus(start, low, 0), _plus(start, low, 1)]
    starts = [_start_of(run, step, place, low, number * _TILE + second) for second in range(_PAIR)]
    return [_plus(start, high, 0) for start in starts]


def _start_of(run: Run, step: Step, place: Place, row: Expr, more: int) -> Expr:
    """Where the row begins whose address the lane of its number has."""
    lane = apply(Operator.ADD, row, Const(more, row.dtype), dtype=row.dtype) if more else row
    offset = flat(run.state, place.buffer, place.index)
    return run.state.builder.result(
        Exchange, kind=ExchangeKind.INDEX, operand=offset, lane=lane, width=_warp(run.state), via=step.via,
        type=ValueType(offset.dtype),
    )  # fmt: skip


def _plus(start: Expr, step: Expr, more: int) -> Expr:
    moved = apply(Operator.ADD, start, step, dtype=INT64)
    return apply(Operator.ADD, moved, Const(more, INT32), dtype=INT64) if more else moved


def _warp(state: State) -> Const:
    return Const(int(state.knowledge.cuda_limit("warp_size")), INT32)


def _product(run: Run, step: Step) -> None:
    """D = A x B + C: the tiles are put together from all lanes, multiplied, and each lane picks its elements."""
    result, left, right, addend = (_names(written) for written in step.written.operands[:4])
    types = step.types
    shape = next((part for part in step.written.opcode if part[:1] == "m" and part[1:2].isdigit()), "")
    if len(types) != 4 or run.guard is not None or not step.has("row") or not step.has("col"):
        raise UnreadInstructionError(step.via)
    first, second, summed = (_dtype(run, types[place].dtype) for place in (1, 2, 0))
    layouts = [
        _layout(run, step, name)
        for name in (
            f"{shape}.{_width(run, first)}.left", f"{shape}.{_width(run, second)}.right",
            f"{shape[: shape.index('k')] if 'k' in shape else shape}.sum",
        )
    ]  # fmt: skip
    columns = [
        _gathered(run, step, names, dtype, layout)
        for names, dtype, layout in ((left, first, layouts[0]), (right, second, layouts[1]))
    ]
    tiles = _tiles(run, step, columns, layouts[:2])
    added = _gathered(run, step, addend, _dtype(run, types[3].dtype), layouts[2])
    _picked(run, step, result, (_multiplied(run, step, tiles, layouts, summed), layouts[2]), added)


def _dtype(run: Run, name: str) -> DType:
    """The format registers hold: those of tf32 are floats."""
    facts = run.state.knowledge.dtype(name)
    is_narrow_float = facts is not None and facts.bits == 19
    return FLOAT32 if is_narrow_float else dtype_named(name)


def _width(run: Run, dtype: DType) -> int:
    return bits_of(run.state, dtype)


def _layout(run: Run, step: Step, name: str) -> FragmentLayout:
    found = run.state.knowledge.fragments.get(name)
    if found is None:
        raise UnreadInstructionError(step.via)
    return found


def _gathered(run: Run, step: Step, names: tuple[Written, ...], dtype: DType, layout: FragmentLayout) -> list[Scalar]:
    """The elements this lane holds, in order."""
    if layout.elements % len(names):
        raise UnreadInstructionError(step.via)
    count = layout.elements // len(names)
    return [value for name in names for value in run.lanes(name, dtype, count)]


def _tiles(run: Run, step: Step, columns: list[list[Scalar]], layouts: list[FragmentLayout]) -> list[str]:
    """Both whole tiles in every lane, the inner dimension first: each lane in turn hands out what it holds."""
    state = run.state
    operands = [[materialised(state, value) for value in values] for values in columns]
    shapes = ((layouts[0].columns, layouts[0].rows), (layouts[1].rows, layouts[1].columns))
    buffers = [
        state.allocate(name, values[0].dtype, (integer(shape[0]), integer(shape[1])))
        for name, values, shape in zip(("a", "b"), columns, shapes, strict=True)
    ]
    variable = state.unique("source")
    source = Symbol(variable, INT32)
    with state.builder.region() as body:
        for buffer, values, layout, turned in zip(buffers, operands, layouts, (True, False), strict=True):
            for element, operand in enumerate(values):
                given = state.builder.result(
                    Exchange, kind=ExchangeKind.INDEX, operand=operand, lane=source, width=_warp(state),
                    type=ValueType(operand.dtype), via=step.via,
                )  # fmt: skip
                index = tuple(coordinate(bits, source, element) for bits in (layout.row, layout.column))
                access = Access(buffer=buffer.name, index=index[::-1] if turned else index)
                state.builder.emit(Store, access=access, value=given, via=step.via)
    values_ = Range(start=Const(0, INT32), stop=_warp(state), step=Const(1, INT32))
    state.builder.emit(Loop, variable=variable, values=values_, body=tuple(body), kind=AxisKind.UNROLLED, via=step.via)
    return [buffer.name for buffer in buffers]


def _multiplied(run: Run, step: Step, tiles: list[str], layouts: list[FragmentLayout], dtype: DType) -> str:
    """The product of two tiles, in a buffer of its own."""
    state = run.state
    rows, inner, columns = layouts[0].rows, layouts[0].columns, layouts[1].columns
    loaded = [
        _whole(state, name, extents, step.via)
        for name, extents in zip(tiles, ((inner, rows), (inner, columns)), strict=True)
    ]
    shape = (integer(rows), integer(columns))
    product = state.builder.result(
        Matmul, stationary=loaded[0], moving=loaded[1], type=ValueType(dtype, shape), accumulate=ValueType(dtype),
        via=step.via,
    )  # fmt: skip
    buffer = state.allocate("d", dtype, shape)
    axes, index = _over(state, (rows, columns))
    state.builder.emit(Store, access=Access(buffer=buffer.name, index=index, axes=axes), value=product, via=step.via)
    return buffer.name


def _over(state: State, extents: tuple[int, int]) -> tuple[tuple[Axis, ...], tuple[Expr, ...]]:
    axes = tuple(Axis(state.unique("tile"), AxisKind.FREE, integer(extent)) for extent in extents)
    return axes, tuple(Symbol(axis.name, INT32) for axis in axes)


def _whole(state: State, name: str, extents: tuple[int, int], via: str) -> Expr:
    axes, index = _over(state, extents)
    type_ = ValueType(state.buffers[name].dtype, tuple(integer(extent) for extent in extents))
    return state.builder.result(Load, access=Access(buffer=name, index=index, axes=axes), type=type_, via=via)


def _picked(
    run: Run, step: Step, names: tuple[Written, ...], product: tuple[str, FragmentLayout], added: list[Scalar]
) -> None:
    """What this lane's registers of the result hold: its elements of the product and what was added."""
    state = run.state
    buffer, layout = product
    dtype = state.buffers[buffer].dtype
    lane = materialised(state, lane_of(state))
    values: list[Scalar] = []
    for element, addend in enumerate(added):
        index = (coordinate(layout.row, lane, element), coordinate(layout.column, lane, element))
        part = state.load(Place(buffer, index, scalar_type(dtype)), dtype, step.via)
        terms = (part, convert(state, addend, dtype))
        values.append(apply_operator(state, Operator.ADD, terms, dtype, step.via))
    if len(values) % len(names):
        raise UnreadInstructionError(step.via)
    count = len(values) // len(names)
    for number, name in enumerate(names):
        held = values[number * count : (number + 1) * count]
        run.put(name, held[0] if count == 1 else tuple(held))


MATRICES: dict[Semantics, Handler] = {
    Semantics.FRAGMENT_LOAD: _loaded_rows, Semantics.FRAGMENT_STORE: _stored_rows, Semantics.MATMUL: _product,
}  # fmt: skip
