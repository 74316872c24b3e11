"""Excerpts of source: numbered lines around a place with carets under it, cut to a width, two side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rich.cells import cell_len, get_character_cell_size
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from portcheck.core.finding import Place
from portcheck.core.source import Position, SourceFile
from portcheck.reporting.escape import single_line, visible
from portcheck.reporting.formats.terminal.words import QUIET, quiet, spaced
from portcheck.reporting.view import CUDA_SIDE, NKI_SIDE, NO_COUNTERPART, location

_CONTEXT = 1
_MOST_WHOLE = 3  # a place of more lines is shown by its first ones
_SHOWN_OF_LONG = 2
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
    lines, left_out = _lines(place, sources)
    return Text("\n").join([header, *_drawn(_at_margin(lines), left_out, width)])


def _height(side: Text) -> int:
    return side.plain.count("\n") + 1


def _lines(place: Place, sources: Mapping[str, SourceFile]) -> tuple[list[_Line], int]:
    """The lines of `place` and those around it, and how many were left out.

    Of a long place the first lines are shown, with nothing after them, and only the very first is marked.
    """
    texts, first, end = _standing(place, sources)
    start = place.span.start
    height = end.line - start.line + 1
    left_out = height - _SHOWN_OF_LONG if height > _MOST_WHOLE else 0
    last = end.line - left_out if left_out else min(end.line + _CONTEXT, first + len(texts) - 1)
    shown: list[_Line] = []
    for number in range(max(first, start.line - _CONTEXT), last + 1):
        text = texts[number - first]
        from_column = start.column - 1 if number == start.line else len(text) - len(text.lstrip())
        to_column = end.column - 1 + (start == end) if number == end.line else len(text)
        is_inside = start.line <= number <= end.line
        if is_inside and not (left_out and number > start.line):
            shown.append(_line(number, text, from_column, to_column))
        elif is_inside or text.strip():
            shown.append(_line(number, text, 0, 0))
    return shown, left_out


def _standing(place: Place, sources: Mapping[str, SourceFile]) -> tuple[tuple[str, ...], int, Position]:
    """The lines of the place's file, or of its own text where the file is not known; the first's number; the end."""
    start, end = place.span.start, place.span.end
    source = sources.get(place.span.path)
    if source is not None and end.line <= len(source.lines):
        return source.lines, 1, end
    own = SourceFile(place.span.path, " " * (start.column - 1) + place.text)
    last = own.position(len(own.text))
    return own.lines, start.line, Position(start.line + last.line - 1, last.column)


def _line(number: int, text: str, first: int, last: int) -> _Line:
    """The line with its columns turned into cells: escapes, tabs and wide characters take more than one."""
    start, end = cell_len(visible(text[:first])), cell_len(visible(text[:last])) + max(0, last - len(text))
    return _Line(number=number, text=visible(text), start=start, end=end)


def _at_margin(lines: list[_Line]) -> list[_Line]:
    """`lines` without the indentation that all of them have."""
    indentations = [len(line.text) - len(line.text.lstrip(" ")) for line in lines if line.text.strip()]
    cut = min(indentations, default=0)
    return [
        replace(line, text=line.text[cut:], start=max(line.start - cut, 0), end=max(line.end - cut, 0))
        for line in lines
    ]


def _drawn(lines: list[_Line], left_out: int, width: int) -> list[Text]:
    digits = max((len(str(line.number)) for line in lines), default=1)
    room = width - digits - len(_BETWEEN)
    shift = _shift(lines, room)
    drawn: list[Text] = []
    for line in lines:
        is_marked = line.end > line.start
        gutter = Text(f"{line.number:>{digits}}{_BETWEEN}", style=QUIET)
        drawn.append(gutter.append(_window(line.text, shift if is_marked else 0, room), style="default"))
        if is_marked:
            drawn.append(_carets(line, shift, room, digits))
    if left_out:
        drawn.append(Text(f"{' ' * digits}{_BETWEEN}... {left_out} more lines", style=QUIET))
    return drawn


def _carets(line: _Line, shift: int, room: int, digits: int) -> Text:
    start, end = max(line.start - shift, 0), min(line.end - shift, room)
    under = Text(" " * digits + _BETWEEN, style=QUIET)
    return under.append(" " * start).append("^" * max(end - start, 1), style=_CARET_STYLE)


def _shift(lines: list[_Line], room: int) -> int:
    """How many cells to leave out of marked lines on the left so that what is marked is seen, its start before all."""
    marked = [line for line in lines if line.end > line.start]
    if not marked or max(line.end for line in marked) <= room:
        return 0
    start = min(line.start for line in marked)
    needed = max(line.end for line in marked) - room
    return max(0, min(needed + 1, start - 1))  # the cell before it shows that something was left out


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
