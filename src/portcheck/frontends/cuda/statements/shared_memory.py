"""Shared arrays and variables: one for a block, where and however often they are declared."""

from __future__ import annotations

from portcheck.core.dtype import INT32
from portcheck.frontends.cuda.memory.places import pointer_of, scalar, whole
from portcheck.frontends.cuda.memory.vectors import element_type
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import Declared
from portcheck.frontends.cuda.model.values import Buffer, CType, Place, Pointer, Value
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.frontends.cuda.statements.arrays import element_of
from portcheck.ir import Alloc, Expr, OpaqueKind, Space, Symbol, ValueType, integer

SHARED = "__shared__"


def shared_variable(state: State, node: Node, declared: Declared) -> Value:
    """A shared array or variable; its one allocation stands at the head of the kernel.

    An array of a helper is one array however often the helper is called, but one for each instance of a template.
    """
    element, inner = element_of(declared.type)
    lanes = element_type(state, element)
    if lanes is None:
        return state.opaque(node, f"shared memory of type {element.name}", kind=OpaqueKind.DTYPE)
    is_dynamic = declared.extents[:1] == (None,) or (node.has("extern") and not declared.extents)
    with state.builder.region() as hoisted:
        given = [extent for extent in declared.extents if extent is not None]
        extents = [*(_extent(state, extent) for extent in given), *inner]
        named = (SHARED, declared.name, node.key, tuple(extents), state.instance)
        key = (SHARED,) if is_dynamic else named
        if key not in state.shared_once:
            name = state.unique(declared.name)
            if is_dynamic:
                extents = [Symbol(f"{name}.size", INT32), *extents]
            shape = tuple(extents) + tuple(integer(count) for count in lanes[1])
            state.shared_once[key] = name
            state.buffers[name] = Buffer(name, lanes[0], shape, space=Space.SHARED)
            type_ = ValueType(lanes[0], shape, Space.SHARED)
            state.builder.emit(Alloc, name=name, type=type_, dynamic=is_dynamic, via=SHARED)
            state.hoisted.extend(hoisted)
    name = state.shared_once[key]
    dimensions = is_dynamic + len(given) + len(inner)
    rank = dimensions + len(lanes[1])
    if is_dynamic and (state.buffers[name].dtype, len(state.buffers[name].shape)) != (lanes[0], rank):
        return _same_memory(state, node, name, element, dimensions)
    return whole(state, Place(name, (), element, dimensions))


def _same_memory(state: State, node: Node, name: str, element: CType, dimensions: int) -> Value:
    """Another array of dynamic shared memory than the first: all of them begin where that does."""
    first = pointer_of(state, Place(name, (), element, len(state.buffers[name].shape)))
    if first is None or dimensions > 1:
        return state.opaque(node, "another array of dynamic shared memory", kind=OpaqueKind.DTYPE)
    return Pointer(first.buffer, first.index, element)


def _extent(state: State, node: Node) -> Expr:
    """The extent of a shared array; a symbol named by its text where it is no constant that could be read."""
    with state.builder.region() as emitted:
        value = scalar(state, state.evaluate(node), node)
    is_known = not emitted and not value.is_data
    return value.expr if is_known else Symbol(f"size({' '.join(node.text.split())})", INT32)
