"""Statements of a screened file as libcst trees, parsed one by one when they are first needed, with their places."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from portcheck.core.source import Position, Span
from portcheck.frontends.nki.screen import Screened, is_too_deep

if TYPE_CHECKING:
    import libcst as cst
    from libcst.metadata import CodeRange


@dataclass(frozen=True, eq=False)
class Segment:
    """A stretch of whole lines as a tree; `first_line` is where it starts in the file."""

    module: cst.Module
    lines: tuple[str, ...]
    places: Mapping[cst.CSTNode, CodeRange]
    path: str
    first_line: int
    had_mark: bool

    def span(self, node: cst.CSTNode) -> Span:
        """Where `node` stands in the file."""
        place = self.places.get(node)
        if place is None:
            return Span(self.path, Position(self.first_line, 1), Position(self.first_line, 1))
        return Span(
            self.path,
            self._position(place.start.line, place.start.column),
            self._position(place.end.line, place.end.column),
        )

    def text(self, node: cst.CSTNode, limit: int = 60) -> str:
        """The source of `node` on one line, cut to `limit` characters."""
        place = self.places.get(node)
        text = " ".join(self._stretch(place, 4 * limit).split()) if place is not None else ""
        return text if len(text) <= limit else text[: limit - 3] + "..."

    def _stretch(self, place: CodeRange, limit: int) -> str:
        """The source at `place`, at most about `limit` characters of it."""
        parts: list[str] = []
        for number in range(place.start.line, place.end.line + 1):
            line = self.lines[number - 1]
            end = place.end.column if number == place.end.line else len(line)
            parts.append(line[place.start.column if number == place.start.line else 0 : end])
            limit -= len(parts[-1])
            if limit < 0:
                break
        return " ".join(parts)

    def _position(self, line: int, column: int) -> Position:
        line += self.first_line - 1
        shift = 1 if self.had_mark and line == 1 else 0
        return Position(line, column + 1 + shift)


def parse_statement(screened: Screened, node: ast.stmt, path: str) -> Segment | None:
    """The top-level statement `node` as a segment; None when libcst does not read it or it is nested too deeply."""
    if is_too_deep(node):
        return None
    import libcst as cst
    from libcst.metadata import MetadataWrapper, PositionProvider

    first = first_line(node)
    lines = screened.lines[first - 1 : node.end_lineno]
    text = "\n".join(lines) + "\n"
    try:
        module = cst.parse_module(text)
        wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
        places = wrapper.resolve(PositionProvider)
    except (cst.ParserSyntaxError, RecursionError):
        return None
    return Segment(wrapper.module, lines, places, path, first, screened.had_mark)


def empty_segment(path: str) -> Segment:
    """A segment without text: that of a whole file, whose statements are parsed one by one."""
    import libcst as cst

    return Segment(cst.Module(body=()), (), {}, path, 1, had_mark=False)


def first_line(node: ast.stmt) -> int:
    """The line `node` starts on, decorators included."""
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(int(decorator.lineno) for decorator in decorators)])
