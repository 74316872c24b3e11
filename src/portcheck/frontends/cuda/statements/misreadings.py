"""What the grammar reads as something else: `T<a> x = v;` in a body may come as the comparison `T < a > x = v`."""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.core.source import SourceFile
from portcheck.frontends.cuda.memory.places import read
from portcheck.frontends.cuda.model.callsite import qualified_name
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import DEDUCED, Declared, named_type
from portcheck.frontends.cuda.model.values import CType, TypeKind
from portcheck.frontends.cuda.parsing.parse import parse
from portcheck.frontends.cuda.parsing.syntax import Node, bare
from portcheck.frontends.cuda.statements.declarations import declare_variable
from portcheck.ir import OpaqueKind
from portcheck.knowledge import ConstructKind


@dataclass(frozen=True, slots=True)
class Misread:
    """A declaration in disguise: the type's name, the variable, its initial value."""

    node: Node
    type_name: str
    variable: str
    value: Node | None


def misread_declaration(state: State, node: Node) -> Misread | None:
    """The declaration that the expression `node` really is; None where it is the expression it looks like."""
    node = bare(node)
    left, name = node.field("left"), node.field("right")
    value: Node | None = None
    if name is not None and name.type == "assignment_expression":
        value = name.field("right")
        name = name.field("left")
    if node.type != "binary_expression" or not node.has(">") or left is None or name is None:
        return None
    if name.type != "identifier" or left.type != "binary_expression" or not left.has("<"):
        return None
    type_node = left.field("left")
    type_name = qualified_name(state, type_node)[0] if type_node is not None else ""
    return Misread(node, type_name, name.text, value) if _is_type(state, type_name) else None


def declares_indirectly(state: State, node: Node) -> Node | None:
    """`T (*p)[4] = v;`, which the grammar reads as an element of a call, as the declaration it is; else None."""
    target = node.field("left") if node.type == "assignment_expression" else node
    while target is not None and target.type == "subscript_expression":
        target = target.field("argument")
    if target is None or target is node or target.type != "call_expression":
        return None
    function, arguments = target.field("function"), target.field("arguments")
    inner = arguments.named[0] if arguments is not None and len(arguments.named) == 1 else None
    if function is None or inner is None or inner.type != "pointer_expression":
        return None
    if named_type(state, function.text, at=function).kind is TypeKind.UNKNOWN:
        return None
    text = f"void f() {{ register {node.text}; }}"
    unit = parse(SourceFile(node.span.path, text), text, fixed=node.span)
    return next(iter(unit.root.found("declaration")), None) if not unit.root.is_broken else None


def _is_type(state: State, name: str) -> bool:
    if not name:
        return False
    construct = state.construct(name)
    is_known = construct is not None and construct.kind is ConstructKind.TYPE
    return is_known or name.rpartition("::")[2] in state.definitions.types


def declare_misread(state: State, found: Misread, scope: Node | None) -> None:
    """Declares the variable."""
    if found.value is None:
        type_ = CType(kind=TypeKind.UNKNOWN, name=found.type_name)
        value = state.opaque(found.node, f"variable of type {type_.name}", kind=OpaqueKind.DTYPE)
        state.bind(found.variable, value)
        return
    initial = read(state, state.evaluate(found.value), found.value)
    declare_variable(state, found.node, Declared(found.variable, DEDUCED), initial, scope)
