"""Cuts C++ text into tokens: just enough for macros, conditionals and literals."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class TokenKind(StrEnum):
    """What sort of token a piece of text is."""

    NAME = "name"
    NUMBER = "number"
    STRING = "string"
    PUNCTUATION = "punctuation"
    SPACE = "space"
    COMMENT = "comment"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text and the code-point offset it starts at."""

    kind: TokenKind
    text: str
    start: int

    @property
    def end(self) -> int:
        """The offset after its last character."""
        return self.start + len(self.text)


_LONG_PUNCTUATION = (
    "<<=", ">>=", "...", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--", "->", "::", "##",
    "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=",
)  # fmt: skip
_RAW_PREFIXES = frozenset({"R", "LR", "uR", "UR", "u8R"})


def tokens_of(text: str) -> list[Token]:
    """The tokens of `text`, spaces and comments included: joined, they are `text` again."""
    found: list[Token] = []
    position = 0
    while position < len(text):
        kind, end = _next(text, position)
        found.append(Token(kind, text[position:end], position))
        position = end
    return found


def significant(text: str) -> list[Token]:
    """The tokens of `text` that mean something."""
    return [token for token in tokens_of(text) if token.kind not in (TokenKind.SPACE, TokenKind.COMMENT)]


def _next(text: str, start: int) -> tuple[TokenKind, int]:
    first = text[start]
    if first.isspace():
        return TokenKind.SPACE, _while(text, start, str.isspace)
    if text.startswith("//", start):
        return TokenKind.COMMENT, _line_comment(text, start)
    if text.startswith("/*", start):
        close = text.find("*/", start + 2)
        return TokenKind.COMMENT, len(text) if close < 0 else close + 2
    if _is_name_part(first) and not first.isdigit():
        end = _while(text, start, _is_name_part)
        if text[start:end] in _RAW_PREFIXES and text.startswith('"', end):
            return TokenKind.STRING, _raw_string(text, end)
        return TokenKind.NAME, end
    if first.isdigit() or (first == "." and text[start + 1 : start + 2].isdigit()):
        return TokenKind.NUMBER, _number(text, start)
    if first in "\"'":
        return TokenKind.STRING, _string(text, start)
    for long in _LONG_PUNCTUATION:
        if text.startswith(long, start):
            return TokenKind.PUNCTUATION, start + len(long)
    return TokenKind.PUNCTUATION, start + 1


def _is_name_part(character: str) -> bool:
    return character == "_" or character.isalnum()


def _while(text: str, start: int, holds: object) -> int:
    end = start
    while end < len(text) and holds(text[end]):  # type: ignore[operator]  # str -> bool, bound or not
        end += 1
    return end


def _line_comment(text: str, start: int) -> int:
    end = start
    while end < len(text):
        if text[end] in "\r\n" and text[end - 1] != "\\":
            return end
        end += 1
    return end


def _number(text: str, start: int) -> int:
    end = start
    is_hexadecimal = text[start : start + 2] in ("0x", "0X")
    while end < len(text):
        character = text[end]
        previous = text[end - 1] if end > start else ""
        is_exponent_sign = character in "+-" and previous in ("pP" if is_hexadecimal else "eE") and previous != ""
        if not (_is_name_part(character) or character in ".'" or is_exponent_sign):
            break
        end += 1
    return end


def _string(text: str, start: int) -> int:
    quote = text[start]
    end = start + 1
    while end < len(text) and text[end] not in "\r\n":
        if text[end] == "\\":
            end += 1
        elif text[end] == quote:
            return end + 1
        end += 1
    return min(end, len(text))


def _raw_string(text: str, quote: int) -> int:
    opening = text.find("(", quote)
    if opening < 0:
        return len(text)
    closing = ")" + text[quote + 1 : opening] + '"'
    close = text.find(closing, opening)
    return len(text) if close < 0 else close + len(closing)
