"""Kernels in text that the grammar reads as something else: found by their tokens, and each parsed by itself."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from portcheck.frontends.cuda.parsing.definitions import Definitions
from portcheck.frontends.cuda.parsing.parse import part_of
from portcheck.frontends.cuda.parsing.syntax import Unit
from portcheck.frontends.cuda.text.lexer import Token, TokenKind, significant

_ENTRY = "__global__"
_MOST = 64
_MOST_BYTES = 20_000_000
"""How much text is parsed again at most, over all kernels of a file."""
_ENDS = frozenset(";{}")
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


class _Definition(NamedTuple):
    """From where to where a kernel is written, and where it says that it is one, in characters."""

    start: int
    entry: int
    end: int


def read_stranded(definitions: Definitions, unit: Unit) -> int:
    """Adds the kernels of `unit` that no definition covers whole; how many were left out because they are too many.

    One whose template parameters stand apart from it is read again with them.
    """
    text = unit.encoded.decode("utf-8", "replace")
    if text.count(_ENTRY) <= len(definitions.kernels) and not unit.root.is_broken:
        return 0
    kernels = sorted(definitions.kernels, key=lambda function: function.node.start)
    starts = [unit.character(function.node.start) for function in kernels]
    stranded: list[_Definition] = []
    for written in _written(significant(text)):
        at = bisect_right(starts, written.entry) - 1
        covering = kernels[at] if at >= 0 and written.entry < unit.character(kernels[at].node.end) else None
        if covering is None or (covering.template is None and written.start < written.entry):
            stranded.append(written)
    most = min(_MOST, _MOST_BYTES // max(len(unit.encoded), 1))
    for written in stranded[:most]:
        start, end = (len(text[:place].encode("utf-8")) for place in (written.start, written.end))
        definitions.forget_kernel(start, end)
        definitions.collect(part_of(unit, start, end), own=True)
    definitions.kernels.sort(key=lambda function: function.node.start)
    return len(stranded[most:])


def _written(tokens: Sequence[Token]) -> Iterator[_Definition]:
    """The definitions of kernels among `tokens`; a declaration ends before a body begins."""
    for place, token in enumerate(tokens):
        if token.text != _ENTRY:
            continue
        body = _body(tokens, place)
        if body is not None:
            yield _Definition(_head(tokens, place), token.start, tokens[_closing(tokens, body)].end)


def _body(tokens: Sequence[Token], place: int) -> int | None:
    """Where the body begins that follows the head at `place`; None where there is none."""
    depth = 0
    for at in range(place + 1, len(tokens)):
        text = tokens[at].text
        if text == "{" and depth == 0:
            return at
        depth += (text in _OPENING) - (text in _CLOSING)
        if depth < 0 or text in (";", _ENTRY):
            return None
    return None


def _closing(tokens: Sequence[Token], opening: int) -> int:
    """Where the brace at `opening` is closed; the last token before the next kernel, or of all, where it is not."""
    depth = 0
    for at in range(opening, len(tokens)):
        depth += (tokens[at].text == "{") - (tokens[at].text == "}")
        if depth == 0:
            return at
        if tokens[at].text == _ENTRY:
            return at - 1
    return len(tokens) - 1


def _head(tokens: Sequence[Token], place: int) -> int:
    """Where the template parameters begin that belong to the kernel at `place`; else where it begins itself."""
    at = place - 1
    while at >= 0 and tokens[at].kind is TokenKind.NAME:
        at -= 1
    depth = nested = 0
    while at >= 0:
        text = tokens[at].text
        nested += (text in _CLOSING) - (text in _OPENING)
        depth += 0 if nested else text.count(">") - text.count("<")
        if depth <= 0 or (text in _ENDS and not nested):
            break
        at -= 1
    is_template = at > 0 and tokens[at].text == "<" and tokens[at - 1].text == "template"
    return tokens[at - 1].start if is_template else tokens[place].start
