"""Matrix fragments of wmma: every lane holds a copy of the whole tile, and each call works on all of it.

Which element which lane holds is not documented, so that a program may only treat them all alike.
"""

from __future__ import annotations

from portcheck.core.dtype import INT32, DType
from portcheck.frontends.cuda.cooperation.groups import lane_of
from portcheck.frontends.cuda.memory.places import pointer_of, scalar, target
from portcheck.frontends.cuda.memory.views import flat, moved, seen_as
from portcheck.frontends.cuda.model.callsite import CallSite, qualified_name
from portcheck.frontends.cuda.model.conversions import convert, materialised
from portcheck.frontends.cuda.model.fragment_types import Fragment, fragment_of
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import scalar_type
from portcheck.frontends.cuda.model.values import CType, Nothing, Place, Pointer, Value
from portcheck.frontends.cuda.parsing.syntax import Node, bare
from portcheck.ir import (
    Access,
    Axis,
    AxisKind,
    Compute,
    Const,
    Expr,
    Load,
    Matmul,
    Operator,
    Ref,
    Store,
    Symbol,
    ValueType,
    apply,
    integer,
)  # fmt: skip
from portcheck.knowledge import Construct, Role, Semantics

Held = tuple[Place, Fragment]


def fragment_call(state: State, call: CallSite, construct: Construct) -> Value | None:
    """A call on fragments; None where one of them is not followed."""
    action = _CALLS.get(construct.semantics)
    return action(state, call, construct) if action is not None else None


def new_fragment(state: State, type_: CType, call: CallSite) -> Value | None:
    """A fragment that is made where it is asked for: its elements are 0."""
    fragment = state.fragments.get(type_.name)
    if fragment is None or type_.target is None or call.arguments:
        return None
    buffer = state.allocate("fragment", fragment.dtype, (integer(fragment.rows * fragment.columns),))
    place = Place(buffer.name, (), type_.target, 1)
    zero = Const(0.0 if fragment.dtype.is_float else 0, fragment.dtype)
    axes = _axes(state, fragment.rows, fragment.columns)
    state.builder.emit(Store, access=_tile(place, fragment, axes), value=zero, via=call.via)
    return place


def is_fragment_call(construct: Construct) -> bool:
    """Whether a construct works on fragments."""
    return construct.semantics in _CALLS


def _held(state: State, call: CallSite, construct: Construct, role: Role) -> Held | None:
    node = call.at(construct, role)
    value = state.evaluate(node) if node is not None else Nothing()
    fragment = fragment_of(state, value)
    return (value, fragment) if isinstance(value, Place) and fragment is not None else None


def _fill(state: State, call: CallSite, construct: Construct) -> Value | None:
    """All elements become one number."""
    held, node = _held(state, call, construct, Role.DESTINATION), call.at(construct, Role.VALUE)
    if held is None or node is None:
        return None
    place, fragment = held
    number = materialised(state, convert(state, scalar(state, state.evaluate(node), node), fragment.dtype))
    axes = _axes(state, fragment.rows, fragment.columns)
    state.builder.emit(Store, access=_tile(place, fragment, axes), value=number, via=call.via)
    return Nothing()


def _load(state: State, call: CallSite, construct: Construct) -> Value | None:
    """A tile read from memory, rows or columns as far apart as is said."""
    held = _held(state, call, construct, Role.DESTINATION)
    if held is None:
        return None
    place, fragment = held
    axes = _axes(state, fragment.rows, fragment.columns)
    source = _in_memory(state, call, construct, fragment, axes)
    if source is None:
        return None
    shape = (integer(fragment.rows), integer(fragment.columns))
    value = state.builder.result(Load, access=source, type=ValueType(fragment.dtype, shape), via=call.via)
    state.builder.emit(Store, access=_tile(place, fragment, axes), value=value, via=call.via)
    return Nothing()


def _store(state: State, call: CallSite, construct: Construct) -> Value | None:
    """A tile written to memory, by one lane for all of them."""
    held = _held(state, call, construct, Role.SOURCE)
    if held is None:
        return None
    place, fragment = held
    axes = _axes(state, fragment.rows, fragment.columns)
    destination = _in_memory(state, call, construct, fragment, axes)
    if destination is None or state.buffers[destination.buffer].constant:
        return None
    value = _whole(state, place, fragment, axes, call.via)
    lane = materialised(state, lane_of(state))
    first = apply(Operator.EQUAL, lane, Const(0, lane.dtype))
    mask = first if destination.mask is None else apply(Operator.LOGICAL_AND, destination.mask, first)
    access = Access(buffer=destination.buffer, index=destination.index, axes=axes, mask=mask)
    state.builder.emit(Store, access=access, value=value, via=call.via)
    return Nothing()


