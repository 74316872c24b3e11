"""Views: reshapes, broadcasts, slices and strides that move nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from portcheck.frontends.nki.arithmetic import is_one, known_int, product
from portcheck.frontends.nki.bind import Call, as_sizes
from portcheck.frontends.nki.context import Context
from portcheck.frontends.nki.data import as_number, as_view
from portcheck.frontends.nki.failure import MisunderstoodError
from portcheck.frontends.nki.lowering.selection import pairs_of
from portcheck.frontends.nki.values import Grid, Parameter, Result, Stretch, Value, View
from portcheck.frontends.nki.views import broadcast, expand, permute, reshape, select, strided
from portcheck.ir import Expr, OpaqueKind, integer
from portcheck.knowledge import Role


def view(call: Call) -> Value:
    """The view that a call or method gives of its operand."""
    given = call.receiver if call.receiver is not None else call.given(Role.SOURCE)
    handler = _HANDLERS.get(call.api.name.rpartition(".")[2])
    if handler is None:
        raise MisunderstoodError("this view is not modelled", OpaqueKind.MEMORY)
    return handler(call, given)


def _reshape(call: Call, given: Value | None) -> Value:
    shape = as_sizes(call.context, call.given(Role.SHAPE))
    return reshape(call.context, _of(call, given), _needed(shape))


def _broadcast_to(call: Call, given: Value | None) -> Value:
    shape = _needed(as_sizes(call.context, call.given(Role.SHAPE)))
    if isinstance(given, Result) and given.view is None:
        return Result(given.expression, given.dtype, tuple(shape), given.real, given.space, None, given.mask)
    return broadcast(call.context, _of(call, given, len(shape)), shape)


def _expand_dims(call: Call, given: Value | None) -> Value:
    if isinstance(given, Grid):
        dimensions = list(given.dimensions)
        dimensions.insert(_axis(call, len(dimensions) + 1), None)
        return Grid(given.expression, tuple(dimensions))
    target = _of(call, given)
    return expand(call.context, target, _axis(call, len(target.dimensions) + 1))


def _ap(call: Call, given: Value | None) -> Value:
    if any(call.values.get(item.name) is not None for item in call.api.parameters if item.name.endswith("_offset")):
        raise MisunderstoodError("an access pattern with an offset from memory", OpaqueKind.MEMORY)
    call.asked.add(Role.OTHER)
    return strided(call.context, _of(call, given), pairs_of(call, call.given(Role.PATTERN)), call.number(Role.OFFSET))


def _permute(call: Call, given: Value | None) -> Value:
    target = _of(call, given)
    order = [known_int(size) for size in _needed(as_sizes(call.context, call.given(Role.AXIS)))]
    turned = permute(target, [place for place in order if place is not None])
    if turned is None:
        raise MisunderstoodError("the order of dimensions is not understood", OpaqueKind.MEMORY)
    return turned


def _slice(call: Call, given: Value | None) -> Value:
    target = _of(call, given)
    stretch = Stretch(call.number(Role.START), call.number(Role.STOP), call.number(Role.STEP))
    return _at(call.context, target, _axis(call, len(target.dimensions)), stretch)


def _select(call: Call, given: Value | None) -> Value:
    target = _of(call, given)
    index = call.number(Role.INDICES)
    if index is None:
        raise MisunderstoodError("an index from memory", OpaqueKind.MEMORY)
    return _at(call.context, target, _axis(call, len(target.dimensions)), index)


def _squeeze(call: Call, given: Value | None) -> Value:
    target = _of(call, given)
    return _at(call.context, target, _axis(call, len(target.dimensions)), integer(0))


def _flatten(call: Call, given: Value | None) -> Value:
    target = _of(call, given)
    ends = [known_int(as_number(call.context, value)) for value in call.all(Role.AXIS)]
    if len(ends) != 2 or ends[0] is None or ends[1] is None:
        raise MisunderstoodError("the dimensions are not understood", OpaqueKind.MEMORY)
    first, last = (end % max(len(target.shape), 1) for end in ends if end is not None)
    shape = target.shape
    return reshape(call.context, target, (*shape[:first], product(shape[first : last + 1]), *shape[last + 1 :]))


def _reshape_dim(call: Call, given: Value | None) -> Value:
    target = _of(call, given)
    axis = _axis(call, len(target.dimensions))
    inner = _needed(as_sizes(call.context, call.given(Role.SHAPE)))
    return reshape(call.context, target, (*target.shape[:axis], *inner, *target.shape[axis + 1 :]))


def _broadcast(call: Call, given: Value | None) -> Value:
    target = _of(call, given)
    axis, size = _axis(call, len(target.dimensions)), call.number(Role.SIZE)
    if size is None or not is_one(target.shape[axis]):
        raise MisunderstoodError("the dimension cannot be broadcast", OpaqueKind.MEMORY)
    return broadcast(call.context, target, (*target.shape[:axis], size, *target.shape[axis + 1 :]))


def _at(context: Context, target: View, axis: int, selector: Expr | Stretch) -> Value:
    before: list[Expr | Stretch] = [Stretch(None, None)] * axis
    taken = select(context, target, [*before, selector])
    if taken is None:
        raise MisunderstoodError("the dimension does not exist", OpaqueKind.MEMORY)
    return taken


def _of(call: Call, given: Value | None, rank: int = 2) -> View:
    # Reshaping says nothing about the rank of a parameter, so a vector is the safer guess.
    guess = 1 if isinstance(given, Parameter) and call.context.facts[given.name].rank is None else rank
    target = as_view(call.context, given, guess, call.hint)
    if target is None:
        raise MisunderstoodError("the operand is not understood")
    return target


def _axis(call: Call, rank: int) -> int:
    axis = call.constant(Role.AXIS)
    if not isinstance(axis, int) or not -rank <= axis < rank:
        raise MisunderstoodError("the dimension is not understood", OpaqueKind.MEMORY)
    return axis % rank


def _needed(shape: Sequence[Expr] | None) -> Sequence[Expr]:
    if not shape:
        raise MisunderstoodError("the shape is not understood", OpaqueKind.MEMORY)
    return shape


_HANDLERS: Mapping[str, Callable[[Call, Value | None], Value]] = {
    "reshape": _reshape,
    "broadcast_to": _broadcast_to,
    "expand_dims": _expand_dims,
    "expand_dim": _expand_dims,
    "ap": _ap,
    "permute": _permute,
    "slice": _slice,
    "select": _select,
    "squeeze_dim": _squeeze,
    "flatten_dims": _flatten,
    "reshape_dim": _reshape_dim,
    "broadcast": _broadcast,
}
