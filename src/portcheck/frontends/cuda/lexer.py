"""Cuts C++ text into tokens: just enough for macros, conditionals and literals. The only file with patterns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple


class TokenKind(StrEnum):
    """What sort of token a piece of text is."""

    NAME = "name"
    NUMBER = "number"
    STRING = "string"
    PUNCTUATION = "punctuation"
    SPACE = "space"
    COMMENT = "comment"


class Token(NamedTuple):
    """A piece of text and the code-point offset it starts at."""

    kind: TokenKind
    text: str
    start: int

    @property
    def end(self) -> int:
        """The offset after its last character."""
        return self.start + len(self.text)


_RAW_STRING = r"""(?:u8|[LuU])?R"(?:(?P<delimiter>[^()\\\s"]{0,16})\([\s\S]*?(?:\)(?P=delimiter)"|\Z))"""
_COMMENT = r"""//(?:[^\r\n\\]|\\(?:\r\n|[\s\S])?)*|/\*[\s\S]*?(?:\*/|\Z)"""
_QUOTED = r""""(?:[^"\\\r\n]|\\[\s\S])*"?|'(?:[^'\\\r\n]|\\[\s\S])*'?"""
_NUMBER = r"""0[xX](?:[pP][+-]|[\w.'])*|\.?\d(?:[eE][+-]|[\w.'])*"""
_LONG_PUNCTUATION = r"""<<=|>>=|\.\.\.|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|->|::|\#\#|[-+*/%&|^]="""
_TOKEN = re.compile(
    rf"(?P<space>\s+)|(?P<comment>{_COMMENT})|(?P<string>{_RAW_STRING}|{_QUOTED})|(?P<name>[^\W\d]\w*)"
    rf"|(?P<number>{_NUMBER})|(?P<punctuation>{_LONG_PUNCTUATION}|[\s\S])"
)
_KINDS = {kind.value: kind for kind in TokenKind}
_MEANINGLESS = frozenset({TokenKind.SPACE.value, TokenKind.COMMENT.value})


def tokens_of(text: str) -> list[Token]:
    """The tokens of `text`, spaces and comments included: joined, they are `text` again."""
    kinds = _KINDS
    return [Token(kinds[found.lastgroup or ""], found.group(), found.start()) for found in _TOKEN.finditer(text)]


def significant(text: str) -> list[Token]:
    """The tokens of `text` that mean something."""
    return list(_significant(text))


def _significant(text: str) -> Iterator[Token]:
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup or ""
        if kind not in _MEANINGLESS:
            yield Token(_KINDS[kind], found.group(), found.start())
