"""Allocation, loads, stores, copies, transposes."""

from __future__ import annotations

from portcheck.core.dtype import BOOL, FLOAT32, DType
from portcheck.frontends.nki.expressions.bind import Call, as_dtype, as_sizes, ir_operator, operator_object
from portcheck.frontends.nki.lowering.masking import mask_of_tile
from portcheck.frontends.nki.state.deepening import deepen_parameter
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.arithmetic import constant_part, is_one, known_int, literal, product, same
from portcheck.frontends.nki.values.data import (
    aligned,
    allocate,
    as_view,
    compute,
    is_whole_parameter,
    load,
    note_written,
    operand,
    resolved,
    store,
)  # fmt: skip
from portcheck.frontends.nki.values.fitting import may_equal
from portcheck.frontends.nki.values.operands import Operand, cast
from portcheck.frontends.nki.values.patterns import reinterpreted
from portcheck.frontends.nki.values.tiles import Grid, Result, View
from portcheck.frontends.nki.values.values import NONE, External, Items, Parameter, Value
from portcheck.frontends.nki.values.views import access, combined, mask_over_view, permute, reshape
from portcheck.ir import (
    Atomic,
    Copy,
    Expr,
    OpaqueKind,
    Operator,
    Outside,
    Select,
    Space,
    Transpose,
    ValueType,
    WriteMode,
    apply,
    integer,
    refs_in,
)
from portcheck.knowledge import Role

_BOUNDS_MODES = frozenset(mode.value for mode in Outside)
_FILLED_WITH = {"zeros": 0, "zeros_like": 0, "ones": 1}


def alloc(call: Call) -> Value:
    """A buffer."""
    context = call.context
    like = as_view(context, call.given(Role.SOURCE))
    shape = as_sizes(context, call.given(Role.SHAPE)) or (like.shape if like is not None else None)
    if shape is None:
        raise MisunderstoodError("the shape is not understood", OpaqueKind.MEMORY)
    dtype = call.dtype() or (like.buffer.dtype if like is not None else None) or _default_dtype(call)
    space = call.space()
    if like is not None and call.given(Role.BUFFER) is None and like.buffer.space is not Space.GLOBAL:
        space = like.buffer.space
    return allocate(context, call.hint, dtype, shape, space, call.via)


def _default_dtype(call: Call) -> DType:
    if call.given(Role.DTYPE) is not None and as_dtype(call.context, call.given(Role.DTYPE)) is None:
        raise MisunderstoodError("the dtype is not understood", OpaqueKind.DTYPE)
    return FLOAT32


def fill(call: Call) -> Value:
    """A buffer set to one value, or the destination set to it."""
    value = operand(call.context, call.given(Role.VALUE))
    if value is None:
        word = call.api.name.rpartition(".")[2]
        if word not in _FILLED_WITH:
            raise MisunderstoodError("the value is not understood")
        value = Operand(literal(_FILLED_WITH[word]), literal(0).dtype)
    destination = call.destination()
    if destination is not None:
        store(call.context, destination, value, via=call.via, mask=call.mask)
        return NONE
    view = alloc(call)
    assert isinstance(view, View)
    store(call.context, view, value, via=call.via, mask=call.mask)
    return view


def load_tile(call: Call) -> Value:
    """HBM to a new tile."""
    given = call.given(Role.SOURCE)
    if isinstance(given, Parameter):
        call.context.facts[given.name].seen_at_least(2)
    source = as_view(call.context, given)
    if source is None:
        raise MisunderstoodError("the source is not understood")
    source = resolved(call.context, source)
    mask = _reached(call, source)
    return call.finish_where(mask, load(call.context, source, mask, via=call.via), source)


