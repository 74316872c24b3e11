"""What the imported names of a file mean: aliases resolved to qualified names."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from portcheck.frontends.nki.source.screen import statements_in
from portcheck.knowledge import Knowledge

ROOT = "nki"
LEGACY_ROOT = "neuronxcc.nki"
_INSIDE = (f"{ROOT}.", f"{LEGACY_ROOT}.")


@dataclass(frozen=True, slots=True)
class Imported:
    """A name that an import binds: the module it is, or the `member` of the module it is ("*": all of them).

    `level` counts the dots in front of a relative module.
    """

    name: str
    module: str
    member: str | None = None
    level: int = 0


def imported_by(node: ast.AST) -> Iterator[Imported]:
    """What the statement `node` binds if it is an import."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            root = alias.name.partition(".")[0]
            yield Imported(alias.asname, alias.name) if alias.asname else Imported(root, root)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield Imported(alias.asname or alias.name, node.module or "", alias.name, node.level)


Follow = Callable[[Imported], str]
"""The qualified name that another file of the port gives to what is imported from it; "" where none does."""


def import_statements(tree: ast.AST) -> tuple[ast.stmt, ...]:
    """The imports anywhere in `tree`."""
    return tuple(node for node in statements_in(tree) if isinstance(node, ast.Import | ast.ImportFrom))


def aliases_in(statements: Iterable[ast.stmt], knowledge: Knowledge, follow: Follow) -> Mapping[str, str]:
    """The qualified name of every name that one of these imports binds; the last import of a name wins."""
    found: dict[str, str] = {}
    for node in statements:
        for item in imported_by(node):
            if item.member == "*":
                found.update(_starred(item, knowledge) if not item.level else {})
            elif qualified_name := follow(item) or _plain(item):
                found[item.name] = knowledge.releases.canonical(qualified_name)
    return found


def _plain(item: Imported) -> str:
    if item.level:
        return ""
    return item.module if item.member is None else f"{item.module}.{item.member}"


def _starred(item: Imported, knowledge: Knowledge) -> Mapping[str, str]:
    """The names that `from ... import *` takes out of a package of NKI."""
    names = knowledge.members(item.module) if is_nki(item.module) else ()
    return {name: f"{item.module}.{name}" for name in names}


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
    return name.startswith(_INSIDE) or name in (ROOT, LEGACY_ROOT)


def is_legacy(name: str) -> bool:
    """Whether the qualified `name` lies in the first generation."""
    return name == LEGACY_ROOT or name.startswith(LEGACY_ROOT + ".")


def inside(name: str) -> str:
    """What follows the root package in the qualified `name` of NKI."""
    root = LEGACY_ROOT if is_legacy(name) else ROOT
    return name[len(root) + 1 :]
