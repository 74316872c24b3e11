"""What the user reads when something went wrong: the message, the source line it is about, and what to do."""

from __future__ import annotations

from portcheck.core.errors import InputError, PortcheckError
from portcheck.reporting import single_line, visible

_WIDEST = 100
_BEFORE = 60


def describe(error: PortcheckError) -> str:
    """An expected error: message, place with the line and a caret under it, hint."""
    lines = [f"portcheck: error: {visible(error.message)}"]
    if isinstance(error, InputError) and error.path:
        lines += _place(error)
    if error.hint:
        lines.append(f"hint: {visible(error.hint)}")
    return "\n".join(lines)


def describe_bug(error: Exception) -> str:
    """An unexpected error, in two lines and without a traceback."""
    return (
        f"portcheck: internal error: {type(error).__name__}: {single_line(str(error))}\n"
        "hint: this is a bug in portcheck; set PORTCHECK_DEBUG=1 to see the traceback, and please report it"
    )


def _place(error: InputError) -> list[str]:
    if not error.line and error.path in error.message:
        return []  # the message names the file, and there is no place in it to add
    position = "".join(f":{number}" for number in (error.line, error.column) if number)
    where = f"  {single_line(error.path)}{position}"
    if not error.excerpt:
        return [where]
    excerpt, before = _around(error.excerpt, error.column)
    gutter = f"  {error.line} | "
    shown = [where, gutter + excerpt]
    if error.column:
        shown.append(" " * (len(gutter) - 2) + "| " + " " * len(before) + "^")
    return shown


def _around(line: str, column: int) -> tuple[str, str]:
    """What is shown of a line that may be long, and the part of it that stands before the column."""
    start = max(0, column - 1 - _BEFORE)
    left, right = "..." if start else "", "..." if len(line) > start + _WIDEST else ""
    before = left + visible(line[start : max(column - 1, 0)])
    return before + visible(line[max(column - 1, 0) : start + _WIDEST]) + right, before
