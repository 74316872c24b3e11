"""A call as written: what is called, with which template and ordinary arguments."""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import named_type, type_of
from portcheck.frontends.cuda.model.values import TypeKind
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.knowledge import Construct, Role


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call: `name` without template arguments, as written; `via` is what reports call it."""

    node: Node
    name: str
    templates: tuple[Node, ...]
    arguments: tuple[Node, ...]

    @property
    def via(self) -> str:
        """The name for the mapping table."""
        return self.name

    def at(self, construct: Construct, role: Role) -> Node | None:
        """The argument that plays `role`."""
        position = construct.index_of(role)
        if position is None or position >= len(self.arguments):
            return None
        return self.arguments[position]

    def all(self, construct: Construct, role: Role) -> list[Node]:
        """All arguments that play `role`."""
        pairs = zip(construct.parameters, self.arguments, strict=False)
        return [argument for parameter, argument in pairs if parameter.role is role]


def read_call(state: State, node: Node, function: Node | None, arguments: Node | None) -> CallSite | None:
    """The call of `function`; None where what is called is no name."""
    if function is None:
        return None
    name, templates = qualified_name(state, function)
    if not name:
        return None
    return CallSite(node, name, tuple(templates), tuple(arguments.named if arguments is not None else ()))


def qualified_name(state: State, node: Node) -> tuple[str, list[Node]]:
    """A name with its scopes, template arguments of the last part apart; ("", []) where it is none.

    Template arguments of a scope (`numeric_limits<T>::max`) are types, and written as what they stand for.
    """
    match node.type:
        case "identifier" | "primitive_type" | "type_identifier" | "sized_type_specifier" | "namespace_identifier":
            return node.text, []
        case "template_function" | "template_type" | "template_method":
            name, listed = node.field("name"), node.field("arguments")
            return (name.text if name is not None else ""), (listed.named if listed is not None else [])
        case "dependent_name" | "dependent_type":
            return qualified_name(state, node.named[-1]) if node.named else ("", [])
        case "qualified_identifier":
            scope, inner = node.field("scope"), node.field("name")
            if inner is None:
                return "", []
            last, given = qualified_name(state, inner)
            return f"{_scope_text(state, scope)}::{last}", given
        case _:
            pass
    return "", []


def _scope_text(state: State, scope: Node | None) -> str:
    if scope is None:
        return ""
    name, templates = qualified_name(state, scope)
    if not templates:
        return name
    return f"{name}<{', '.join(_type_text(state, argument) for argument in templates)}>"


def _type_text(state: State, node: Node) -> str:
    type_ = type_of(state, node)
    if type_.kind is TypeKind.SCALAR and type_.dtype is not None:
        written = named_type(state, type_.name)
        spelling = state.knowledge.dtype(type_.dtype.name)
        if written.dtype != type_.dtype and spelling is not None and spelling.cuda:
            return spelling.cuda[0]
        return spelling.cuda[0] if type_.name == type_.dtype.name and spelling and spelling.cuda else type_.name
    return node.text
