"""`auto [a, b] = v`: names for the members of a record or vector, or the elements of an array."""

from __future__ import annotations

from portcheck.core.dtype import INT32
from portcheck.frontends.cuda.memory.members import member_place, member_value
from portcheck.frontends.cuda.memory.places import element, read
from portcheck.frontends.cuda.model.constants import constant_value
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import Declared, base_type, complete, type_of_value
from portcheck.frontends.cuda.model.values import BASE, Aggregate, Lost, Place, Scalar, TypeKind, Value
from portcheck.frontends.cuda.parsing.references import is_reference
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.frontends.cuda.statements.declarations import bind_reference, declare_variable
from portcheck.ir import Const, OpaqueKind

_BINDING = "structured_binding_declarator"
_SEVERAL = frozenset({TypeKind.VECTOR, TypeKind.RECORD})


def names_bound(declarator: Node | None) -> Node | None:
    """The list of names that a declarator binds; None for one that declares a variable."""
    node = declarator
    while node is not None and node.type in ("init_declarator", "reference_declarator"):
        node = node.field("declarator") or next(iter(node.named), None)
    return node if node is not None and node.type == _BINDING else None


def binds_names(declaration: Node) -> bool:
    """Whether a declaration binds the names of parts."""
    return names_bound(declaration.field("declarator")) is not None


def bind_all(state: State, declaration: Node, scope: Node | None) -> None:
    """A declaration that binds the names of parts of a value; `scope` is the block it stands in."""
    declarator = declaration.field("declarator")
    value = declarator.field("value") if declarator is not None else None
    if declarator is None or value is None:
        state.keep(declaration, "names for parts of nothing")
        return
    source = value.named[0] if value.type in ("initializer_list", "argument_list") and value.named else value
    bind_parts(state, declaration, (source, state.evaluate(source)), scope)


def bind_parts(state: State, declaration: Node, given: tuple[Node, Value], scope: Node | None) -> None:
    """Binds the names that `declaration` lists to the parts of a value, or to copies of them."""
    node, value = given
    declarator = declaration.field("declarator")
    listed = names_bound(declarator)
    names = [child.text for child in (listed.named if listed is not None else ()) if child.type == "identifier"]
    parts = _parts(state, value)
    if declarator is None or parts is None or len(parts) != len(names):
        lost = state.opaque(node, "names for parts that are not known", kind=OpaqueKind.DTYPE)
        for name in names:
            state.bind(name, lost)
        return
    type_ = base_type(state, declaration)
    if not is_reference(declarator):
        parts = [read(state, part, node) for part in parts]
    for name, part in zip(names, parts, strict=True):
        if is_reference(declarator):
            bind_reference(state, Declared(name, type_), part, node)
        else:
            declare_variable(state, declaration, Declared(name, type_), part, scope)


def _parts(state: State, value: Value) -> list[Value] | None:
    """The members or elements of a value, in order; None where they are not known."""
    if isinstance(value, Lost):
        return None
    if isinstance(value, Place) and (value.remaining or value.type.kind is TypeKind.ARRAY):
        return _elements(state, value)
    own = type_of_value(value)
    type_ = complete(state, own) if own is not None else None
    if type_ is None or type_.kind not in _SEVERAL or any(name.startswith(BASE) for name, _ in type_.fields):
        return None
    found: list[Value | None] = []
    for name, _ in type_.fields:
        if isinstance(value, Aggregate):
            found.append(member_value(value, name))
        else:
            found.append(member_place(state, value, name) if isinstance(value, Place) else None)
    known = [part for part in found if part is not None]
    return known if len(known) == len(found) else None


def _elements(state: State, array: Place) -> list[Value] | None:
    count: int | None = array.type.extent
    if array.remaining:
        shape = state.buffers[array.buffer].shape if array.buffer in state.buffers else ()
        count = constant_value(shape[len(array.index)]) if len(array.index) < len(shape) else None
    found = [element(state, array, Scalar(Const(position, INT32), INT32)) for position in range(count or 0)]
    known = [part for part in found if part is not None]
    return list(known) if known and len(known) == len(found) else None
