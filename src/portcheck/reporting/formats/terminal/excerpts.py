"""Excerpts of source: numbered lines around a place with carets under it, cut to a width, two side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rich.cells import cell_len, get_character_cell_size
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from portcheck.core.finding import Place
from portcheck.core.source import SourceFile
from portcheck.reporting.escape import single_line, visible
from portcheck.reporting.formats.terminal.words import QUIET, quiet, spaced
from portcheck.reporting.view import CUDA_SIDE, NKI_SIDE, NO_COUNTERPART, location

_CONTEXT = 1
_MOST_LINES = 8
_LEAD_IN = 8
_BETWEEN = " │ "
_NARROWEST_HALF = 42
_CARET_STYLE = "bold red"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """One shown line: its number, its text with escapes, and the cells that the place covers (none: start == end)."""

    number: int
    text: str
    start: int
    end: int


def both_sides(cuda: Place | None, nki: Place | None, sources: Mapping[str, SourceFile], width: int) -> RenderableType:
    """The excerpts of the original and of the port, side by side where `width` allows, else one above the other."""
    half = (width - len(_BETWEEN)) // 2
    if half < _NARROWEST_HALF:
        return Group(_side(CUDA_SIDE, cuda, sources, width), _side(NKI_SIDE, nki, sources, width))
    left, right = _side(CUDA_SIDE, cuda, sources, half), _side(NKI_SIDE, nki, sources, half)
    bars = Text("\n".join([_BETWEEN] * max(_height(left), _height(right))), style=QUIET)
    table = Table.grid()
    table.add_column(width=half, no_wrap=cuda is not None)
    table.add_column(width=len(_BETWEEN), no_wrap=True)
    table.add_column(width=half, no_wrap=nki is not None)
    table.add_row(left, bars, right)
    return table


def _side(name: str, place: Place | None, sources: Mapping[str, SourceFile], width: int) -> Text:
    if place is None:
        return quiet(f"{name}: {NO_COUNTERPART}")
    header = spaced(quiet(name), Text(_last_cells(single_line(location(place)), width - len(name) - 2)))
    return Text("\n").join([header, *_drawn(_lines(place, sources), width)])


def _height(side: Text) -> int:
    return side.plain.count("\n") + 1


def _lines(place: Place, sources: Mapping[str, SourceFile]) -> list[_Line]:
    """The lines of `place` and those around it, from its file if it is known, else from the place's own text."""
    start, end = place.span.start, place.span.end
    source = sources.get(place.span.path)
    if source is None or end.line > len(source.lines):
        own = SourceFile(place.span.path, place.text).lines
        return [_line(start.line + index, text, 0, len(text)) for index, text in enumerate(own)]
    shown: list[_Line] = []
    for number in range(max(1, start.line - _CONTEXT), min(len(source.lines), end.line + _CONTEXT) + 1):
        text = source.lines[number - 1]
        first = start.column - 1 if number == start.line else len(text) - len(text.lstrip())
        last = end.column - 1 if number == end.line else len(text)
        last += start == end  # a place between two characters gets one caret
        inside = start.line <= number <= end.line
        if not inside and not text.strip():
            continue
        shown.append(_line(number, text, first, last) if inside else _line(number, text, 0, 0))
    return shown


def _line(number: int, text: str, first: int, last: int) -> _Line:
    """The line with its columns turned into cells: escapes, tabs and wide characters take more than one."""
    start, end = cell_len(visible(text[:first])), cell_len(visible(text[:last])) + max(0, last - len(text))
    return _Line(number=number, text=visible(text), start=start, end=end)


def _drawn(lines: list[_Line], width: int) -> list[Text]:
    left_out = max(0, len(lines) - _MOST_LINES)
    kept = lines[:_MOST_LINES]
    digits = max((len(str(line.number)) for line in kept), default=1)
    room = width - digits - len(_BETWEEN)
    shift = _shift(kept, room)
    drawn: list[Text] = []
    for line in kept:
        gutter = Text(f"{line.number:>{digits}}{_BETWEEN}", style=QUIET)
        drawn.append(gutter.append(_window(line.text, shift, room), style="default"))
        if line.end > line.start:
            drawn.append(_carets(line, shift, room, digits))
    if left_out:
        drawn.append(quiet(f"{' ' * digits}{_BETWEEN}... {left_out} more lines"))
    return drawn


def _carets(line: _Line, shift: int, room: int, digits: int) -> Text:
    start, end = max(line.start - shift, 0), min(line.end - shift, room)
    under = Text(" " * digits + _BETWEEN, style=QUIET)
    return under.append(" " * start).append("^" * max(end - start, 1), style=_CARET_STYLE)


def _shift(lines: list[_Line], room: int) -> int:
    """How many cells to leave out on the left so that the first marked stretch is seen; the same for all lines."""
    marked = [line for line in lines if line.end > line.start]
    if not marked or max(line.end for line in marked) <= room:
        return 0
    start = min(line.start for line in marked)
    needed = max(line.end for line in marked) - room
    return max(0, min(needed + 1, start - _LEAD_IN))


def _window(text: str, shift: int, room: int) -> str:
    """`room` cells of `text` from the cell `shift`, with `…` where something was cut off."""
    if shift == 0 and cell_len(text) <= room:
        return text
    shown = _cut(_from_cell(text, shift + 1), room - 1) if shift else _cut(text, room)
    return f"…{shown}" if shift else shown


def _from_cell(text: str, cell: int) -> str:
    """What follows the first `cell` cells; a wide character cut in two leaves a space."""
    passed = 0
    for index, character in enumerate(text):
        if passed >= cell:
            return " " * (passed - cell) + text[index:]
        passed += get_character_cell_size(character)
    return ""


def _cut(text: str, room: int) -> str:
    if cell_len(text) <= room:
        return text
    used = 0
    for index, character in enumerate(text):
        used += get_character_cell_size(character)
        if used > room - 1:
            return text[:index] + "…"
    return text


def _last_cells(text: str, room: int) -> str:
    """The end of `text`, which tells paths apart better than their start."""
    over = cell_len(text) - room
    return text if over <= 0 else "…" + _from_cell(text, over + 1)
