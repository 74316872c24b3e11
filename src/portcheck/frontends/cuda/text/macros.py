"""Macros: what a `#define` says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from portcheck.frontends.cuda.text.lexer import Token, TokenKind, spaced, tokens_of

_REST = "__VA_ARGS__"
_DOTS = "..."


@dataclass(frozen=True)
class Macro:
    """A macro; `parameters` is None for one without an argument list, the last takes all the rest if `is_variadic`."""

    name: str
    parameters: tuple[str, ...] | None
    body: str
    is_variadic: bool = False

    @cached_property
    def tokens(self) -> tuple[tuple[Token, bool], ...]:
        """The tokens of the body, each with whether it stands apart from the one before."""
        return tuple(spaced(self.body))


def read_definition(text: str) -> Macro | None:
    """The macro that the text after `#define` defines; None where it is malformed."""
    tokens = tokens_of(text.strip())
    if not tokens or tokens[0].kind is not TokenKind.NAME:
        return None
    name = tokens[0].text
    if len(tokens) < 2 or tokens[1].text != "(":
        return Macro(name, None, _joined(tokens[1:]))
    parameters: list[str] = []
    is_variadic = False
    for index, token in enumerate(tokens[2:], start=2):
        if token.text == ")":
            return Macro(name, tuple(parameters), _joined(tokens[index + 1 :]), is_variadic)
        if token.text == _DOTS:
            is_variadic = True
            if tokens[index - 1].kind is not TokenKind.NAME:  # `args...` names the rest
                parameters.append(_REST)
        elif token.kind is TokenKind.NAME:
            parameters.append(token.text)
    return None


def _joined(tokens: Sequence[Token]) -> str:
    """The tokens as one line: comments and line continuations become spaces."""
    texts = (" " if token.kind is TokenKind.COMMENT or token.text == "\\" else token.text for token in tokens)
    return " ".join("".join(texts).split("\n")).strip()