def store_tile(call: Call) -> Value:
    """A tile to HBM."""
    value = call.given(Role.VALUE)
    rank = len(value.shape) if isinstance(value, View | Result) else 2
    destination = as_view(call.context, call.given(Role.DESTINATION), rank)
    if destination is None:
        raise MisunderstoodError("the destination is not understood")
    source = operand(call.context, value)
    if source is None:
        raise MisunderstoodError("the value is not understood")
    destination = resolved(call.context, destination)
    store(call.context, destination, source, mask=_reached(call, destination), via=call.via)
    return NONE


def _reached(call: Call, view: View) -> Grid | Expr | None:
    """The mask of a call, and where indices from memory lie outside the tensor and are to be skipped."""
    if outside_of(call) is not Outside.SKIP:
        return call.mask
    inside: Grid | Expr | None = call.mask
    for index, extent in zip(view.index, view.buffer.shape, strict=False):
        for test in (apply(Operator.GREATER_EQUAL, index, integer(0)), apply(Operator.LESS, index, extent)):
            if refs_in(index):
                grid = Grid(test, view.dimensions)
                inside = grid if inside is None else combined(Operator.LOGICAL_AND, inside, grid)
    return inside


def copy(call: Call) -> Value:
    """A transfer by DMA, or a copy by an engine."""
    context = call.context
    given = call.given(Role.SOURCE)
    other = call.given(Role.DESTINATION)
    rank = max((len(item.shape) for item in (given, other) if isinstance(item, View | Result)), default=2)
    destination = as_view(context, other, rank)
    is_transfer = call.api.engine == "dma"
    source = as_view(context, given, rank) if is_transfer or not isinstance(given, Result) else None
    if destination is not None and source is not None and is_transfer:
        return _transfer(call, destination, source)
    value = operand(context, given, mask=None)
    if value is None or (destination is None and call.api.result_dtype == "destination"):
        raise MisunderstoodError("an operand is not understood")
    return call.finish(_through_float(call, value, call.result_dtype(given)), given)


def _through_float(call: Call, value: Operand, dtype: DType) -> Operand:
    """`value` in float32 where an engine that copies goes through it: between formats, and always on the scalar one."""
    if not value.dtype.is_integer or (value.dtype == dtype and call.api.engine != "scalar"):
        return value
    return cast(call.context, value, FLOAT32, call.via)


def _transfer(call: Call, destination: View, source: View) -> Value:
    context = call.context
    source = laid_out(call, source, destination)
    is_tile = destination.buffer.is_on_chip or source.buffer.is_on_chip
    note_written(context, destination)
    destination, source = resolved(context, destination), resolved(context, source)
    rewrites = call.given(Role.OPERATOR) is not None
    outside = outside_of(call)
    context.builder.emit(
        Copy,
        via=call.via,
        destination=access(destination, mask_over_view(call.mask, destination), is_tile=is_tile, outside=outside),
        source=access(source, mask_over_view(call.mask, source), is_tile=is_tile, outside=outside),
        mode=WriteMode.ADD if rewrites else WriteMode.OVERWRITE,
        unique_indices=call.flag(Role.UNIQUE_INDICES),
    )
    return NONE


def laid_out(call: Call, source: View, destination: View) -> View:
    """`source` in the shape of `destination`: a transfer takes the elements of both in order."""
    own, wanted = constant_part(product(source.shape)), constant_part(product(destination.shape))
    if own is not None and wanted is not None and own != wanted:
        raise MisunderstoodError(f"copies {own} elements to {wanted}")
    if len(source.dimensions) != len(destination.dimensions):
        _note_rank(call, source, destination)
        _note_rank(call, destination, source)
        return reshape(call.context, source, destination.shape)
    if all(map(may_equal, source.shape, destination.shape)):
        return source
    return reshape(call.context, source, destination.shape)


