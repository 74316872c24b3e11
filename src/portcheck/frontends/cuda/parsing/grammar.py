"""The grammar: its parser and its searches. The only file that loads tree-sitter, and only when first asked."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser, Query


@cache
def _language() -> Language:
    import tree_sitter
    import tree_sitter_cuda

    return tree_sitter.Language(tree_sitter_cuda.language())


@cache
def parser() -> Parser:
    """The parser."""
    import tree_sitter

    return tree_sitter.Parser(_language())


@cache
def _query(kinds: tuple[str, ...]) -> Query:
    import tree_sitter

    return tree_sitter.Query(_language(), f"[{' '.join(f'({kind})' for kind in kinds)}] @found")


def is_wider(node: Node, most: int) -> bool:
    """Whether a node at or below `node` has more than `most` children, which the library is quadratic in."""
    stack = [node]
    while stack:
        parent = stack.pop()
        if parent.child_count > most:
            return True
        stack.extend(child for child in parent.children if child.descendant_count > most)
    return False


def is_deeper(node: Node, most: int) -> bool:
    """Whether `node` goes down more than `most` levels, which the library is quadratic in."""
    level, depth = [node], 1
    while level and depth <= most:
        level = [child for parent in level for child in parent.children if child.descendant_count > most - depth]
        depth += 1
    return bool(level)


def walk(node: Node, kinds: tuple[str, ...]) -> list[Node]:
    """What `search` gives, found in linear time whatever the shape of the tree."""
    wanted = frozenset(kinds)
    found: list[Node] = []
    stack = [node]
    while stack:
        current = stack.pop()
        is_wanted = current.is_missing if "MISSING" in wanted else False
        if is_wanted or (current.is_named and current.type in wanted):
            found.append(current)
        if current.child_count:
            stack.extend(reversed(current.children))
    return found


def search(node: Node, kinds: tuple[str, ...]) -> list[Node]:
    """The named nodes of these kinds at and below `node`, in the order of the text, parents first."""
    import tree_sitter

    found = tree_sitter.QueryCursor(_query(kinds)).captures(node).get("found", [])
    return sorted(found, key=lambda node: (node.start_byte, -node.end_byte, node.type))  # captures come in no order
