"""Views: reshapes, broadcasts, slices and strides that move nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from portcheck.frontends.nki.expressions.bind import Call, as_sizes
from portcheck.frontends.nki.lowering.selection import pairs_of
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.state.sizes import decided
from portcheck.frontends.nki.values.arithmetic import folded, is_one, known_int, literal, plus, product, same
from portcheck.frontends.nki.values.data import as_number, as_view
from portcheck.frontends.nki.values.patterns import Moving, gathering, patterned, step_of, strided, symbol_for
from portcheck.frontends.nki.values.tiles import Dimension, Gathered, Grid, Result, View
from portcheck.frontends.nki.values.values import Items, Parameter, Stretch, Table, Text, Value
from portcheck.frontends.nki.values.views import broadcast, expand, moved, permute, reshape, select, symbol_of
from portcheck.ir import Expr, OpaqueKind, Operator, apply, integer
from portcheck.knowledge import Role


def view(call: Call) -> Value:
    """The view that a call or method gives of its operand."""
    given = call.receiver if call.receiver is not None else call.given(Role.SOURCE)
    handler = _HANDLERS.get(call.api.name.rpartition(".")[2])
    if handler is None:
        raise MisunderstoodError("this view is not modelled", OpaqueKind.MEMORY)
    return handler(call, given)


def _reshape(call: Call, given: Value | None) -> Value:
    shape = _needed(as_sizes(call.context, call.given(Role.SHAPE)))
    is_guess = isinstance(given, Parameter) and call.context.facts[given.name].rank is None
    target = _of(call, given)
    if not is_guess:
        _assert_as_many(call, target.shape, shape)
    return reshape(call.context, target, shape)


def _assert_as_many(call: Call, own: Sequence[Expr], wanted: Sequence[Expr]) -> None:
    """A tile holds as many elements in its new shape, of which one extent may be -1 for what is left; or it fails."""
    given = [extent for extent in wanted if known_int(extent) != -1]
    total, rest = folded(product(tuple(own))), folded(product(tuple(given)))
    if len(given) < len(wanted):
        condition = apply(Operator.EQUAL, apply(Operator.FLOOR_MODULO, total, rest), integer(0))
    else:
        condition = apply(Operator.EQUAL, total, rest)
    answer = True if same(total, rest) else decided(call.context, condition)
    if answer is False:
        raise MisunderstoodError("a tile of another number of elements", OpaqueKind.MEMORY)
    if answer is None:
        call.context.assert_that(condition, call.via)


def _broadcast_to(call: Call, given: Value | None) -> Value:
    shape = _needed(as_sizes(call.context, call.given(Role.SHAPE)))
    if isinstance(given, Result) and given.view is None:
        return Result(given.expression, given.dtype, tuple(shape), given.real, given.space, None, given.mask)
    return broadcast(call.context, _of(call, given, len(shape)), shape)


def _as_tile(call: Call, given: Value | None) -> Value:
    return _of(call, given)


def _expand_dims(call: Call, given: Value | None) -> Value:
    if isinstance(given, Grid):
        dimensions = list(given.dimensions)
        dimensions.insert(_axis(call, len(dimensions) + 1), None)
        return Grid(given.expression, tuple(dimensions))
    target = _of(call, given)
    axes = call.given(Role.AXIS)
    if not isinstance(axes, Items):
        return expand(call.context, target, _axis(call, len(target.dimensions) + 1))
    rank = len(target.dimensions) + len(axes.values)
    places = [known_int(as_number(call.context, item)) for item in axes.values]
    if any(place is None or not -rank <= place < rank for place in places):
        raise MisunderstoodError("the dimension is not understood", OpaqueKind.MEMORY)
    for place in sorted(place % rank for place in places if place is not None):
        target = expand(call.context, target, place)
    return target


def _ap(call: Call, given: Value | None) -> Value:
    context, target = call.context, _of(call, given)
    pattern, offset, dtype = pairs_of(call, call.given(Role.PATTERN)), call.number(Role.OFFSET), call.dtype()
    if dtype is None and call.given(Role.DTYPE) is not None:
        raise MisunderstoodError("the dtype is not understood", OpaqueKind.DTYPE)
    moving = _moving(call, target)
    if dtype is None or dtype == target.buffer.dtype:
        return strided(context, target, pattern, offset, moving)
    return patterned(context, target, pattern, offset, moving, dtype)


def _moving(call: Call, target: View) -> Moving | None:
    """What the pattern is moved by that stands in memory."""
    vector, scalar = call.given(Role.VECTOR_OFFSET), call.given(Role.SCALAR_OFFSET)
    place = call.constant(Role.AXIS) or 0
    if vector is None and scalar is None:
        return None
    if vector is not None and scalar is not None:
        raise MisunderstoodError("two offsets", OpaqueKind.MEMORY)
    step = step_of(target, int(place))
    if scalar is None:
        taken = as_view(call.context, vector)
        if taken is None or place != 0:
            raise MisunderstoodError("the offsets are not understood", OpaqueKind.MEMORY)
        return Moving(step, vector=taken)
    if isinstance(scalar, View | Result | Parameter):
        taken = as_view(call.context, scalar)
        if taken is not None:
            return Moving(step, scalar=taken)
    number = as_number(call.context, scalar)
    if number is None:
        raise MisunderstoodError("the offset is not understood", OpaqueKind.MEMORY)
    return Moving(step, scalar=number)


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
    axis, index = _axis(call, len(target.dimensions)), call.given(Role.INDICES)
    if isinstance(index, View | Result):
        source = as_view(call.context, index)
        if source is None or target.gathered:
            raise MisunderstoodError("an index from memory", OpaqueKind.MEMORY)
        item = gathering(call.context, source, [integer(0)] * len(source.dimensions))
        return _with_index(target, axis, item)
    number = call.number(Role.INDICES)
    if number is None:
        raise MisunderstoodError("the index is not understood", OpaqueKind.MEMORY)
    if axis == 0 and target.buffer.is_on_chip:
        return _at(call.context, target, axis, Stretch(number, plus(number, integer(1)), None, integer(1)))
    return _at(call.context, target, axis, number)


def _with_index(target: View, axis: int, item: Gathered, *added: Dimension) -> View:
    """`target` with dimension `axis` at an index that stands in memory; `added` takes its place."""
    replaced: dict[str, Expr] = {target.dimensions[axis].symbol: symbol_for(item)}
    dimensions = (*target.dimensions[:axis], *added, *target.dimensions[axis + 1 :])
    made = moved(target, dimensions, replaced)
    return replace(made, gathered=(*made.gathered, item))


def _vector_select(call: Call, given: Value | None) -> Value:
    target, vector = _of(call, given), as_view(call.context, call.given(Role.VECTOR_OFFSET))
    if vector is None or _axis(call, len(target.dimensions)) != 0 or target.gathered:
        raise MisunderstoodError("the offsets are not understood", OpaqueKind.MEMORY)
    rows = call.context.placeholder(vector.shape[0])
    at: list[Expr] = [symbol_of(rows), *[integer(0)] * (len(vector.dimensions) - 1)]
    return _with_index(target, 0, gathering(call.context, vector, at), rows)


def _rearrange(call: Call, given: Value | None) -> Value:
    """Dimensions split, reordered and merged by their names."""
    target = _of(call, given)
    before, after = (_names(call.values.get(name)) for name in ("src_pattern", "dst_pattern"))
    call.asked.add(Role.OTHER)
    sizes = _sizes(call, call.values.get("fixed_sizes"))
    if len(before) != len(target.dimensions):
        raise MisunderstoodError("the pattern does not fit the tensor", OpaqueKind.MEMORY)
    split: list[Expr] = []
    for group, extent in zip(before, target.shape, strict=True):
        open_names = [name for name in group if name not in sizes]
        known = product(tuple(sizes[name] for name in group if name in sizes))
        if len(open_names) > 1:
            raise MisunderstoodError("a size of the pattern is not known", OpaqueKind.MEMORY)
        rest = extent if len(group) == 1 else folded(apply(Operator.FLOOR_DIVIDE, extent, known))
        split.extend(sizes.get(name, rest) for name in group)
    names = [name for group in before for name in group]
    order = [name for group in after for name in group]
    if sorted(order) != sorted(names) or len(set(names)) != len(names):
        raise MisunderstoodError("the pattern has other names behind", OpaqueKind.MEMORY)
    turned = permute(reshape(call.context, target, split), [names.index(name) for name in order])
    assert turned is not None
    extents = dict(zip(order, turned.shape, strict=True))
    merged = [folded(product(tuple(extents[name] for name in group))) for group in after]
    return reshape(call.context, turned, merged)


def _names(value: Value | None) -> list[tuple[str, ...]]:
    """The names of a pattern, group by group."""
    groups: list[tuple[str, ...]] = []
    for item in value.values if isinstance(value, Items) else ():
        members = item.values if isinstance(item, Items) else [item]
        groups.append(tuple(member.value for member in members if isinstance(member, Text)))
        if len(groups[-1]) != len(members):
            raise MisunderstoodError("the pattern is not understood", OpaqueKind.MEMORY)
    return groups


def _sizes(call: Call, value: Value | None) -> dict[str, Expr]:
    entries = value.entries.items() if isinstance(value, Table) else ()
    numbers = {str(name): as_number(call.context, item) for name, item in entries}
    return {name: number for name, number in numbers.items() if number is not None}


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
    _assert_as_many(call, (target.shape[axis],), inner)
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
    "as_tile": _as_tile,
    "expand_dim": _expand_dims,
    "ap": _ap,
    "permute": _permute,
    "slice": _slice,
    "select": _select,
    "squeeze_dim": _squeeze,
    "flatten_dims": _flatten,
    "reshape_dim": _reshape_dim,
    "broadcast": _broadcast,
    "vector_select": _vector_select,
    "rearrange": _rearrange,
}


def layout(call: Call) -> Value:
    """What a tensor says about where its elements lie: their steps, whether they follow each other or are gathered."""
    view = _of(call, call.receiver)
    word = call.api.name.rpartition(".")[2]
    if word == "is_indirect":
        return literal(bool(view.gathered))
    if view.gathered:
        raise MisunderstoodError("the elements are gathered", OpaqueKind.MEMORY)
    steps = [step_of(view, place) for place in range(len(view.dimensions))]
    if word == "get_pattern":
        pairs = zip(steps, view.shape, strict=True)
        return Items([Items([step, extent], is_list=True) for step, extent in pairs], is_list=True)
    if word != "is_contiguous":
        raise MisunderstoodError("this property is not modelled", OpaqueKind.MEMORY)
    first = int(view.buffer.is_on_chip)
    wanted = [product(view.shape[place + 1 :]) for place in range(len(steps))]
    rows = list(zip(steps, wanted, view.shape, strict=True))[first:]
    return literal(all(is_one(extent) or same(step, size) for step, size, extent in rows))
