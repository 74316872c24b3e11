"""Matrix products."""

from __future__ import annotations

from portcheck.core.dtype import FLOAT32
from portcheck.frontends.nki.arithmetic import folded, known_int, product
from portcheck.frontends.nki.bind import Call
from portcheck.frontends.nki.data import Operand, as_view, load, operand, store
from portcheck.frontends.nki.failure import MisunderstoodError
from portcheck.frontends.nki.lowering.memory import flattened_operand
from portcheck.frontends.nki.lowering.operand_masks import masks_of
from portcheck.frontends.nki.values import NONE, External, Masked, Result, Text, Value, View
from portcheck.frontends.nki.views import reshape
from portcheck.ir import Branch, Const, Expr, Matmul, Order, Select, Space, Transpose, ValueType, WriteMode
from portcheck.knowledge import Role

PAIRED_ROWS = frozenset({"double_row", "double_row_gen3"})
"""The mode, by its names in both generations."""


def matmul(call: Call) -> Value:
    """stationary^T x moving into PSUM: a new tile, or one group of products in the destination."""
    context = call.context
    stationary, moving = call.given(Role.STATIONARY), call.given(Role.MOVING)
    is_engine = stationary is not None
    if not is_engine:
        sources = call.all(Role.SOURCE)
        if len(sources) != 2:
            raise MisunderstoodError("an operand is not understood")
        stationary, moving = sources
    is_turned = not call.flag(Role.TRANSPOSE) and not is_engine
    masks = masks_of(call, stationary, moving, is_turned=is_turned)
    left, right = _matrix(call, stationary, masks.left), _matrix(call, moving, masks.right)
    if len(left.shape) != 2 or len(right.shape) != 2:
        raise MisunderstoodError("an operand is not a matrix")
    if is_turned:
        shape = (left.shape[1], left.shape[0])
        turned = context.builder.result(
            Transpose, via=call.via, operand=left.expression, permutation=(1, 0), type=ValueType(left.dtype, shape)
        )
        left = Operand(turned, left.dtype, shape)
    depths = known_int(left.shape[0]), known_int(right.shape[0])
    if None not in depths and depths[0] != depths[1]:
        raise MisunderstoodError(f"contracts {depths[0]} elements with {depths[1]}")
    shape = (left.shape[1], right.shape[1])
    made = context.builder.result(
        Matmul, via=call.via, stationary=left.expression, moving=right.expression, type=ValueType(FLOAT32, shape),
        accumulate=ValueType(FLOAT32, shape, Space.PSUM), order=Order.UNDOCUMENTED,
    )  # fmt: skip
    mask = masks.of_product(context, shape, left.shape[0])
    destination = call.destination()
    if destination is None:
        return Result(made, FLOAT32, shape, shape, Space.PSUM, mask=mask)
    if mask is not None:
        raise MisunderstoodError("a masked product into a destination")
    _accumulated(call, destination, Operand(made, FLOAT32, shape))
    return NONE


def _matrix(call: Call, side: Value | None, mask: Expr | None) -> Operand:
    """An operand as a matrix; in the mode of paired rows the partition and the dimension behind it are contracted."""
    words = [_word(item) for item in call.all(Role.PERFORMANCE)]
    word = next(filter(None, words), "")
    if word in ("", "none"):
        return flattened_operand(call, side) if mask is None else _without_masked(call, side, mask)
    view = as_view(call.context, side)
    if word not in PAIRED_ROWS or mask is not None or view is None or len(view.shape) < 3:
        raise MisunderstoodError(f"a product in the mode {word}")
    shape = (folded(product(view.shape[:2])), folded(product(view.shape[2:])))
    return load(call.context, reshape(call.context, view, shape))


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
