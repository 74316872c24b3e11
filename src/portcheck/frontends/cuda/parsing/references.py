"""Declarators that name what is there already, seen from their form."""

from __future__ import annotations

from portcheck.frontends.cuda.parsing.syntax import Node

_AROUND = frozenset({"init_declarator", "parenthesized_declarator", "attributed_declarator", "variadic_declarator"})


def is_reference(declarator: Node | None) -> bool:
    """Whether `declarator` declares a reference (to a pointer, too), be it to what may be changed or not."""
    return _reference(declarator) is not None


def may_change(declaration: Node, declarator: Node | None) -> bool:
    """Whether `declarator` declares a reference that what it names may be changed through."""
    found = _reference(declarator)
    if found is None:
        return False
    around = found.parent
    is_pointer = around is not None and around.type == "pointer_declarator"
    holder = around if is_pointer and around is not None else declaration
    return not any(child.type == "type_qualifier" and child.text in ("const", "constexpr") for child in holder.named)


def _reference(declarator: Node | None) -> Node | None:
    """The part of a declarator that makes it a reference; None for a function that returns one."""
    node = declarator
    while node is not None:
        if node.type in ("reference_declarator", "abstract_reference_declarator"):
            is_function = bool(node.named) and node.named[-1].type == "function_declarator"
            return None if is_function else node
        if node.type == "pointer_declarator":
            node = node.field("declarator")
        elif node.type in _AROUND:
            node = node.field("declarator") or next(iter(node.named), None)
        else:
            return None
    return None
