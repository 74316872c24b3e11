"""Where a body returns, seen from its form."""

from __future__ import annotations

from collections.abc import Mapping

from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.frontends.cuda.text.lexer import significant
from portcheck.frontends.cuda.text.macros import Macro

_KEYWORDS = frozenset({"return", "goto", "break", "continue", "throw", "co_return"})
_JUMPS = tuple(f"{keyword}_statement" for keyword in sorted(_KEYWORDS))
LOOPS = frozenset({"for_statement", "while_statement", "do_statement", "for_range_loop"})


def always_returns(node: Node | None) -> bool:
    """Whether a statement returns on every path, seen from its form."""
    if node is None:
        return False
    match node.type:
        case "return_statement":
            return True
        case "compound_statement" | "else_clause":
            return any(always_returns(child) for child in node.named)
        case "if_statement":
            return always_returns(node.field("consequence")) and always_returns(node.field("alternative"))
        case _:
            pass
    return False


def returns(body: Node) -> bool:
    """Whether a statement in `body` returns from the function it stands in."""
    return any(not _inside_lambda(node, body) for node in body.found("return_statement"))


def may_jump(node: Node, macros: Mapping[str, Macro]) -> bool:
    """Whether what stands in `node` may end an iteration, a loop or the function around it; macros are looked into."""
    if any(not _inside_lambda(found, node) for found in node.found(*_JUMPS)):
        return True
    names = {found.text for found in node.found("identifier")} & macros.keys() if macros else ()
    return any(token.text in _KEYWORDS for name in names for token in significant(macros[name].body))


def returns_early(body: Node) -> bool:
    """Whether a function may return before its last statement."""
    found = [node for node in body.found("return_statement") if not _inside_lambda(node, body)]
    last = body.named[-1] if body.named else None
    return len(found) > 1 or (len(found) == 1 and (last is None or found[0].key != last.key))


def returns_inside_loop(body: Node) -> bool:
    """Whether a return stands where leaving the function is more than choosing a branch."""
    may_jump = bool(body.found("goto_statement"))  # to what follows the return
    return any(
        not _inside_lambda(node, body) and (may_jump or _is_trapped(node, body))
        for node in body.found("return_statement")
    )


def _is_trapped(node: Node, body: Node) -> bool:
    """Whether a loop, a switch, or an `if` that does not always return, holds the return."""
    current = node.parent
    while current is not None and current.key != body.key:
        if current.type in LOOPS or current.type == "switch_statement":
            return True
        if current.type == "if_statement":
            following = _is_last(current)
            consequence = current.field("consequence")
            if not following and not always_returns(current) and not always_returns(consequence):
                return True
            if not following and not always_returns(current) and not _holds(consequence, node):
                return True
        current = current.parent
    return False


def _is_last(node: Node) -> bool:
    parent = node.parent
    if parent is None or parent.type != "compound_statement":
        return True
    return parent.named[-1].key == node.key


def _holds(outer: Node | None, inner: Node) -> bool:
    return outer is not None and outer.start <= inner.start and inner.end <= outer.end


def _inside_lambda(node: Node, body: Node) -> bool:
    current = node.parent
    while current is not None and current.key != body.key:
        if current.type == "lambda_expression":
            return True
        current = current.parent
    return False
