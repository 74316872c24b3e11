"""Reads directives and makes text that parses: same length, same lines, so that positions stay true.

Directives, branches not taken and what the grammar cannot read are blanked or overwritten in place; macros are
collected here and expanded where they are used. A name that is not defined is 0 in `#if`, as C says; the names taken
for 0 are reported, because the build may define them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from portcheck.frontends.cuda.conditions import holds
from portcheck.frontends.cuda.lexer import TokenKind, significant, tokens_of
from portcheck.frontends.cuda.macros import Macro, read_definition
from portcheck.frontends.cuda.rewrites import rewrite

Includer = Callable[[str, "Preprocessor"], None]


@dataclass
class Preprocessor:
    """The macros defined so far and the names that conditions took for 0; shared by a file and what it includes."""

    macros: dict[str, Macro]
    undefined: set[str] = field(default_factory=set)

    def process(self, text: str, include: Includer) -> str:
        """`text` made parsable; `include` is called with each header name as it is written (`"x.h"`, `<x>`)."""
        reader = _Directives(self, include)
        characters = list(text)
        for start, end, directive in _logical_lines(text):
            if directive:
                reader.read(directive)
            if directive or not reader.is_active:
                _blank(characters, start, end)
        return rewrite("".join(characters), self.macros)


@dataclass
class _Conditional:
    is_active: bool
    was_taken: bool
    outer_is_active: bool


class _Directives:
    """The conditionals that are open while a file is read."""

    def __init__(self, preprocessor: Preprocessor, include: Includer) -> None:
        self._preprocessor = preprocessor
        self._include = include
        self._open: list[_Conditional] = []

    @property
    def is_active(self) -> bool:
        return not self._open or self._open[-1].is_active

    def read(self, directive: str) -> None:
        """Obeys a directive: its text without the `#` and without continuations."""
        tokens = significant(directive)
        word = tokens[0].text if tokens else ""
        rest = directive[tokens[0].end :] if tokens else ""
        match word:
            case "if" | "ifdef" | "ifndef":
                taken = self.is_active and self._condition(word, rest)
                self._open.append(_Conditional(taken, taken, self.is_active))
            case "elif" | "else":
                self._alternative(word, rest)
            case "endif":
                if self._open:
                    self._open.pop()
            case _ if self.is_active:
                self._effect(word, rest)
            case _:
                pass

    def _condition(self, word: str, rest: str) -> bool:
        macros = self._preprocessor.macros
        if word == "if":
            return holds(rest, macros, self._preprocessor.undefined)
        name = "".join(token.text for token in significant(rest)[:1])
        if name not in macros and word == "ifdef":
            self._preprocessor.undefined.add(name)
        return (name in macros) == (word == "ifdef")

    def _alternative(self, word: str, rest: str) -> None:
        if not self._open:
            return
        current = self._open[-1]
        may = current.outer_is_active and not current.was_taken
        current.is_active = may and (word == "else" or self._condition("if", rest))
        current.was_taken = current.was_taken or current.is_active

    def _effect(self, word: str, rest: str) -> None:
        match word:
            case "define":
                macro = read_definition(rest)
                if macro is not None:
                    self._preprocessor.macros[macro.name] = macro
            case "undef":
                for token in significant(rest)[:1]:
                    self._preprocessor.macros.pop(token.text, None)
            case "include":
                self._include(rest.strip(), self._preprocessor)
            case _:
                pass


def _logical_lines(text: str) -> list[tuple[int, int, str]]:
    """Start, end and directive text ("" for ordinary lines) of every line; continued lines count as one.

    A `#` begins a directive where it is the first thing on its line, outside comments and strings.
    """
    lines: list[tuple[int, int, str]] = []
    begin = 0
    pieces: list[str] | None = None
    is_fresh = True
    for token in tokens_of(text):
        if token.kind is TokenKind.SPACE and ("\n" in token.text or "\r" in token.text):
            begin, pieces, is_fresh = _line_ends(lines, text, (begin, pieces), token.start, token.text)
        elif token.kind in (TokenKind.SPACE, TokenKind.COMMENT):
            if pieces is not None:
                pieces.append(" ")
        elif is_fresh and token.text == "#":
            pieces, is_fresh = [], False
        else:
            is_fresh = False
            if pieces is not None:
                pieces.append(token.text)
    lines.append((begin, len(text), "".join(pieces) if pieces is not None else ""))
    return lines


def _line_ends(
    lines: list[tuple[int, int, str]], text: str, current: tuple[int, list[str] | None], start: int, space: str
) -> tuple[int, list[str] | None, bool]:
    """Handles white space with line ends in it: a continued directive goes on, else the line is done."""
    begin, pieces = current
    if pieces and pieces[-1] == "\\":
        pieces[-1] = " "
        first = _after_first_line_end(space)
        if "\n" not in space[first:] and "\r" not in space[first:]:
            return begin, pieces, False
        end = start + first
    else:
        end = start
    lines.append((begin, end, "".join(pieces) if pieces is not None else ""))
    return end, None, True


def _after_first_line_end(space: str) -> int:
    for index, character in enumerate(space):
        if character == "\n":
            return index + 1
        if character == "\r":
            return index + (2 if space[index + 1 : index + 2] == "\n" else 1)
    return len(space)


def _blank(characters: list[str], start: int, end: int) -> None:
    for index in range(start, end):
        if characters[index] not in "\r\n":
            characters[index] = " "
