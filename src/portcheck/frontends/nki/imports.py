"""What the imported names of a file mean: aliases resolved to qualified names."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

ROOT = "nki"
LEGACY_ROOT = "neuronxcc.nki"


def aliases_in(tree: ast.AST) -> Mapping[str, str]:
    """The qualified name of every name that an import anywhere in `tree` binds; the last import of a name wins."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        found.update(bindings(node))
    return found


def bindings(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The (name, qualified name) pairs that the statement `node` binds if it is an import."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.asname:
                yield alias.asname, alias.name
            else:
                root = alias.name.partition(".")[0]
                yield root, root
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        for alias in node.names:
            if alias.name != "*":
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def qualified(node: ast.expr, aliases: Mapping[str, str]) -> str:
    """The qualified name of a dotted expression, "" when its root is not imported."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in aliases:
        return ""
    return ".".join([aliases[node.id], *reversed(parts)])


def is_nki(name: str) -> bool:
    """Whether the qualified `name` lies in NKI of any generation."""
    return any(name == root or name.startswith(root + ".") for root in (ROOT, LEGACY_ROOT))


def is_legacy(name: str) -> bool:
    """Whether the qualified `name` lies in the first generation."""
    return name == LEGACY_ROOT or name.startswith(LEGACY_ROOT + ".")


def inside(name: str) -> str:
    """What follows the root package in the qualified `name` of NKI."""
    root = LEGACY_ROOT if is_legacy(name) else ROOT
    return name[len(root) + 1 :]