def _multiply(state: State, call: CallSite, construct: Construct) -> Value | None:
    """d = a x b + c, summed in the format of the sum."""
    roles = (Role.DESTINATION, Role.STATIONARY, Role.MOVING, Role.ACCUMULATE)
    held = [_held(state, call, construct, role) for role in roles]
    known = [one for one in held if one is not None]
    if len(known) != len(roles):
        return None
    (target_, result), (left, a), (right, b), (addend, c) = known
    if a.columns != b.rows or (a.rows, b.columns) != (result.rows, result.columns) or (c.rows, c.columns) != (
        result.rows, result.columns,
    ):  # fmt: skip
        return None
    inner, rows, columns = (
        Axis(state.unique(name), AxisKind.FREE, integer(extent))
        for name, extent in (("k", a.columns), ("m", a.rows), ("n", b.columns))
    )
    stationary = _whole(state, left, a, (inner, rows), call.via, (rows, inner))
    moving = _whole(state, right, b, (inner, columns), call.via)
    shape = (integer(a.rows), integer(b.columns))
    product = state.builder.result(
        Matmul, stationary=stationary, moving=moving, type=ValueType(result.dtype, shape),
        accumulate=ValueType(result.dtype), via=call.via,
    )  # fmt: skip
    axes = _axes(state, result.rows, result.columns)
    old = _whole(state, addend, c, axes, call.via)
    total = state.builder.result(
        Compute, operator=Operator.ADD, operands=(product, old), type=ValueType(result.dtype, shape), via=call.via
    )
    state.builder.emit(Store, access=_tile(target_, result, axes), value=total, via=call.via)
    return Nothing()


def _axes(state: State, rows: int, columns: int) -> tuple[Axis, Axis]:
    row = Axis(state.unique("row"), AxisKind.FREE, integer(rows))
    return row, Axis(state.unique("column"), AxisKind.FREE, integer(columns))


def _tile(place: Place, fragment: Fragment, axes: tuple[Axis, ...], rows_first: tuple[Axis, ...] = ()) -> Access:
    """All elements of a fragment along `axes`, where `rows_first` says which of them are rows and columns."""
    row, column = rows_first or axes
    index = _position(Symbol(row.name, INT32), fragment.columns, Symbol(column.name, INT32))
    return Access(buffer=place.buffer, index=(*place.index, index), axes=axes)


def _position(row: Expr, step: Expr | int, column: Expr) -> Expr:
    by = Const(step, INT32) if isinstance(step, int) else step
    return apply(Operator.ADD, apply(Operator.MULTIPLY, row, by, dtype=INT32), column, dtype=INT32)


def _whole(
    state: State, place: Place, fragment: Fragment, axes: tuple[Axis, ...], via: str,
    rows_first: tuple[Axis, ...] = (),
) -> Ref:  # fmt: skip
    shape = tuple(axis.extent for axis in axes if axis.extent is not None)
    access = _tile(place, fragment, axes, rows_first)
    return state.builder.result(Load, access=access, type=ValueType(fragment.dtype, shape), via=via)


def _in_memory(
    state: State, call: CallSite, construct: Construct, fragment: Fragment, axes: tuple[Axis, Axis]
) -> Access | None:
    """The elements of a tile in memory."""
    node, step_node = call.at(construct, Role.ADDRESS_OF), call.at(construct, Role.SIZE)
    pointer = pointer_of(state, state.evaluate(node)) if node is not None else None
    by_columns = _is_by_columns(state, call, construct, fragment)
    if pointer is None or step_node is None or by_columns is None:
        return None
    place = _place(state, pointer, fragment.dtype)
    if place is None:
        return None
    step = materialised(state, convert(state, scalar(state, state.evaluate(step_node), step_node), INT32))
    row, column = (Symbol(axis.name, INT32) for axis in axes)
    along = _position(column, step, row) if by_columns else _position(row, step, column)
    start = flat(state, place.buffer, place.index)
    return Access(buffer=place.buffer, index=(moved(start, along),), axes=axes, mask=state.mask)


def _place(state: State, pointer: Pointer, dtype: DType) -> Place | None:
    return seen_as(state, target(Pointer(pointer.buffer, pointer.index, scalar_type(dtype), pointer.rest)), dtype)


def _is_by_columns(state: State, call: CallSite, construct: Construct, fragment: Fragment) -> bool | None:
    """Whether columns lie together: as the argument says, or the fragment's type."""
    node: Node | None = call.at(construct, Role.PATTERN)
    layout = fragment.layout
    if node is not None:
        named = state.construct(qualified_name(state, bare(node))[0])
        layout = named.semantics if named is not None else None
    return None if layout is None else layout is Semantics.LAYOUT_COLUMNS


_CALLS = {
    Semantics.FRAGMENT_FILL: _fill, Semantics.FRAGMENT_LOAD: _load, Semantics.FRAGMENT_STORE: _store,
    Semantics.MATMUL: _multiply,
}  # fmt: skip
