"""Numbers of few bits that share a power of two in groups: how they are made, and products of them.

A group is some partitions of as many numbers each as are packed into one unit of storage, and the scales of the groups
of a quadrant stand in that quadrant, from its first partition on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from portcheck.core.dtype import FLOAT32, INT32, UINT8, DType, dtype_of
from portcheck.frontends.nki.expressions.bind import Call
from portcheck.frontends.nki.lowering.functions import applied, single
from portcheck.frontends.nki.lowering.gathering import flat
from portcheck.frontends.nki.lowering.products import multiplied, put
from portcheck.frontends.nki.lowering.reducing import combine_over
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.arithmetic import divided, literal, plus, times
from portcheck.frontends.nki.values.data import as_view, compute, load, store
from portcheck.frontends.nki.values.operands import Operand, cast
from portcheck.frontends.nki.values.patterns import shown_as
from portcheck.frontends.nki.values.tiles import Dimension, View
from portcheck.frontends.nki.values.values import NONE, Value
from portcheck.frontends.nki.values.views import linear, moved, symbol_of
from portcheck.ir import (
    Cast,
    Const,
    Expr,
    OpaqueKind,
    Operator,
    Rounding,
    ValueType,
    apply,
    integer,
)  # fmt: skip
from portcheck.knowledge import DTypeFacts, Role, Semantics

_GROUP = "group"
"""The number that says how many partitions a group has."""
_QUADRANT = "quadrant"
"""The number that says how many partitions a quadrant has."""
_SCALE = "float8_e8m0fnu"
"""The format whose bits a scale in an integer format holds."""
_BYTE = 8


def product(call: Call) -> Value:
    """The product of two packed matrices, each number times its scale, over partitions and packed numbers."""
    sides = []
    for side, scale in ((Role.STATIONARY, Role.STATIONARY_SCALE), (Role.MOVING, Role.MOVING_SCALE)):
        data, factors = flat(call, call.given(side)), flat(call, call.given(scale))
        sides.append(_numbers(call, data, factors))
    if len(sides[0]) != len(sides[1]):
        raise MisunderstoodError("the operands are packed in different numbers")
    return put(call, multiplied(call, sides[0], sides[1]))


def _numbers(call: Call, data: View, scales: View) -> list[Operand]:
    """The numbers of a packed tile times their scales: one tile for each place in a unit of storage."""
    context, dtype = call.context, data.buffer.dtype
    partitions, columns = data.dimensions
    row = _scale_row(call, symbol_of(partitions))
    at = {scales.dimensions[0].symbol: row, scales.dimensions[1].symbol: symbol_of(columns)}
    scale = load(context, moved(scales, data.dimensions, at))
    if dtype.is_symbolic:
        return [_times_scale(call, value, scale) for value in _parts(call, data, *_open(call, dtype))]
    facts, inner = _packed(context, dtype)
    width = facts.bits // facts.elements
    if width == _BYTE // 2:
        words = View(shown_as(context, data.buffer, _unsigned(facts.bits)), data.dimensions, (linear(data),))
        bits = cast(context, load(context, words), INT32, call.via)
        values = [_nibble(call, bits, place * width) for place in range(facts.elements)]
    elif width == _BYTE:
        values = _parts(call, data, inner, facts.elements)
    else:
        raise MisunderstoodError(f"numbers packed as {dtype}", OpaqueKind.DTYPE)
    return [_times_scale(call, value, scale) for value in values]


def _parts(call: Call, data: View, inner: DType, count: int) -> list[Operand]:
    """The numbers of a packed tile, each of the format `inner`: one tile for each of the `count` in a unit."""
    shown = shown_as(call.context, data.buffer, inner)
    begin = times(linear(data), integer(count))
    views = [View(shown, data.dimensions, (plus(begin, integer(place)),)) for place in range(count)]
    return [cast(call.context, load(call.context, view), FLOAT32, call.via) for view in views]


def _open(call: Call, dtype: DType) -> tuple[DType, int]:
    """The format of a number of a packed format that nothing states, and how many there are in every such format."""
    counts = {facts.elements for facts in call.context.knowledge.dtypes.by_name.values()} - {1}
    if len(counts) != 1:
        raise MisunderstoodError(f"{dtype} is no packed format", OpaqueKind.DTYPE)
    call.context.assume(f"{dtype} is taken to be a packed format, as {call.via} asks for one")
    return dtype_of(f"element({dtype.name.partition('(')[2].removesuffix(')')})"), counts.pop()


def _scale_row(call: Call, partition: Expr) -> Expr:
    """The partition in which the scale of the group that `partition` belongs to stands."""
    size, group = integer(call.documented(_QUADRANT)), integer(call.documented(_GROUP))
    quadrant = times(apply(Operator.FLOOR_DIVIDE, partition, size), size)
    within = apply(Operator.FLOOR_MODULO, partition, size)
    return plus(quadrant, apply(Operator.FLOOR_DIVIDE, within, group))


def _times_scale(call: Call, value: Operand, scale: Operand) -> Operand:
    """`value` times two to the power that a scale stands for; one in an integer format is that power's biased bits."""
    if scale.dtype.is_float:
        return applied(call, Operator.MULTIPLY, value, scale)
    power = applied(call, Operator.SUBTRACT, scale, _number(-_smallest(call)))
    return compute(call.context, Operator.LDEXP, (value, power), FLOAT32, via=call.via)


