"""The tokens of one line of the text form, and a cursor over them."""

from __future__ import annotations

import json
import re
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple, NoReturn, TypeVar

from portcheck.ir.text.spelling import NAME, IrTextError

# No branch can match what another branch of the same repetition matches, so reading is linear.
_TOKEN = re.compile(
    rf"""[ \t\r]*(?:(?P<string>"(?:[^"\\]|\\.)*")
    |(?P<result>%[0-9]+)
    |(?P<number>0x[0-9a-fA-F]+|[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)
    |(?P<word>parallel-asserted|{NAME.pattern})
    |(?P<sign>>>>|<<|>>|<=|>=|==|!=|&&|\|\||\+=|->|//|[-+*/&|^~!<>=()\[\],:@])|$)""",
    re.ASCII | re.VERBOSE,
)

Choice = TypeVar("Choice", bound=StrEnum)


class Token(NamedTuple):
    """One token: its kind (`string`, `result`, `number`, `word`, `sign`, or `end` of the line) and its text."""

    kind: str
    text: str


_END = Token("end", "the end of the line")
_AHEAD = 1
"""Tokens that are looked at behind the next one."""


@lru_cache(maxsize=4096)
def _token(kind: str, text: str) -> Token:
    """A token; the same words and signs come again and again."""
    return Token(kind, text)


class Cursor:
    """Reads the tokens of one line from left to right; every failure is an IrTextError with the line's number."""

    def __init__(self, text: str, line: int) -> None:
        self.line = line
        self._tokens = [*self._split(text), *[_END] * (1 + _AHEAD)]
        self._next = 0

    def _split(self, text: str) -> list[Token]:
        tokens = []
        place = 0
        for match in _TOKEN.finditer(text):
            if match.start() != place:
                break
            if match.lastgroup is not None:
                tokens.append(_token(match.lastgroup, match[match.lastgroup]))
            place = match.end()
        if place < len(text):
            self.fail(f"cannot read {text[place:].lstrip()[:20]!r}")
        return tokens

    def fail(self, message: str) -> NoReturn:
        """Raises IrTextError for this line."""
        raise IrTextError(message, self.line)

    def peek(self, ahead: int = 0) -> Token:
        """The next token, or the one after it, without taking it."""
        return self._tokens[self._next + ahead]

    def take(self) -> Token:
        """The next token."""
        token = self._tokens[self._next]
        self._next += token is not _END
        return token

    def is_at_end(self) -> bool:
        """Whether the line has been read."""
        return self.peek() is _END

    def accept(self, text: str) -> bool:
        """Takes the word or sign `text` if it is next, and says whether it was."""
        token = self._tokens[self._next]
        if token.text != text or token.kind not in ("word", "sign"):
            return False
        self._next += 1
        return True

    def expect(self, *texts: str) -> None:
        """Takes these words or signs, which must be next."""
        for text in texts:
            if not self.accept(text):
                self.fail(f"expected {text!r}, found {self.peek().text}")

    def end(self) -> None:
        """Fails unless the line has been read."""
        if not self.is_at_end():
            self.fail(f"expected the end of the line, found {self.peek().text}")

    def word(self) -> str:
        """A plain word."""
        token = self.take()
        if token.kind != "word":
            self.fail(f"expected a word, found {token.text}")
        return token.text

    def string(self) -> str:
        """A quoted text."""
        token = self.take()
        if token.kind != "string":
            self.fail(f"expected a text in quotes, found {token.text}")
        try:
            return str(json.loads(token.text))
        except ValueError:
            self.fail(f"cannot read the text {token.text}")

    def name(self) -> str:
        """A name, in quotes or not."""
        return self.string() if self.peek().kind == "string" else self.word()

    def names(self) -> tuple[str, ...]:
        """Names with commas between them."""
        found = [self.name()]
        while self.accept(","):
            found.append(self.name())
        return tuple(found)

    def choice(self, kinds: type[Choice]) -> Choice:
        """A word that is the value of a member of `kinds`."""
        word = self.word()
        try:
            return kinds(word)
        except ValueError:
            self.fail(f"{word!r} is no {kinds.__name__}")

    def number(self) -> int | float:
        """A number without a sign: a float if it has a point or an exponent."""
        token = self.take()
        if token.kind != "number":
            self.fail(f"expected a number, found {token.text}")
        return self._value(token.text)

    def integer(self) -> int:
        """An integer, with a minus before it if it is negative."""
        is_negative = self.accept("-")
        value = self.number()
        if isinstance(value, float):
            self.fail(f"expected an integer, found {value}")
        return -value if is_negative else value

    def result_id(self) -> int:
        """The 7 of `%7`."""
        token = self.take()
        if token.kind != "result":
            self.fail(f"expected an operation such as %1, found {token.text}")
        return int(self._value(token.text[1:]))

    def _value(self, text: str) -> int | float:
        try:
            if text.startswith("0x"):
                return int(text, 16)
            return float(text) if "." in text or "e" in text else int(text)
        except ValueError:  # Python refuses decimal integers of thousands of digits
            self.fail("a number is too long")
