"""Cuts C++ text into tokens: just enough for macros, conditionals and literals. The only file with patterns."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
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
_WORD = re.compile(r"[^\W\d]\w*")
_NO_LINE_END = re.compile(r"[^\r\n]")
_CONTINUED = re.compile(r"\\(?:\r\n|\r|\n)")
_DIRECTIVE = re.compile(
    rf"[^\#/\"'0-9RLuU]+|(?P<comment>{_COMMENT})|(?P<string>{_RAW_STRING}|{_QUOTED}|(?<!\w)\d[\w.']*)"
    rf"|(?P<directive>\#(?:/\*[\s\S]*?(?:\*/|\Z)|\\(?:\r\n|[\s\S])?|[^\r\n\\])*)|[\s\S]"
)
_USE = re.compile(rf"""[^\w"'/]+|(?:{_COMMENT}|{_RAW_STRING}|{_QUOTED}|{_NUMBER})|(?P<name>[^\W\d]\w*)|[\s\S]""")
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


def spaced(text: str) -> Iterator[tuple[Token, bool]]:
    """The tokens of `text` that mean something, each with whether space or a comment stands before it."""
    end = 0
    for token in _significant(text):
        yield token, token.start > end
        end = token.end


def token_at(text: str, position: int) -> Token | None:
    """The first token that means something at or after `position`, where a token begins; None at the end."""
    while position < len(text):
        found = _TOKEN.match(text, position)
        assert found is not None
        kind = found.lastgroup or ""
        if kind not in _MEANINGLESS:
            return Token(_KINDS[kind], found.group(), position)
        position = found.end()
    return None


def next_use(text: str, position: int, names: Container[str]) -> Token | None:
    """The first of `names` that is a token at or after `position`, where a token begins; None where there is none."""
    for found in _USE.finditer(text, position):
        if found.lastgroup == "name" and found.group() in names:
            return Token(TokenKind.NAME, found.group(), found.start())
    return None


def names_in(text: str) -> set[str]:
    """The words of `text`, those in comments and strings included."""
    return set(_WORD.findall(text))


def blank(text: str) -> str:
    """As many spaces as `text` has characters; line ends stay."""
    return _NO_LINE_END.sub(" ", text)


def directives(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and text of every directive: without the `#`, its continued lines as one.

    A `#` begins a directive where it is the first thing on its line, outside comments and strings.
    """
    comments: dict[int, int] = {}  # the end of each comment to its start
    for found in _DIRECTIVE.finditer(text):
        start, end = found.span()
        if found.lastgroup == "comment":
            comments[end] = start
        elif found.lastgroup == "directive" and _is_first(text, start, comments):
            written = _CONTINUED.sub(" ", text[start + 1 : end])
            tokens = tokens_of(written)
            yield start, end, "".join(" " if token.kind is TokenKind.COMMENT else token.text for token in tokens)


def _is_first(text: str, start: int, comments: dict[int, int]) -> bool:
    """Whether only spaces and comments stand before `start` on its line."""
    while start > 0:
        character = text[start - 1]
        if character in "\r\n":
            return True
        if start in comments:
            start = comments[start]
        elif character.isspace():
            start -= 1
        else:
            return False
    return True
