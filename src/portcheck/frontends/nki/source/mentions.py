"""Where a text names something of NKI: calls as they are written, and dotted names that are not called."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from portcheck.frontends.nki.source.imports import is_nki, qualified
from portcheck.frontends.nki.source.nodes import below
from portcheck.knowledge.fitting import Written


@dataclass(frozen=True, slots=True)
class Mention:
    """A place that names `name`; `written` is how it is called there, None where it is not."""

    name: str
    node: ast.expr
    written: Written | None = None


def mentions(tree: ast.AST, aliases: Mapping[str, str]) -> Iterator[Mention]:
    """Every longest dotted name in `tree` that an import resolves to something inside NKI, in the order of the text."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        called = qualified(node.func, aliases) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and is_nki(called):
            yield Mention(called, node, written_of(node))
            stack.extend(reversed([*node.args, *(keyword.value for keyword in node.keywords)]))
            continue
        name = qualified(node, aliases) if isinstance(node, ast.Attribute | ast.Name) else ""
        if isinstance(node, ast.expr) and is_nki(name) and "." in name:
            yield Mention(name, node)
        elif not name:
            stack.extend(reversed(below(node)))


def written_of(call: ast.Call) -> Written:
    """How many arguments `call` gives by position, and its keywords."""
    plain = [argument for argument in call.args if not isinstance(argument, ast.Starred)]
    keywords = tuple(keyword.arg for keyword in call.keywords if keyword.arg)
    is_open = len(plain) < len(call.args) or len(keywords) < len(call.keywords)
    return Written(len(plain), keywords, is_open)


def modules_imported(statements: Iterable[ast.stmt]) -> Iterator[str]:
    """The names of NKI that these imports name."""
    for node in statements:
        found = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom):
            module = node.module if not node.level else None
            found = [module if name == "*" else f"{module}.{name}" for name in found] if module else []
        yield from (name for name in found if is_nki(name))
