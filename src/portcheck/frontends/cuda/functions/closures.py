"""Lambdas where they are made: what they capture by copy keeps the value it has there."""

from __future__ import annotations

from portcheck.core.dtype import INT32
from portcheck.frontends.cuda.functions.changes import mutations_of
from portcheck.frontends.cuda.memory.places import pointer_of, read
from portcheck.frontends.cuda.model.conversions import materialised
from portcheck.frontends.cuda.model.frames import Binding
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import as_constant
from portcheck.frontends.cuda.model.values import Aggregate, Closure, CType, Place, PointerCell, Scalar, Slot, Value
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import Access, Axis, AxisKind, Copy, Space, Symbol


def closure(state: State, node: Node) -> Closure:
    """The value of a lambda expression."""
    body = node.field("body")
    captures = next((child for child in node.named if child.type == "lambda_capture_specifier"), None)
    if captures is None or body is None:
        return Closure(node, tuple(state.scopes))
    changes = mutations_of(state, body)
    is_mutable = _is_mutable(node)
    held = state.new_scope()

    def kept(name: str, bound: Binding) -> Binding:
        is_changed = is_mutable and changes.is_changed(name, body.start, body.end)
        found = _kept(state, node, name, bound, is_changed)
        return as_constant(found, not is_mutable) if isinstance(found, Aggregate | Place) else found

    for name in _copied(captures, body):
        bound = state.lookup(name)
        if bound is not None:
            held[name] = kept(name, bound)
    for initial in (child for child in captures.named if child.type == "lambda_capture_initializer"):
        named, value = initial.field("left") or initial.named[0], initial.field("right") or initial.named[-1]
        found = state.evaluate(value)
        held[named.text] = found if initial.text.startswith("&") else kept(named.text, found)
    return Closure(node, (*state.scopes, held))


def _copied(captures: Node, body: Node) -> list[str]:
    """The names that are captured by copy: listed without `&`, or used in the body where that is the default."""
    listed: list[str] = []
    others: set[str] = set()
    before = ""
    for child in captures.children:
        if child.type == "identifier" and before == "&":
            others.add(child.text)
        elif child.type == "identifier":
            listed.append(child.text)
        before = child.text
    if any(child.type == "lambda_default_capture" and child.text == "=" for child in captures.named):
        used = dict.fromkeys(found.text for found in body.found("identifier"))
        listed.extend(name for name in used if name not in others)
    return listed


def _kept(state: State, node: Node, name: str, bound: Binding, is_changed: bool) -> Binding:
    """What `bound` is now; a variable of its own where the lambda changes it."""
    if isinstance(bound, Place) and bound.remaining:
        return _copy_of(state, name, bound)
    if isinstance(bound, PointerCell | Slot):
        return pointer_of(state, bound) or bound
    if isinstance(bound, CType) or not isinstance(bound, Place | Scalar | Aggregate):
        return bound
    value = read(state, bound, node)
    if not is_changed or not isinstance(value, Scalar):
        return value
    place = state.register(name, value.dtype)
    state.store(place, materialised(state, value))
    return place


def _is_mutable(node: Node) -> bool:
    """Whether a lambda may change its copies."""
    declarator = node.field("declarator")
    return any(child.has("mutable") for child in (declarator.named if declarator is not None else ()))


def _copy_of(state: State, name: str, array: Place) -> Value:
    """A local array copied as a whole; memory that all threads see is no part of a lambda, and a constant stays so."""
    buffer = state.buffers.get(array.buffer)
    if buffer is None or buffer.constant or buffer.space is not Space.REGISTER:
        return array
    shape = buffer.shape[len(array.index) :]
    made = state.allocate(name, buffer.dtype, shape)
    axes = tuple(
        Axis(state.unique(f"{made.name}.{position}"), AxisKind.FREE, extent) for position, extent in enumerate(shape)
    )
    index = tuple(Symbol(axis.name, INT32) for axis in axes)
    to = Access(buffer=made.name, index=index, axes=axes, mask=state.mask)
    from_ = Access(buffer=array.buffer, index=(*array.index, *index), axes=axes, mask=state.mask)
    state.builder.emit(Copy, destination=to, source=from_)
    return Place(made.name, (), array.type, array.remaining)
