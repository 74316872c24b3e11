"""Nodes of the parsed text with the file they stand in: type, text, span, children."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from portcheck.core.source import SourceFile, Span
from portcheck.frontends.cuda.parsing.grammar import is_wider, search, walk
from portcheck.frontends.cuda.text.origins import Origins

if TYPE_CHECKING:
    from tree_sitter import Node as Raw
    from tree_sitter import Tree


_CHAINED = frozenset({"binary_expression", "unary_expression", "pointer_expression", "cast_expression"})
_AFTER_A_VALUE = frozenset({"unary_expression", "pointer_expression", "number_literal"})


_SMALL = 10_000
"""Bytes of text in which no node can be wide."""
_WIDE = 5_000
"""Children of one node."""


class Unit:
    """One parsed text.

    `origins` are the edits that made it from the source, the last first; `fixed` is the place of all its nodes where
    the text does not come from a file.
    """

    def __init__(
        self, source: SourceFile, encoded: bytes, tree: Tree, origins: tuple[Origins, ...], fixed: Span | None
    ) -> None:
        self.source = source
        self.encoded = encoded
        self.tree = tree
        self.origins = origins
        self.fixed = fixed
        self._nodes: dict[int, Node] = {}
        self.holders: list[Node] = []
        """The nodes that hold others."""

    @cached_property
    def is_wide(self) -> bool:
        """Whether some node has thousands of children: tables of constants, text that did not parse."""
        return len(self.encoded) > _SMALL and is_wider(self.tree.root_node, _WIDE)

    @property
    def root(self) -> Node:
        """The node that holds the whole text."""
        return self.node(self.tree.root_node)

    def node(self, raw: Raw) -> Node:
        """The node for one of the library's: the same one each time, until they are forgotten."""
        found = self._nodes.get(raw.id)
        if found is None:
            found = self._nodes[raw.id] = Node(self, raw)
        return found

    def forget(self) -> None:
        """Lets go of the nodes that nobody else holds."""
        for node in self.holders:
            node.let_go()
        self.holders.clear()
        self._nodes.clear()

    def at(self, start: int, end: int) -> Node:
        """The smallest node that covers the bytes from `start` to `end`."""
        raw = self.tree.root_node.descendant_for_byte_range(start, end)
        return self.root if raw is None else self.node(raw)

    def may_be_misread(self, node: Node) -> bool:
        """Whether `node` is the outermost of operations that a cast is part of, whose type may be no type."""
        return (node.start, node.end) in self._suspects

    @cached_property
    def _suspects(self) -> frozenset[tuple[int, int]]:
        found: set[tuple[int, int]] = set()
        for cast in self.root.found("cast_expression"):
            value = cast.field("value")
            if value is None or value.type not in _AFTER_A_VALUE:
                continue
            outermost, parent = cast, cast.parent
            while parent is not None and parent.type in _CHAINED:
                outermost, parent = parent, parent.parent
            found.add((outermost.start, outermost.end))
        return frozenset(found)

    @cached_property
    def _continuations(self) -> list[int]:
        """The offsets of the bytes that do not begin a character."""
        if self.encoded.isascii():
            return []
        return [index for index, byte in enumerate(self.encoded) if byte & 0xC0 == 0x80]

    def character(self, byte: int) -> int:
        """The code-point offset of a byte offset."""
        return byte - bisect_right(self._continuations, byte - 1) if self._continuations else byte

    def span(self, start: int, end: int) -> Span:
        """Where the bytes from `start` to `end` stand."""
        if self.fixed is not None:
            return self.fixed
        first, last = self.character(start), self.character(end)
        for origins in self.origins:
            first, last = origins.span(first, last)
        return self.source.span(first, last)


