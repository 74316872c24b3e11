"""What the user reads when something went wrong: the message, the source line it is about, and what to do."""

from __future__ import annotations

from portcheck.core.errors import InputError, PortcheckError
from portcheck.reporting import single_line, visible


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
    position = "".join(f":{number}" for number in (error.line, error.column) if number)
    where = f"  {single_line(error.path)}{position}"
    if not error.excerpt:
        return [where]
    gutter = f"  {error.line} | "
    shown = [where, gutter + visible(error.excerpt)]
    if error.column:
        shown.append(" " * (len(gutter) - 2) + "| " + " " * len(visible(error.excerpt[: error.column - 1])) + "^")
    return shown
