"""Which functions of a file are kernels."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping

from portcheck.frontends.nki.source.imports import imported_by, inside, is_nki, qualified
from portcheck.frontends.nki.source.nodes import below, nodes_in
from portcheck.frontends.nki.source.screen import statements_in
from portcheck.knowledge import Knowledge, Semantics

_DECORATORS = frozenset({"jit", "baremetal", "benchmark", "profile", "trace", "nki_jit", "simulate_kernel"})
Definition = ast.FunctionDef | ast.AsyncFunctionDef


def kernels_in(
    tree: ast.Module, aliases: Mapping[str, str], knowledge: Knowledge, wrapped: Collection[str] = ()
) -> tuple[Definition, ...]:
    """The decorated functions and those that are `wrapped` by a call.

    In a file without any, those that call NKI, themselves or through another such function, and that no other one
    calls, nor a method that calls NKI; who only calls such a function is one if it names something of NKI, else it
    belongs to the host.
    """
    definitions = (node for node in statements_in(tree) if isinstance(node, Definition))
    everywhere = sorted(definitions, key=lambda node: node.lineno)
    decorated = [
        node
        for node in everywhere
        if node.name in wrapped or any(is_marked(item, aliases, knowledge) for item in node.decorator_list)
    ]
    if decorated:
        return tuple(decorated)
    functions = list(_functions(tree.body))
    callers = _callers(functions, aliases)
    methods = [node for node in _methods(tree) if _calls_nki(node, aliases)]
    called = _called_from([*callers, *methods], functions)
    return tuple(node for node in callers if node.name not in called)


def _callers(functions: list[Definition], aliases: Mapping[str, str]) -> list[Definition]:
    """Those of `functions` that call NKI, themselves or through others of them."""
    names = {node.name for node in functions if _calls_nki(node, aliases)}
    others = [node for node in functions if node.name not in names and _names_nki(node, aliases)]
    found = {node.name for node in others if not names.isdisjoint(_called_names(node))}
    while not found <= names:
        names |= found
        found = {node.name for node in others if not names.isdisjoint(_called_names(node))}
    return [node for node in functions if node.name in names]


def _called_from(callers: Iterable[Definition], functions: Iterable[Definition]) -> set[str]:
    """The names that `callers` call, themselves or through other `functions` that they call."""
    within = {node.name: set(_called_names(node)) for node in functions}
    found, pending = set[str](), [name for node in callers for name in _called_names(node)]
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending.extend(within.get(name, ()))
    return found


def by_name(definitions: Iterable[Definition]) -> dict[str, Definition]:
    """The definitions by name; the second of a name `k` is `k#2`."""
    found: dict[str, Definition] = {}
    for node in definitions:
        count = 1 + sum(other.name == node.name for other in found.values())
        found[node.name if count == 1 else f"{node.name}#{count}"] = node
    return found


def statements_around(tree: ast.Module, node: ast.stmt) -> list[ast.stmt]:
    """The statements that hold `node`, outermost first, and `node` itself."""
    return [item for item in nodes_in(tree) if isinstance(item, ast.stmt) and _holds(item, node)]


def _holds(item: ast.stmt, node: ast.stmt) -> bool:
    is_near = item.lineno <= node.lineno <= (item.end_lineno or item.lineno)
    return is_near and any(child is node for child in nodes_in(item))


def names_bound_in(node: Definition) -> set[str]:
    """The names that a function binds: parameters, assigned names, what is defined in it."""
    found = {item.arg for item in nodes_in(node.args) if isinstance(item, ast.arg)}
    for item in nodes_in(node):
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store):
            found.add(item.id)
        elif isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and item is not node:
            found.add(item.name)
    return found


def names_bound_by(node: ast.AST) -> list[str]:
    """The names that the statement `node` binds in the block that it stands in, in order."""
    found: list[str] = []
    stack: list[ast.AST] = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, Definition | ast.ClassDef):
            found.append(item.name)
        elif isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store):
            found.append(item.id)
        elif isinstance(item, ast.Import | ast.ImportFrom):
            found.extend(bound.name for bound in imported_by(item))
        elif not isinstance(item, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            stack.extend(reversed(below(item)))
    return found


def _functions(body: list[ast.stmt]) -> Iterator[Definition]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        elif isinstance(node, ast.If | ast.Try | ast.With):
            for block in blocks_of(node):
                yield from _functions(block)


def _methods(tree: ast.Module) -> Iterator[Definition]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node.body)


def blocks_of(node: ast.If | ast.Try | ast.With) -> list[list[ast.stmt]]:
    """The blocks of statements that `node` holds."""
    blocks = [node.body]
    if isinstance(node, ast.If | ast.Try):
        blocks.append(node.orelse)
    if isinstance(node, ast.Try):
        blocks.extend(handler.body for handler in node.handlers)
        blocks.append(node.finalbody)
    return blocks


def is_marked(node: ast.expr, aliases: Mapping[str, str], knowledge: Knowledge) -> bool:
    """Whether the decorator `node` makes a kernel of what it decorates."""
    return is_kernel_mark(qualified(node.func if isinstance(node, ast.Call) else node, aliases), knowledge)


def is_kernel_mark(name: str, knowledge: Knowledge) -> bool:
    """Whether a decorator called `name` makes a kernel of what it decorates."""
    if not name:
        return False
    entry = knowledge.api_in_any_version(name)
    if entry is not None and entry.latest.semantics in (Semantics.DECORATOR, Semantics.MEASURE):
        return True
    word = name.rpartition(".")[2]
    return word in _DECORATORS and (is_nki(name) or word == "nki_jit")


def _calls_nki(node: Definition, aliases: Mapping[str, str]) -> bool:
    """Whether `node` calls something inside one of NKI's own packages, not only a decorator or a benchmark."""
    names = (qualified(item.func, aliases) for item in nodes_in(node) if isinstance(item, ast.Call))
    return any(is_nki(name) and "." in inside(name) for name in names)


def _names_nki(node: Definition, aliases: Mapping[str, str]) -> bool:
    """Whether something inside one of NKI's own packages is named in `node`, its annotations included."""
    attributes = (item for item in ast.walk(node) if isinstance(item, ast.Attribute))
    return any(is_nki(name) and "." in inside(name) for name in (qualified(item, aliases) for item in attributes))


def _called_names(node: Definition) -> Iterator[str]:
    for item in nodes_in(node):
        if isinstance(item, ast.Call) and isinstance(item.func, ast.Name) and item.func.id != node.name:
            yield item.func.id