def _smallest(call: Call) -> int:
    """The smallest exponent of a scale, from which its bits count."""
    facts = call.context.knowledge.dtype(_SCALE)
    if facts is None:
        raise MisunderstoodError(f"{_SCALE} is not known", OpaqueKind.DTYPE)
    return facts.min_normal_exponent


def _number(value: int) -> Operand:
    return Operand(literal(float(value)), literal(0.0).dtype)


def _nibble(call: Call, bits: Operand, shift: int) -> Operand:
    """The number at `shift` bits of a word: a sign, two bits of exponent and one of the fraction."""
    context = call.context

    def combined(operator: Operator, left: Operand, right: Operand | int) -> Operand:
        right = Operand(Const(right, INT32), INT32) if isinstance(right, int) else right
        return compute(context, operator, (left, right), INT32, via=call.via)

    number = combined(Operator.SHIFT_RIGHT_LOGICAL, bits, shift)
    fraction = combined(Operator.BITWISE_AND, number, 1)
    exponent = combined(Operator.BITWISE_AND, combined(Operator.SHIFT_RIGHT_LOGICAL, number, 1), 3)
    is_negative = combined(Operator.BITWISE_AND, combined(Operator.SHIFT_RIGHT_LOGICAL, number, 3), 1)
    hidden = combined(Operator.MINIMUM, exponent, 1)
    # In halves: the hidden bit counts two, and below it the exponent stays that of the smallest normal number.
    halves = combined(Operator.ADD, combined(Operator.ADD, hidden, hidden), fraction)
    power = combined(Operator.SUBTRACT, combined(Operator.MAXIMUM, exponent, 1), 2)
    size, scale, sign = (cast(context, item, FLOAT32, call.via) for item in (halves, power, is_negative))
    magnitude = compute(context, Operator.LDEXP, (size, scale), FLOAT32, via=call.via)
    twice = applied(call, Operator.MULTIPLY, sign, Operand(literal(-2.0), literal(0.0).dtype))
    factor = applied(call, Operator.ADD, twice, Operand(literal(1.0), literal(0.0).dtype))
    return applied(call, Operator.MULTIPLY, magnitude, factor)


