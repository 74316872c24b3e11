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


def search(node: Node, kinds: tuple[str, ...]) -> list[Node]:
    """The named nodes of these kinds at and below `node`, in the order of the text, parents first."""
    import tree_sitter

    found = tree_sitter.QueryCursor(_query(kinds)).captures(node).get("found", [])
    return sorted(found, key=lambda node: (node.start_byte, -node.end_byte, node.type))  # captures come in no order
