"""Escaping for GitHub Markdown: prose that stays prose, code that stays code, cells that stay cells.

GitHub acts on text after it is rendered (mentions, issue numbers, links), so a backslash does not stop it; a zero-width
space does. What stands in code spans and fences is left alone by GitHub.
"""

from __future__ import annotations

import re

from portcheck.reporting.escape import single_line, visible

_BACKTICKS = re.compile("`+")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "$": "&#36;"}
_SPECIAL = re.compile(r"[\\`*_\[\]~&<>|$]")
# What makes a line a heading, a list item or the underline of a heading (https://spec.commonmark.org/0.31.2/).
_LINE_START = re.compile(r"^([#+\-=]|\d+(?=[.)](?:\s|$)))")
# Mentions, numbers of issues and pull requests, and bare links (https://github.github.com/gfm/#autolinks-extension-).
_ACTIVE = re.compile(r"@|#(?=\d)|\bGH(?=-\d)|:(?=//)|\bwww(?=\.)", re.IGNORECASE)
_BREAK = "&#8203;"


class Markdown(str):
    """Text that is Markdown already and must not be escaped again."""

    __slots__ = ()


def prose(value: object) -> Markdown:
    """`value` on one line as it reads, for a paragraph or a table cell; parts between backticks are set as code."""
    parts = single_line(str(value)).split("`")
    if len(parts) % 2 == 0:
        return Markdown(_inert("`".join(parts)))
    return Markdown("".join(code(part) if index % 2 else _inert(part) for index, part in enumerate(parts)))


def code(value: object) -> Markdown:
    """`value` on one line as code, for a paragraph or a table cell.

    A pipe ends a table cell even inside a code span, and parsers differ on a backslash before it; text with a pipe is
    therefore set as prose.
    """
    text = single_line(str(value))
    if not text or "|" in text:
        return Markdown(_inert(text))
    marks = "`" * (_longest_run(text) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return Markdown(f"{marks}{pad}{text}{pad}{marks}")


def fence(value: object, language: str = "") -> Markdown:
    """`value` as a fenced block; the fence is longer than any run of backticks inside."""
    text = visible(str(value)).rstrip("\n")
    marks = "`" * max(3, _longest_run(text) + 1)
    return Markdown(f"{marks}{language}\n{text}\n{marks}")


def _inert(text: str) -> str:
    unlinked = _ACTIVE.sub(lambda match: f"{match.group()}\0", text)
    escaped = _SPECIAL.sub(lambda match: _ENTITIES.get(match.group(), f"\\{match.group()}"), unlinked)
    return _LINE_START.sub(_in_line, escaped).replace("\0", _BREAK)


def _in_line(match: re.Match[str]) -> str:
    mark = match.group()
    return f"{mark}{_BREAK}" if mark.isdigit() else f"\\{mark}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)