def _note_rank(call: Call, view: View, other: View) -> None:
    """A part of a parameter of unknown rank that begins with the extents of a larger tile has its other ones too.

    One that is taken whole has as many dimensions as a tile of which none has only one position.
    """
    count = len(view.dimensions)
    facts = call.context.facts.get(view.buffer.name)
    if facts is None or facts.is_shown or count >= len(other.dimensions) or view.buffer.shows is not None:
        return
    lacking = other.shape[count:]
    if not facts.has_rank and all(map(same, view.shape, other.shape)) and not all(map(is_one, lacking)):
        facts.seen_at_least(len(view.buffer.shape) + len(lacking))
    elif other.buffer.is_on_chip and not any(map(is_one, other.shape)) and is_whole_parameter(call.context, view):
        deepen_parameter(call.context, view.buffer.name, 0 if facts.is_measured else len(lacking))


def outside_of(call: Call) -> Outside:
    """What a transfer does at an index out of bounds; undefined where the call cannot say."""
    mode = call.given(Role.BOUNDS_MODE)
    word = mode.name.rpartition(".")[2] if isinstance(mode, External) else ""
    return Outside(word) if word in _BOUNDS_MODES else Outside.UNDEFINED


def add_atomically(call: Call) -> Value:
    """A tile added to elements of a tensor that a tile of indices names; some may be named more than once."""
    context = call.context
    destination, value = call.destination(), operand(context, call.given(Role.VALUE))
    operator = ir_operator(operator_object(context, call.given(Role.OPERATOR)))
    if destination is None or value is None or operator is not Operator.ADD:
        raise MisunderstoodError("an operand is not understood")
    added = cast(context, value, destination.buffer.dtype)
    note_written(context, destination)
    elements = access(destination, mask_over_view(call.mask, destination), is_tile=True)
    context.builder.emit(
        Atomic, via=call.via, access=elements, operator=operator, value=added.expression,
        type=ValueType(added.dtype, destination.shape),
    )  # fmt: skip
    return NONE


def copy_predicated(call: Call) -> Value:
    """A copy of the elements whose predicate holds; the others keep what the destination held."""
    context = call.context
    destination = call.destination()
    predicate = operand(context, call.given(Role.PREDICATE))
    source = operand(context, call.given(Role.SOURCE))
    if destination is None or predicate is None or source is None:
        raise MisunderstoodError("an operand is not understood")
    held = load(context, destination)
    predicate, source = aligned(context, (held, condition(call, predicate), source))[1:]
    reverse = call.flag(Role.REVERSE0)
    picked, other = (held, cast(context, source, held.dtype)) if reverse else (cast(context, source, held.dtype), held)
    chosen = context.builder.result(
        Select,
        via=call.via,
        condition=predicate.expression,
        on_true=picked.expression,
        on_false=other.expression,
        type=ValueType(held.dtype, held.shape),
    )
    store(context, destination, Operand(chosen, held.dtype, held.shape), via=call.via, mask=call.mask)
    return NONE


def condition(call: Call, predicate: Operand) -> Operand:
    """`predicate` as a truth value: not equal to zero."""
    if predicate.dtype == BOOL:
        return predicate
    zero = cast(call.context, Operand(literal(0), literal(0).dtype), predicate.dtype)
    return compute(call.context, Operator.NOT_EQUAL, (predicate, zero), predicate.dtype, via=call.via, casts=False)


def transpose(call: Call) -> Value:
    """The dimensions of a tile exchanged; several free dimensions count as one."""
    context = call.context
    given = call.given(Role.SOURCE)
    outside = outside_of(call)
    if outside is Outside.SKIP:
        return _transposed(call, outside)
    mask = call.mask
    value = flattened_operand(call, given) if mask is None else _masked_operand(call, given, mask)
    order = _order(call, len(value.shape))
    shape = tuple(value.shape[position] for position in order)
    turned = mask_of_tile(context, call.mask_at(len(order)), shape, {old: new for new, old in enumerate(order)})
    made = context.builder.result(
        Transpose, via=call.via, operand=value.expression, permutation=order, type=ValueType(value.dtype, shape)
    )
    finished = call.finish_where(turned, Operand(made, value.dtype, shape), given)
    if isinstance(finished, Result) and call.api.engine == "tensor":
        finished.space = Space.PSUM
    return finished