def quantize(call: Call) -> Value:
    """Numbers divided by the power of two of their group and packed, and the powers."""
    context = call.context
    data, target = flat(call, call.given(Role.SOURCE)), call.destination()
    scales = as_view(context, call.given(Role.REDUCE_DESTINATION))
    if target is None or scales is None:
        raise MisunderstoodError("a destination is not understood")
    target, scales = flat(call, target), flat(call, scales)
    facts, inner = _packed(context, target.buffer.dtype)
    count = facts.elements
    axes = _axes(call, data, count)
    value = cast(context, load(context, _grouped(data, axes)), FLOAT32, call.via)
    largest = combine_over(call, Operator.MAXIMUM, single(call, Operator.ABSOLUTE, value), (1, 3))
    exponent = _exponent(call, largest, facts)
    power = compute(context, Operator.NEGATE, (exponent,), FLOAT32, via=call.via)
    shrunk = compute(context, Operator.LDEXP, (value, power), FLOAT32, via=call.via)
    made = context.builder.result(
        Cast, via=call.via, operand=shrunk.expression, type=ValueType(inner, shrunk.shape), saturating=True,
        rounding=Rounding.NEAREST_EVEN,
    )  # fmt: skip
    index = _unit_index(target, axes)
    numbers = View(shown_as(context, target.buffer, inner), tuple(axes), (index,))
    store(context, numbers, Operand(made, inner, shrunk.shape), via=call.via)
    _store_scales(call, scales, axes, exponent)
    return NONE


def _exponent(call: Call, largest: Operand, facts: DTypeFacts) -> Operand:
    """The exponent of the scale of each group, within what a scale can hold."""
    has_headroom = call.api.semantics is Semantics.QUANTIZE_HEADROOM
    top = math.frexp(facts.max_finite)[1] - 1 - has_headroom
    found = single(call, Operator.EXPONENT, largest)
    lowered = applied(call, Operator.SUBTRACT, found, Operand(literal(float(top)), literal(0.0).dtype))
    return applied(call, Operator.MAXIMUM, lowered, _number(_smallest(call)))


def _axes(call: Call, data: View, count: int) -> list[Dimension]:
    """Groups of partitions, partitions of a group, groups of columns, columns of a group."""
    group = call.documented(_GROUP)
    extents = (
        divided(data.shape[0], group), integer(group), divided(data.shape[1], count), integer(count),
    )  # fmt: skip
    return [call.context.placeholder(extent) for extent in extents]


def _grouped(data: View, axes: Sequence[Dimension]) -> View:
    rows, inner, columns, place = (symbol_of(axis) for axis in axes)
    at = {
        data.dimensions[0].symbol: plus(times(rows, axes[1].extent), inner),
        data.dimensions[1].symbol: plus(times(columns, axes[3].extent), place),
    }
    return moved(data, axes, at)


def _unit_index(target: View, axes: Sequence[Dimension]) -> Expr:
    """Where each number stands among all of the buffer of packed ones."""
    rows, inner, columns, place = (symbol_of(axis) for axis in axes)
    at = {
        target.dimensions[0].symbol: plus(times(rows, axes[1].extent), inner),
        target.dimensions[1].symbol: columns,
    }
    return plus(times(linear(moved(target, axes, at)), axes[3].extent), place)


def _store_scales(call: Call, scales: View, axes: Sequence[Dimension], exponent: Operand) -> None:
    context = call.context
    dimensions = [context.placeholder(integer(1)) if place % 2 else axis for place, axis in enumerate(axes)]
    partition = times(symbol_of(axes[0]), axes[1].extent)
    at = {scales.dimensions[0].symbol: _scale_row(call, partition), scales.dimensions[1].symbol: symbol_of(axes[2])}
    view = moved(scales, dimensions, at)
    if scales.buffer.dtype.is_float:
        one = Operand(literal(1.0), literal(0.0).dtype)
        value = compute(context, Operator.LDEXP, (one, exponent), FLOAT32, via=call.via)
    else:
        biased = applied(call, Operator.ADD, exponent, _number(-_smallest(call)))
        value = cast(context, biased, UINT8, call.via)
    store(context, view, value, via=call.via)


def _packed(context: Context, dtype: DType) -> tuple[DTypeFacts, DType]:
    """What is known of a packed format, and the format of one of its numbers."""
    facts = context.knowledge.dtype(dtype.name)
    name = dtype.name.removesuffix(f"_x{facts.elements}") if facts is not None else ""
    inner = context.knowledge.dtype(name)
    if facts is None or facts.elements == 1 or inner is None:
        raise MisunderstoodError(f"{dtype} is no packed format", OpaqueKind.DTYPE)
    return facts, DType(inner.name, inner.kind)


def _unsigned(bits: int) -> DType:
    return DType(f"uint{bits}", UINT8.kind)
