"""Constructors by which a record says itself how a copy is made, and whether that is the copy it would be anyway."""

from __future__ import annotations

from portcheck.frontends.cuda.functions.methods import functions_of, record_of
from portcheck.frontends.cuda.model.records import Record
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import element_type_of
from portcheck.frontends.cuda.parsing.definitions import Function, declared_name
from portcheck.frontends.cuda.parsing.references import is_reference
from portcheck.frontends.cuda.parsing.syntax import Node, bare

_LVALUES = frozenset(
    {"identifier", "type_identifier", "field_expression", "subscript_expression", "pointer_expression"}
)
_CHOICES = frozenset({"conditional_expression", "assignment_expression", "comma_expression", "update_expression"})
_FUNCTIONS = frozenset({"function_definition", "lambda_expression"})
_HANDED_ON = frozenset({"move", "forward", "ref", "cref"})


def copying(state: State, record: Record) -> list[Function]:
    """The constructors of a record whose text is at hand and that take a value of its own type by reference."""
    own = [function for holder, function in functions_of(state, record, record.simple_name) if holder is record]
    return [function for function in own if function.body is not None and _takes_its_like(function, record)]


def _takes_its_like(function: Function, record: Record) -> bool:
    first = function.parameters[0] if function.parameters else None
    specifier = first.field("type") if first is not None else None
    is_own = specifier is not None and specifier.text.partition("<")[0] == record.simple_name
    return first is not None and is_own and is_reference(first.field("declarator"))


def is_lvalue(node: Node) -> bool:
    """Whether an expression names something that goes on to exist."""
    return bare(node).type in _LVALUES


def may_be_lvalue(node: Node) -> bool:
    """Whether an expression may give something that exists already, in a form other than its name."""
    node = bare(node)
    function = node.field("function") if node.type == "call_expression" else None
    if function is not None:
        return function.text.partition("<")[0].rpartition("::")[2] in _HANDED_ON
    return node.type in _CHOICES


def may_be_elided(node: Node) -> bool:
    """Whether C++ lets a compiler leave out the copy that `return` makes of what `node` names: not of a parameter."""
    name, around = bare(node), node.parent
    if name.type != "identifier":
        return False
    while around is not None and around.type not in _FUNCTIONS:
        around = around.parent
    declarator = around.field("declarator") if around is not None else None
    listed = declarator.found("parameter_declaration") if declarator is not None else []
    return all(declared_name(parameter.field("declarator")) != name.text for parameter in listed)


def copies_otherwise(state: State, record: Record) -> bool:
    """Whether a copy of a record, or of a part of it, is made by text that does more than to copy its members."""
    if any(not _is_plain(record, function) for function in copying(state, record)):
        return True
    inner = (record_of(state, element_type_of(type_)) for _, type_ in record.type.fields if not type_.reference)
    return any(found is not None and copies_otherwise(state, found) for found in inner)


def _is_plain(record: Record, function: Function) -> bool:
    """Whether a constructor copies every member, and does nothing else."""
    other = declared_name(function.parameters[0].field("declarator"))
    clause = next((child for child in function.node.named if child.type == "field_initializer_list"), None)
    listed = [item for item in (clause.named if clause is not None else []) if item.type != "comment"]
    copied = [_initialised(item, other) for item in listed]
    copied += [_assigned(item, other) for item in (function.body.named if function.body else []) if item.named]
    return sorted(copied) == sorted(name for name, _ in record.type.fields)


def _initialised(item: Node, other: str) -> str:
    """The member that `name(other.name)` copies; empty for anything else."""
    if len(item.named) != 2 or len(item.named[1].named) != 1:
        return ""
    name, source = item.named[0].text, item.named[1].named[0].text
    return name if source == f"{other}.{name}" else ""


def _assigned(item: Node, other: str) -> str:
    """The member that `name = other.name;` copies; empty for anything else."""
    inner = item.named[0] if item.type == "expression_statement" and item.named else None
    left, right = (inner.field("left"), inner.field("right")) if inner is not None else (None, None)
    if left is None or right is None or inner is None or inner.type != "assignment_expression":
        return ""
    name = left.text.removeprefix("this->")
    return (
        name if right.text == f"{other}.{name}" and inner.text.replace(" ", "") == f"{left.text}={right.text}" else ""
    )
