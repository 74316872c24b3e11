"""Where the characters of an edited text stood before."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple


class Edit(NamedTuple):
    """The characters from `start` to `end` become `text`."""

    start: int
    end: int
    text: str


class Origins:
    """For every place of an edited text the place it had; what an edit put in stands where it put it."""

    def __init__(self) -> None:
        self._starts = [0]
        self._before = [(0, -1)]
        """Where each stretch began, and where it ended if all of it stands in one place; else -1."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Origins) and (self._starts, self._before) == (other._starts, other._before)

    def __hash__(self) -> int:
        return hash((len(self._starts), self._starts[-1]))

    def add(self, start: int, before: int, end: int = -1) -> None:
        """Says where the stretch that begins at `start` stood."""
        self._starts.append(start)
        self._before.append((before, end))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where the characters from `start` to `end` stood."""
        begin, begin_end = self._at(start)
        if end <= start:
            return begin, begin if begin_end < 0 else begin_end
        last, last_end = self._at(end - 1)
        return begin, last + 1 if last_end < 0 else last_end

    def _at(self, place: int) -> tuple[int, int]:
        index = bisect_right(self._starts, place) - 1
        before, end = self._before[index]
        return (before, end) if end >= 0 else (before + place - self._starts[index], -1)


def edited(text: str, edits: Iterable[Edit]) -> tuple[str, Origins]:
    """`text` after `edits`, which come in order and apart, and where its characters stood."""
    origins = Origins()
    parts: list[str] = []
    length = position = 0
    for edit in edits:
        parts += (text[position : edit.start], edit.text)
        length += edit.start - position
        if edit.text:
            origins.add(length, edit.start, edit.end)
        length += len(edit.text)
        position = edit.end
        origins.add(length, position)
    parts.append(text[position:])
    return "".join(parts), origins