def _masked_operand(call: Call, given: Value | None, mask: Grid | Expr) -> Operand:
    """A tile as it is; of one in device memory the elements that the mask leaves."""
    view = as_view(call.context, given) if not isinstance(given, Result) else None
    value = operand(call.context, given) if view is None else load(call.context, view, mask)
    if value is None:
        raise MisunderstoodError("an operand is not understood")
    if len(value.shape) > 2 and call.api.engine != "dma":
        raise MisunderstoodError("a masked transpose of several free dimensions")
    return value


def _transposed(call: Call, outside: Outside) -> Value:
    """A transposing transfer that leaves the destination as it is where an index lies outside."""
    context, destination = call.context, call.destination()
    source = as_view(context, call.given(Role.SOURCE))
    if destination is None or source is None or len(source.dimensions) != len(destination.dimensions):
        raise MisunderstoodError("an operand is not understood")
    order = _order(call, len(source.dimensions))
    turned = permute(source, order)
    assert turned is not None
    note_written(context, destination)
    destination, turned = resolved(context, destination), resolved(context, turned)
    context.builder.emit(
        Copy, via=call.via, destination=access(destination, is_tile=True, outside=outside),
        source=access(turned, is_tile=True, outside=outside),
    )  # fmt: skip
    return NONE


def flattened_operand(call: Call, given: Value | None) -> Operand:
    """A tile of two dimensions: the partition, and all free ones in row-major order."""
    context = call.context
    view = as_view(context, given) if not isinstance(given, Result) or len(given.real) > 2 else None
    if view is None:
        value = operand(context, given)
        if value is None:
            raise MisunderstoodError("an operand is not understood")
        return value
    axes = call.given(Role.PATTERN)
    if len(view.dimensions) > 2 and axes is None and call.api.engine != "dma":
        view = reshape(context, view, (view.shape[0], product(view.shape[1:])))
    return load(context, view)


_REVERSED_OUTER = {3: (2, 1, 0), 4: (3, 1, 2, 0)}


def _order(call: Call, rank: int) -> tuple[int, ...]:
    axes = call.given(Role.PATTERN)
    if isinstance(axes, Items):
        numbers = [known_int(size) for size in as_sizes(call.context, axes) or ()]
        order = tuple(number for number in numbers if number is not None)
        if sorted(order) == list(range(rank)):
            return order
        raise MisunderstoodError("the axes are not understood")
    if rank == 2:
        return (1, 0)
    if rank in _REVERSED_OUTER:
        return _REVERSED_OUTER[rank]
    raise MisunderstoodError(f"a transpose of {rank} dimensions")


def cast_tile(call: Call) -> Value:
    """A tile in another dtype."""
    given = call.receiver if call.receiver is not None else call.given(Role.SOURCE)
    value = operand(call.context, given)
    if value is None:
        raise MisunderstoodError("the operand is not understood")
    return call.finish(value, given)


def cast_bits(call: Call) -> Value:
    """The bits of a tile read as another dtype: the same memory, whose last dimension grows or shrinks."""
    given = call.receiver if call.receiver is not None else call.given(Role.SOURCE)
    view, dtype = as_view(call.context, given), call.dtype()
    if view is None or dtype is None:
        raise MisunderstoodError("the operand or the dtype is not understood", OpaqueKind.DTYPE)
    return reinterpreted(call.context, view, dtype)


def assume(call: Call) -> Value:
    """A tile whose shape is asserted: the tile."""
    given = call.receiver if call.receiver is not None else call.given(Role.SOURCE)
    wanted = as_sizes(call.context, call.given(Role.SHAPE))
    if not isinstance(given, View | Result) or wanted is None or len(wanted) != len(given.shape):
        raise MisunderstoodError("the shape that is asserted is not understood", OpaqueKind.MEMORY)
    for own, size in zip(given.shape, wanted, strict=True):
        if not same(own, size):
            call.context.assert_that(apply(Operator.EQUAL, own, size), call.via)
    return given