class Node:
    """A node of a parsed text; ask its unit for one. What was asked of it once is at hand."""

    __slots__ = ("_children", "_fields", "_found", "_named", "_text", "_words", "end", "raw", "start", "type", "unit")

    def __init__(self, unit: Unit, raw: Raw) -> None:
        self.unit = unit
        self.raw = raw
        self.type: str = raw.type
        """The grammar's name for it."""
        self.start: int = raw.start_byte
        """Its first byte."""
        self.end: int = raw.end_byte
        """The byte after its last."""
        self._text: str | None = None
        self._fields: dict[str, Node | None] | None = None
        self._children: list[Node] | None = None
        self._named: list[Node] | None = None
        self._words: frozenset[str] | None = None
        self._found: dict[tuple[str, ...], list[Node]] | None = None

    def let_go(self) -> None:
        """Holds no other nodes from here on."""
        self._fields = self._children = self._named = self._found = None

    @property
    def text(self) -> str:
        """The source text it covers."""
        if self._text is None:
            self._text = self.unit.encoded[self.start : self.end].decode("utf-8", "replace")
        return self._text

    @property
    def key(self) -> tuple[int, int, int]:
        """What tells it from other nodes of the program."""
        return (id(self.unit), self.start, self.end)

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.unit.span(self.start, self.end)

    @property
    def parent(self) -> Node | None:
        """The node that holds it."""
        raw = self.raw.parent
        return None if raw is None else self.unit.node(raw)

    @property
    def children(self) -> list[Node]:
        """All its children but comments; not to be changed."""
        if self._children is None:
            self.unit.holders.append(self)
            self._children = [self.unit.node(child) for child in self.raw.children if child.type != "comment"]
        return self._children

    @property
    def branches(self) -> list[Node]:
        """Its children that have children."""
        return [self.unit.node(child) for child in self.raw.children if child.child_count]

    @property
    def named(self) -> list[Node]:
        """Its named children but comments; not to be changed."""
        if self._named is None:
            self.unit.holders.append(self)
            self._named = [self.unit.node(child) for child in self.raw.named_children if child.type != "comment"]
        return self._named

    @property
    def is_broken(self) -> bool:
        """Whether it, or something below it, did not parse."""
        return self.raw.has_error

    @property
    def is_missing(self) -> bool:
        """Whether the parser made it up."""
        return self.raw.is_missing

    def field(self, name: str) -> Node | None:
        """The child in the grammar's field `name`."""
        if self._fields is None:
            self.unit.holders.append(self)
            self._fields = {}
        elif name in self._fields:
            return self._fields[name]
        raw = self.raw.child_by_field_name(name)
        found = self._fields[name] = None if raw is None else self.unit.node(raw)
        return found

    def fields(self, name: str) -> list[Node]:
        """All children in the grammar's field `name`."""
        return [self.unit.node(child) for child in self.raw.children_by_field_name(name)]

    def has(self, text: str) -> bool:
        """Whether a direct child is, or is written, `text`."""
        if self._words is None:
            self._words = frozenset(word for child in self.raw.children for word in _words(child))
        return text in self._words

    def below(self) -> Iterator[Node]:
        """It and everything below it, parents first."""
        stack = [self.raw]
        while stack:
            raw = stack.pop()
            if raw.type != "comment":
                yield Node(self.unit, raw)
                stack.extend(reversed(raw.children))

    def found(self, *kinds: str) -> list[Node]:
        """The named nodes of these kinds at and below it, in the order of the text; not to be changed."""
        if self._found is not None and kinds in self._found:
            return self._found[kinds]
        find = walk if self.unit.is_wide else search
        found = [Node(self.unit, raw) for raw in find(self.raw, kinds)]
        if self.raw.descendant_count > _LARGE:
            self.unit.holders.append(self)
            self._found = {**(self._found or {}), kinds: found}
        return found


_LARGE = 40
"""Nodes below one that take longer to search than to keep."""
_LONGEST = 64
"""Bytes of a child that somebody may ask for by what it is written as."""


def _words(child: Raw) -> Iterator[str]:
    yield child.type
    if child.end_byte - child.start_byte <= _LONGEST and child.is_named and child.text is not None:
        yield child.text.decode("utf-8", "replace")


class Wreck(Node):
    """Neighbours in text that did not parse, taken together as one broken node without fields."""

    __slots__ = ("_parts",)

    def __init__(self, parts: list[Node]) -> None:
        super().__init__(parts[0].unit, parts[0].raw)
        self.type = "ERROR"
        self.end = parts[-1].end
        self._parts = parts

    @property
    def children(self) -> list[Node]:
        """The neighbours."""
        return self._parts

    def below(self) -> Iterator[Node]:
        """It and everything below it, parents first."""
        yield self
        for part in self._parts:
            yield from part.below()

    @property
    def named(self) -> list[Node]:
        """The neighbours that the grammar has a name for."""
        return [part for part in self._parts if part.raw.is_named]

    def found(self, *kinds: str) -> list[Node]:
        """The named nodes of these kinds among the neighbours and below them."""
        around = self._parts[0].parent
        if around is None:
            return [node for part in self._parts for node in part.found(*kinds)]
        found = around.found(*kinds)  # once, for there may be as many neighbours as characters
        return [node for node in found if node.key != around.key and self.start <= node.start and node.end <= self.end]

    @property
    def is_broken(self) -> bool:
        """It did not parse."""
        return True

    @property
    def is_missing(self) -> bool:
        """It stands there."""
        return False

    def field(self, name: str) -> Node | None:
        """None: nothing in it has its place."""
        return None

    def fields(self, name: str) -> list[Node]:
        """None."""
        return []


def bare(node: Node) -> Node:
    """`node` without the parentheses around it."""
    while node.type == "parenthesized_expression" and len(node.named) == 1:
        node = node.named[0]
    return node
