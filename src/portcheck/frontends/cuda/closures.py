"""Lambdas where they are made: what they capture by copy keeps the value it has there."""

from __future__ import annotations

from portcheck.frontends.cuda.conversions import materialised
from portcheck.frontends.cuda.frames import Binding
from portcheck.frontends.cuda.mutations import Mutations
from portcheck.frontends.cuda.places import pointer_of, read
from portcheck.frontends.cuda.state import State
from portcheck.frontends.cuda.syntax import Node
from portcheck.frontends.cuda.values import Aggregate, Closure, CType, Place, PointerCell, Scalar, Slot


def closure(state: State, node: Node) -> Closure:
    """The value of a lambda expression."""
    body = node.field("body")
    captures = next((child for child in node.named if child.type == "lambda_capture_specifier"), None)
    if captures is None or body is None:
        return Closure(node, tuple(state.scopes))
    changes = Mutations(body, lambda call, position: False)
    held = state.new_scope()
    for name in _copied(captures, body):
        bound = state.lookup(name)
        if bound is not None:
            held[name] = _kept(state, node, name, bound, changes.is_changed(name, body.start, body.end))
    for initial in (child for child in captures.named if child.type == "lambda_capture_initializer"):
        named, value = initial.field("left") or initial.named[0], initial.field("right") or initial.named[-1]
        is_reference = initial.text.startswith("&")
        found = state.evaluate(value)
        is_changed = changes.is_changed(named.text, body.start, body.end)
        held[named.text] = found if is_reference else _kept(state, node, named.text, found, is_changed)
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
        return bound
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
