"""Going through Python's own trees, several times faster than its `ast.walk` does."""

from __future__ import annotations

import ast

_LEAVES = ("ctx", "op", "ops", "lineno", "col_offset", "end_lineno", "end_col_offset", "type_comment")
"""Fields that hold no text: what a name is used for, and operators."""


class _Fields(dict[type[ast.AST], tuple[str, ...]]):
    """The fields of each class of nodes that may hold nodes."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        self[kind] = tuple(name for name in kind._fields if name not in _LEAVES)
        return self[kind]


class _Kinds(dict[type, bool]):
    """Which classes are those of nodes."""

    def __missing__(self, kind: type) -> bool:
        self[kind] = issubclass(kind, ast.AST)
        return self[kind]


_FIELDS = _Fields()
_IS_NODE = _Kinds()


def below(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below `node`, in order, without operators."""
    found: list[ast.AST] = []
    for name in _FIELDS[type(node)]:
        value = getattr(node, name, None)
        kind = type(value)
        if kind is list:
            found.extend([item for item in value if _IS_NODE[type(item)]])  # type: ignore[union-attr]  # a list
        elif _IS_NODE[kind]:
            found.append(value)  # type: ignore[arg-type]  # a node
    return found


def nodes_in(tree: ast.AST) -> list[ast.AST]:
    """`tree` and all nodes below it, those that stand less deep first."""
    found = [tree]
    for node in found:
        found.extend(below(node))
    return found
