"""Matrix products."""

from __future__ import annotations

from collections.abc import Sequence

from portcheck.core.dtype import FLOAT32
from portcheck.frontends.nki.expressions.bind import Call
from portcheck.frontends.nki.lowering.memory import flattened_operand
from portcheck.frontends.nki.lowering.operand_masks import masks_of
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.arithmetic import folded, known_int, product
from portcheck.frontends.nki.values.data import as_view, compute, load, operand, store
from portcheck.frontends.nki.values.operands import Operand
from portcheck.frontends.nki.values.tiles import Grid, Masked, Result, View
from portcheck.frontends.nki.values.values import NONE, External, Stretch, Text, Value
from portcheck.frontends.nki.values.views import reshape, select
from portcheck.ir import (
    Branch,
    Const,
    Expr,
    Matmul,
    Operator,
    Order,
    Select,
    Space,
    Transpose,
    ValueType,
    WriteMode,
    integer,
)
from portcheck.knowledge import Role

PAIRED_ROWS = frozenset({"double_row", "double_row_gen3"})
"""The mode, by its names in both generations."""


def matmul(call: Call) -> Value:
    """stationary^T x moving into PSUM: a new tile, or one group of products in the destination."""
    stationary, moving = call.given(Role.STATIONARY), call.given(Role.MOVING)
    is_engine = stationary is not None
    if not is_engine:
        sources = call.all(Role.SOURCE)
        if len(sources) != 2:
            raise MisunderstoodError("an operand is not understood")
        stationary, moving = sources
    is_turned = not call.flag(Role.TRANSPOSE) and not is_engine
    masks = masks_of(call, stationary, moving, is_turned=is_turned)
    left, right = _parts(call, stationary, masks.left), _parts(call, moving, masks.right)
    if is_turned:
        left = [_turned(call, part) for part in left]
    made = multiplied(call, left, right)
    return put(call, made, masks.of_product(call.context, (made.shape[0], made.shape[1]), left[0].shape[0]))


def put(call: Call, made: Operand, mask: Grid | Expr | None = None) -> Value:
    """A product in the destination, or in a new tile of PSUM."""
    destination = call.destination()
    if destination is None:
        return Result(made.expression, made.dtype, made.shape, made.shape, Space.PSUM, mask=mask)
    if mask is not None:
        raise MisunderstoodError("a masked product into a destination")
    _accumulated(call, destination, made)
    return NONE


def multiplied(call: Call, left: Sequence[Operand], right: Sequence[Operand]) -> Operand:
    """The sum of the products of parts that are contracted together in one instruction."""
    context = call.context
    total: Operand | None = None
    for stationary, moving in zip(left, right, strict=True):
        if len(stationary.shape) != 2 or len(moving.shape) != 2:
            raise MisunderstoodError("an operand is not a matrix")
        depths = known_int(stationary.shape[0]), known_int(moving.shape[0])
        if None not in depths and depths[0] != depths[1]:
            raise MisunderstoodError(f"contracts {depths[0]} elements with {depths[1]}")
        shape = (stationary.shape[1], moving.shape[1])
        made = context.builder.result(
            Matmul, via=call.via, stationary=stationary.expression, moving=moving.expression,
            type=ValueType(FLOAT32, shape), accumulate=ValueType(FLOAT32, shape, Space.PSUM), order=Order.UNDOCUMENTED,
        )  # fmt: skip
        part = Operand(made, FLOAT32, shape)
        total = part if total is None else compute(context, Operator.ADD, (total, part), FLOAT32, via=call.via)
    assert total is not None
    return total


def _turned(call: Call, value: Operand) -> Operand:
    if len(value.shape) != 2:
        raise MisunderstoodError("an operand is not a matrix")
    shape = (value.shape[1], value.shape[0])
    turned = call.context.builder.result(
        Transpose, via=call.via, operand=value.expression, permutation=(1, 0), type=ValueType(value.dtype, shape)
    )
    return Operand(turned, value.dtype, shape)


def _parts(call: Call, side: Value | None, mask: Expr | None) -> list[Operand]:
    """An operand as a matrix, or as the two that the mode of paired rows contracts together."""
    words = [_word(item) for item in call.all(Role.PERFORMANCE)]
    word = next(filter(None, words), "")
    if word in ("", "none"):
        return [flattened_operand(call, side) if mask is None else _without_masked(call, side, mask)]
    view = as_view(call.context, side)
    is_paired = view is not None and len(view.shape) > 2 and known_int(view.shape[1]) in (None, 2)
    if word not in PAIRED_ROWS or mask is not None or view is None or not is_paired:
        raise MisunderstoodError(f"a product in the mode {word}")
    shape = (view.shape[0], integer(2), folded(product(view.shape[2:])))
    pair = reshape(call.context, view, shape)
    parts = [select(call.context, pair, [Stretch(None, None), integer(place)]) for place in (0, 1)]
    return [load(call.context, part) for part in parts if part is not None]


def _word(value: Value) -> str:
    """The name of a mode, which the first generation gives as a string."""
    if isinstance(value, External):
        return value.name.rpartition(".")[2]
    return value.value if isinstance(value, Text) else ""


def _without_masked(call: Call, side: Value | None, mask: Expr) -> Operand:
    """An operand with zeros where `mask`, over its positions, does not hold: they add nothing to a product."""
    context = call.context
    value = operand(context, side.source if isinstance(side, Masked) else side)
    if value is None or len(value.shape) != 2:
        raise MisunderstoodError("a masked operand is not a matrix")
    zero = Const(0.0, value.dtype)
    made = context.builder.result(
        Select, via=call.via, condition=mask, on_true=value.expression, on_false=zero,
        type=ValueType(value.dtype, value.shape),
    )  # fmt: skip
    return Operand(made, value.dtype, value.shape)


def _accumulated(call: Call, destination: View, value: Operand) -> None:
    """Stores a product: into a group, over what was there or on top of it; both where that depends on a condition."""
    context = call.context
    given, decided = call.number(Role.ACCUMULATE), call.constant(Role.ACCUMULATE)
    if call.given(Role.ACCUMULATE) is None:
        store(context, destination, value, via=call.via, mode=WriteMode.GROUP)
    elif decided is not None:
        store(context, destination, value, via=call.via, mode=WriteMode.ADD if decided else WriteMode.OVERWRITE)
    elif given is not None:
        with context.builder.region() as added:
            store(context, destination, value, via=call.via, mode=WriteMode.ADD)
        with context.builder.region() as first:
            store(context, destination, value, via=call.via)
        context.builder.emit(Branch, via=call.via, condition=given, then=tuple(added), otherwise=tuple(first))
    else:
        raise MisunderstoodError("whether the product accumulates is not known")
