"""Statements of a screened file as libcst trees, made one by one when they are first needed, with their places."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from portcheck.core.source import Position, Span
from portcheck.frontends.nki.source.screen import Screened, is_too_deep

if TYPE_CHECKING:
    import libcst as cst

    from portcheck.frontends.nki.source.expression_trees import Place, Places


@dataclass(frozen=True, eq=False)
class Segment:
    """A stretch of whole lines as a tree; `lines` are those of the file, `first_line` is where the stretch starts."""

    module: cst.Module
    lines: Sequence[str]
    places: Places
    path: str
    first_line: int
    had_mark: bool
    _spans: dict[int, Span] = field(default_factory=dict)
    _texts: dict[tuple[int, int], str] = field(default_factory=dict)

    def span(self, node: cst.CSTNode) -> Span:
        """Where `node` stands in the file; worked out once."""
        found = self._spans.get(id(node))
        if found is None:
            found = self._spans[id(node)] = self._span(node)
        return found

    def _span(self, node: cst.CSTNode) -> Span:
        place = self.places.get(id(node))
        if place is None:
            return Span(self.path, Position(self.first_line, 1), Position(self.first_line, 1))
        line, column, end_line, end_column = self._corners(place)
        start = Position(line, column + 1 + (self.had_mark and line == 1))
        return Span(self.path, start, Position(end_line, end_column + 1 + (self.had_mark and end_line == 1)))

    def statement(self, node: cst.CSTNode) -> ast.AST | None:
        """Python's own tree of the statement `node`."""
        place = self.places.get(id(node))
        return place[0] if place is not None else None

    def text(self, node: cst.CSTNode, limit: int = 60) -> str:
        """The source of `node` on one line, cut to `limit` characters; worked out once."""
        found = self._texts.get((id(node), limit))
        if found is None:
            found = self._texts[id(node), limit] = self._text(node, limit)
        return found

    def _text(self, node: cst.CSTNode, limit: int) -> str:
        place = self.places.get(id(node))
        text = " ".join(self._stretch(self._corners(place), 4 * limit).split()) if place is not None else ""
        return text if len(text) <= limit else text[: limit - 3] + "..."

    def _stretch(self, corners: tuple[int, int, int, int], limit: int) -> str:
        """The source between the corners, at most about `limit` characters of it."""
        first, start, last, end = corners
        if first == last:
            return self.lines[first - 1][start : min(end, start + limit)]
        parts: list[str] = []
        for number in range(first, last + 1):
            line = self.lines[number - 1]
            parts.append(line[start if number == first else 0 : end if number == last else len(line)])
            limit -= len(parts[-1])
            if limit < 0:
                break
        return " ".join(parts)

    def _corners(self, place: Place) -> tuple[int, int, int, int]:
        """Line and column of the start and of the end, lines from 1 and columns from 0, in code points."""
        start, end = (cast("ast.expr", node) for node in place)
        last = end.end_lineno or end.lineno
        end_column = self._column(last, end.end_col_offset or end.col_offset)
        return start.lineno, self._column(start.lineno, start.col_offset), last, end_column

    def _column(self, line: int, offset: int) -> int:
        """The column of the byte `offset` of a line."""
        text = self.lines[line - 1]
        return offset if text.isascii() else len(text.encode()[:offset].decode("utf-8", "replace"))


@dataclass(slots=True, eq=False)
class Spot:
    """A node in its segment; where it stands is worked out when asked for. Not frozen: every evaluation has one."""

    segment: Segment
    node: cst.CSTNode

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.segment.span(self.node)


def parse_statement(screened: Screened, node: ast.stmt, path: str) -> Segment | None:
    """The top-level statement `node` as a segment; None when libcst has no tree for it or it is nested too deeply."""
    if is_too_deep(node):
        return None
    import libcst as cst

    from portcheck.frontends.nki.source.expression_trees import Trees, UnreadError
    from portcheck.frontends.nki.source.statement_trees import module

    statements = _on_lines_of(screened.tree, node)
    trees = Trees(screened.lines)
    try:
        made = module(trees, statements)
    except (UnreadError, cst.CSTValidationError):
        return None
    return Segment(made, screened.lines, trees.places, path, first_line(statements[0]), screened.had_mark)


def _on_lines_of(tree: ast.Module, node: ast.stmt) -> list[ast.stmt]:
    """The top-level statement `node` and those that share a line with it or with one of those."""
    start = bisect_left(tree.body, node.lineno, key=_line)
    end = start + 1
    while end < len(tree.body) and first_line(tree.body[end]) <= _last_line(tree.body[end - 1]):
        end += 1
    while start > 0 and _last_line(tree.body[start - 1]) >= first_line(tree.body[start]):
        start -= 1
    return tree.body[start:end]


def _line(node: ast.stmt) -> int:
    return node.lineno


def _last_line(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def empty_segment(path: str) -> Segment:
    """A segment without text: that of a whole file, whose statements are parsed one by one."""
    import libcst as cst

    return Segment(cst.Module(body=()), (), {}, path, 1, had_mark=False)


def first_line(node: ast.stmt) -> int:
    """The line `node` starts on, decorators included."""
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(int(decorator.lineno) for decorator in decorators)])
