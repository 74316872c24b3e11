"""Texts as lists of tokens that are cut, doubled, mixed and spoilt."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

OPENING = {"(": ")", "{": "}", "[": "]"}


@dataclass(frozen=True)
class Pieces:
    """What texts of one language are made of: its tokens, words, whole lines, and text to take balanced parts from."""

    tokens_of: Callable[[str], list[str]]
    words: Sequence[str]
    lines: Sequence[str]
    other: Callable[[], str]
    put_statement: Callable[[list[str]], None]


class Mutations:
    """Changes of a list of tokens, each as likely as the others."""

    def __init__(self, choose: random.Random, pieces: Pieces) -> None:
        self._random = choose
        self._pieces = pieces
        self._all: tuple[Callable[[list[str]], None], ...] = (
            self._cut, self._double, self._swap, self._put_word, self._put_line, pieces.put_statement, self._splice,
            self._truncate, self._nest,
        )  # fmt: skip

    def mutate(self, tokens: list[str]) -> None:
        """One change."""
        self._random.choice(self._all)(tokens)

    def _range(self, tokens: list[str]) -> tuple[int, int]:
        start = self._random.randrange(len(tokens) + 1)
        return start, min(len(tokens), start + self._random.choice((1, 1, 2, 5, 20)))

    def _cut(self, tokens: list[str]) -> None:
        start, end = self._range(tokens)
        del tokens[start:end]

    def _double(self, tokens: list[str]) -> None:
        start, end = self._range(tokens)
        tokens[end:end] = tokens[start:end] * self._random.choice((1, 1, 3, 30))

    def _swap(self, tokens: list[str]) -> None:
        if tokens:
            first, second = self._random.randrange(len(tokens)), self._random.randrange(len(tokens))
            tokens[first], tokens[second] = tokens[second], tokens[first]

    def _put_word(self, tokens: list[str]) -> None:
        start, end = self._range(tokens)
        word = self._random.choice(self._pieces.words)
        tokens[start : end if self._random.random() < 0.5 else start] = [" ", word, " "]

    def _put_line(self, tokens: list[str]) -> None:
        start, _ = self._range(tokens)
        tokens[start:start] = ["\n", self._random.choice(self._pieces.lines), "\n"]

    def _splice(self, tokens: list[str]) -> None:
        """A balanced stretch in the place of another."""
        mine, others = list(balanced(tokens)), self._pieces.tokens_of(self._pieces.other())
        given = list(balanced(others))
        if mine and given:
            (start, end), (first, last) = self._random.choice(mine), self._random.choice(given)
            tokens[start:end] = others[first:last]

    def _truncate(self, tokens: list[str]) -> None:
        start, _ = self._range(tokens)
        if self._random.random() < 0.3:
            del tokens[start:]

    def _nest(self, tokens: list[str]) -> None:
        start, end = self._range(tokens)
        opening = self._random.choice(sorted(OPENING))
        count = self._random.choice((1, 2, 40))
        tokens[start:end] = [opening * count, *tokens[start:end], OPENING[opening] * count]


def balanced(tokens: list[str]) -> Iterator[tuple[int, int]]:
    """The stretches between brackets, brackets included."""
    open_: list[int] = []
    for index, token in enumerate(tokens):
        if token in OPENING:
            open_.append(index)
        elif open_ and OPENING[tokens[open_[-1]]] == token:
            yield open_.pop(), index + 1
