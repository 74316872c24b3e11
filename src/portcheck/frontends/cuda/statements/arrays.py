"""Arrays that each thread has for itself, with what their initialisers say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from portcheck.core.dtype import INT32
from portcheck.frontends.cuda.memory.places import read, scalar, write
from portcheck.frontends.cuda.memory.vectors import element_type, pointers
from portcheck.frontends.cuda.model.constants import constant_value
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import Declared, arrays_of
from portcheck.frontends.cuda.model.values import Aggregate, Buffer, CType, Place, Scalar, TypeKind, Value
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.frontends.cuda.statements.initialisers import first_extent, placed_items
from portcheck.frontends.cuda.statements.strings import holds_characters, spell, spelled
from portcheck.ir import Access, Axis, AxisKind, Const, Expr, OpaqueKind, Store, Symbol, integer, refs_in


def element_of(type_: CType) -> tuple[CType, list[Expr]]:
    """The type of the elements where `type_` is that of an array, and its extents."""
    extents: list[Expr] = []
    while type_.kind is TypeKind.ARRAY and type_.target is not None:
        extents.append(integer(type_.extent, INT32))
        type_ = type_.target
    return type_, extents


def initial_value(state: State, type_: CType, listed: list[Node], node: Node) -> Value:
    """The value of an initialiser of one or several expressions."""
    return read(state, state.make(type_, listed, node, ""), node)


def array_variable(state: State, node: Node, declared: Declared, initial: Node | None) -> None:
    """Declares an array that each thread has for itself, with what its initialiser says."""
    element, inner = element_of(declared.type)
    lanes = element_type(state, element)
    if lanes is None:
        reason = f"array of type {element.name}"
        state.bind(declared.name, state.opaque(node, reason, kind=OpaqueKind.DTYPE))
        return
    if element.kind is TypeKind.POINTER:
        _pointers(state, node, declared, initial)
        return
    dtype, extra = lanes
    extents = _array_extents(state, declared, initial, inner)
    if any(map(refs_in, extents)):
        state.bind(declared.name, state.opaque(node, "array whose size is computed as it runs", kind=OpaqueKind.MEMORY))
        return
    shape = tuple(extents) + tuple(integer(count) for count in extra)
    buffer = state.allocate(declared.name, dtype, shape)
    place = Place(buffer.name, (), element, len(extents))
    state.bind(declared.name, place)
    if element.kind is TypeKind.RECORD:
        counts = tuple(constant_value(extent) or 0 for extent in extents)
        state.make_array(place, counts, initial, node)
        return
    if initial is None:
        return
    text = spelled(initial) if len(extents) == 1 and holds_characters(dtype) else None
    if text is not None:
        spell(state, place, text)
        return
    items = placed_items(initial, extents)
    if items is None:
        state.keep(initial, "initialiser of an array", kind=OpaqueKind.MEMORY)
        return
    fill(state, buffer, Const(0.0, dtype) if dtype.is_float else Const(0, dtype))
    lanes_of_one = prod(extra)
    for position, item in items:
        target = Place(buffer.name, (integer(position * lanes_of_one),), element)
        value = initial_value(state, element, item.named if item.type == "initializer_list" else [item], item)
        if not _is_zero(value):
            write(state, target, value, item)


def _pointers(state: State, node: Node, declared: Declared, initial: Node | None) -> None:
    """A local array of pointers."""
    items = initial.named if initial is not None else []
    type_ = arrays_of(state, declared)
    if len(declared.extents) == 1 and declared.extents[0] is None:
        type_ = replace(type_, extent=len(items))
    value = pointers(state, declared.name, type_, None, node)
    state.bind(declared.name, value)
    for (_, member), item in zip(value.members if isinstance(value, Aggregate) else (), items, strict=False):
        write(state, member, state.evaluate(item), item)


def _array_extents(state: State, declared: Declared, initial: Node | None, inner: Sequence[Expr]) -> list[Expr]:
    """The extents of an array; that which is left out follows from the list that initialises it."""
    given = [
        None if extent is None else scalar(state, state.evaluate(extent), extent).expr for extent in declared.extents
    ]
    others = [*(extent for extent in given[1:] if extent is not None), *inner]
    if not given:  # an alias of an array type has its extents
        return others
    text = spelled(initial)
    stated = len(text) if text is not None else first_extent(initial, others) or 0
    first = given[0] if given[0] is not None else integer(stated)
    return [first, *others]


def fill(state: State, buffer: Buffer, value: Const) -> None:
    """Fills the whole of a local array."""
    axes = tuple(
        Axis(state.unique(f"{buffer.name}.{position}"), AxisKind.FREE, extent)
        for position, extent in enumerate(buffer.shape)
    )
    index = tuple(Symbol(axis.name, INT32) for axis in axes)
    state.builder.emit(Store, access=Access(buffer=buffer.name, index=index, axes=axes), value=value, via="=")


def _is_zero(value: Value) -> bool:
    return isinstance(value, Scalar) and isinstance(value.expr, Const) and value.expr.value == 0
