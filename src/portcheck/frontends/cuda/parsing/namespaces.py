"""Namespaces: which of several things of one name is meant where it is written, looked for from there outwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from portcheck.frontends.cuda.parsing.syntax import Node

_BLOCKS = frozenset({"compound_statement", "declaration_list", "translation_unit"})
_SCOPED = "qualified_identifier"
_SEPARATOR = "::"


def joined(outer: str, inner: str) -> str:
    """The namespace `inner` of the namespace `outer`; "" is the outermost."""
    return f"{outer}{_SEPARATOR}{inner}" if outer and inner else outer or inner


def inner_space(space: str, node: Node) -> str:
    """The namespace that the definition `node` opens in `space`; one without a name, or inline, counts as `space`."""
    name = node.field("name")
    return space if name is None or node.has("inline") else joined(space, "".join(name.text.split()))


def space_of(node: Node) -> str:
    """The namespace that `node` stands in."""
    around: list[Node] = []
    current = node.parent
    while current is not None:
        if current.type == "namespace_definition":
            around.append(current)
        current = current.parent
    space = ""
    for definition in reversed(around):
        space = inner_space(space, definition)
    return space


def scope_text(name: Node | None) -> str:
    """The scopes that stand before the last part of a name, without template arguments."""
    parts: list[str] = []
    while name is not None and name.type == _SCOPED:
        scope = name.field("scope")
        parts.append(scope.text.partition("<")[0].strip() if scope is not None else "")
        name = name.field("name")
    return _SEPARATOR.join(parts) if parts != [""] else _SEPARATOR


def written_scope(at: Node) -> str:
    """The scopes that are written before a name, or the name that is called, at `at`; "::" for the outermost."""
    name = at.field("function") if at.type == "call_expression" else at
    scope = scope_text(name) if name is not None and name.type == _SCOPED else ""
    parent = at.parent
    while parent is not None and parent.type == _SCOPED:
        inner, before = parent.field("name"), parent.field("scope")
        if inner is not None and inner.key == at.key:
            scope = joined(before.text.partition("<")[0] if before is not None else _SEPARATOR, scope)
        at, parent = parent, parent.parent
    return scope


@dataclass
class Lookup:
    """Finds the namespaces that a name is looked for in; `aliases` are other names of namespaces."""

    aliases: dict[str, str]
    _brought: dict[tuple[int, int, int], list[tuple[int, str, bool]]] = field(default_factory=dict)
    """A block to what it uses: from which byte on, what, and whether that is a whole namespace."""

    def meant(self, at: Node, name: str, spaces: Iterable[str]) -> tuple[str, ...]:
        """Those of the namespaces `spaces`, which all have a `name`, whose one is meant at `at`; () for none."""
        known = set(spaces)
        scope = self._without_aliases(written_scope(at))
        if scope.startswith(_SEPARATOR):
            return tuple({scope.removeprefix(_SEPARATOR)} & known)
        for level in self._levels(at, "" if scope else name):
            found = [space for space in dict.fromkeys(joined(part, scope) for part in level) if space in known]
            if found:
                return tuple(found)
        return ()

    def _without_aliases(self, scope: str) -> str:
        parts = scope.split(_SEPARATOR)
        for position in range(len(parts) - 1, -1, -1):
            if parts[position] in self.aliases:
                target = "".join(self.aliases[parts[position]].split())
                return joined(target, _SEPARATOR.join(parts[position + 1 :]))
        return scope

    def _levels(self, at: Node, name: str) -> Iterator[list[str]]:
        """The namespaces looked in together, nearest first; `name` is what `using` may have brought in by itself."""
        opened: list[str] = []
        own = ""
        current: Node | None = at
        while current is not None:
            if current.type == "function_definition":
                own = _scope_of_definition(current)
            if current.type in _BLOCKS:
                outward = list(_outward(space_of(current)))
                used, listed = self._using(current, at.start, name)
                opened.extend(joined(outer, inner) for inner in listed for outer in outward)
                yield [joined(outer, inner) for inner in used for outer in outward]
                if current.type != "compound_statement":
                    yield from ([joined(outward[0], part)] for part in _outward(own) if part)
                    own = ""
                    yield from ([part, *(found for found in opened if _is_in(found, part))] for part in outward)
            current = current.parent

    def _using(self, block: Node, before: int, name: str) -> tuple[list[str], list[str]]:
        """The namespaces from which a block takes `name` alone, and those it opens, ahead of a byte offset."""
        if block.key not in self._brought:
            self._brought[block.key] = [
                (node.start, "".join(node.named[-1].text.split()), node.has("namespace"))
                for node in block.named
                if node.type == "using_declaration" and node.named
            ]
        ahead = [(text, is_whole) for start, text, is_whole in self._brought[block.key] if start < before]
        single = [text.rpartition(_SEPARATOR) for text, is_whole in ahead if not is_whole]
        used = [self._without_aliases(scope) for scope, _, last in single if name and last == name]
        return used, [self._without_aliases(text) for text, is_whole in ahead if is_whole]


def _is_in(space: str, outer: str) -> bool:
    return not outer or space == outer or space.startswith(f"{outer}{_SEPARATOR}")


def _outward(space: str) -> Iterator[str]:
    """A namespace and those around it, the outermost last."""
    while space:
        yield space
        space = space.rpartition(_SEPARATOR)[0]
    yield ""


def _scope_of_definition(function: Node) -> str:
    declarator = function.field("declarator")
    while declarator is not None and declarator.type != _SCOPED:
        declarator = declarator.field("declarator")
    return scope_text(declarator)
