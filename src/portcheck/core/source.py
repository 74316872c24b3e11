"""Source files, positions in them and the text around a position."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a text: line and column, both counted from 1, in code points."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open stretch of one file: `start` is its first character, `end` the place after its last."""

    path: str
    start: Position
    end: Position

    def covers(self, other: Span) -> bool:
        """Whether `other` lies wholly inside this span."""
        return self.path == other.path and self.start <= other.start and other.end <= self.end


UTF_8 = "UTF-8"
LATIN_1 = "Latin-1"


def decoded(data: bytes) -> tuple[str, str]:
    """The text that `data` is, without a byte order mark, and its encoding: UTF-8 or, as anything can be, Latin-1."""
    try:
        return data.decode("utf-8-sig"), UTF_8
    except UnicodeDecodeError:
        return data.decode("latin-1"), LATIN_1


NOWHERE = Span("", Position(1, 1), Position(1, 1))


@dataclass(frozen=True)
class SourceFile:
    """One decoded text file under the name the user gave it."""

    path: str
    text: str
    encoding: str = UTF_8

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines of the text without their line ends (`\\n`, `\\r\\n` or `\\r`)."""
        return tuple(self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))

    @cached_property
    def _line_starts(self) -> tuple[int, ...]:
        lines = self.text.replace("\r\n", " \n").replace("\r", "\n").split("\n")  # as long as they were
        return (0, *accumulate(len(line) + 1 for line in lines[:-1]))

    def position(self, offset: int) -> Position:
        """The position of the character at `offset` (code points from the start of the text)."""
        line = bisect_right(self._line_starts, offset)
        return Position(line, offset - self._line_starts[line - 1] + 1)

    def offset(self, position: Position) -> int:
        """The code-point offset of `position`; the inverse of `position()`."""
        return self._line_starts[position.line - 1] + position.column - 1

    def offset_of_line(self, line: int) -> int:
        """The code-point offset of the first character of a line, counted from 1."""
        return self._line_starts[line - 1]

    def span(self, start: int, end: int) -> Span:
        """The span between two code-point offsets."""
        return Span(self.path, self.position(start), self.position(end))

    def text_of(self, span: Span) -> str:
        """The text that `span` covers."""
        return self.text[self.offset(span.start) : self.offset(span.end)]
