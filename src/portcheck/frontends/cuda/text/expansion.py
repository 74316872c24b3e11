"""Expansion of macros as the preprocessor does it: arguments first, then the body again, no macro inside itself.

The algorithm is that of Dave Prosser, which the C standard was worded after: every token carries the names of the
macros it came from, and is no use of those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from portcheck.frontends.cuda.text.lexer import Token, TokenKind, spaced, token_at, tokens_of
from portcheck.frontends.cuda.text.macros import Macro

_DEEPEST = 60
"""Macro arguments inside macro arguments."""
_NOTHING_HIDDEN: frozenset[str] = frozenset()


class Piece(NamedTuple):
    """A token of an expansion: whether it stands apart from the one before, and the macros it came from."""

    kind: TokenKind
    text: str
    is_spaced: bool
    hidden: frozenset[str] = _NOTHING_HIDDEN


class Exceeded(Exception):  # noqa: N818  # reads as what it says
    """An expansion comes to more tokens than are allowed."""


class Unclosed(Exception):  # noqa: N818  # reads as what it says
    """The arguments of a macro do not end where its text does."""


class Expander:
    """Expands uses of `macros`, which may change between them, up to `budget` tokens in all."""

    def __init__(self, macros: Mapping[str, Macro], budget: int) -> None:
        self._macros = macros
        self.budget = budget

    def text(self, text: str) -> str:
        """`text` with its macros expanded; raises Exceeded."""
        return joined(self.pieces([Piece(token.kind, token.text, apart) for token, apart in spaced(text)]))

    def use(self, text: str, name: Token) -> tuple[str, int]:
        """What the macro named by the token `name` of `text` stands for, and the place after the last token it takes.

        Raises Exceeded, and Unclosed where its arguments do not end.
        """
        rest = _Rest(text, name.end, self.budget)
        try:
            return joined(self._expanded([Piece(name.kind, name.text, is_spaced=False)], rest, 0)), rest.position
        except Unclosed:
            self.budget -= rest.taken  # what was looked at for nothing
            raise

    def pieces(self, given: Sequence[Piece], depth: int = 0) -> list[Piece]:
        """`given` with all its macros expanded."""
        try:
            return self._expanded(given, _Rest("", 0, 0), depth)
        except Unclosed:
            return list(given)

    def _expanded(self, given: Sequence[Piece], rest: _Rest, depth: int) -> list[Piece]:
        if depth > _DEEPEST:
            raise Exceeded
        pending = list(reversed(given))
        done: list[Piece] = []
        while pending:
            self.budget -= 1
            if self.budget < 0:
                raise Exceeded
            piece = pending.pop()
            macro = self._macros.get(piece.text) if piece.kind is TokenKind.NAME else None
            if macro is None or macro.name in piece.hidden:
                done.append(piece)
            elif macro.parameters is None:
                body = self._substituted(macro, [], depth)
                pending.extend(_marked(body, piece, piece.hidden | {macro.name}))
            elif not _opens(pending, rest):
                done.append(piece)
            else:
                arguments, close = _arguments(pending, rest)
                self.budget -= sum(map(len, arguments))
                body = self._substituted(macro, _fitted(macro, arguments), depth)
                pending.extend(_marked(body, piece, (piece.hidden & close.hidden) | {macro.name}))
        return done

    def _substituted(self, macro: Macro, arguments: Sequence[list[Piece]], depth: int) -> list[Piece]:
        """The body of `macro` with the arguments put in."""
        body = [Piece(token.kind, token.text, apart) for token, apart in macro.tokens]
        given = dict(zip(macro.parameters or (), arguments, strict=False))
        expanded: dict[str, list[Piece]] = {}
        rest = macro.parameters[-1] if macro.parameters and macro.is_variadic else ""
        found: list[Piece] = []
        index = 0
        while index < len(body):
            piece = body[index]
            following = body[index + 1].text if index + 1 < len(body) else ""
            if piece.text == "#" and macro.parameters is not None and following in given:
                found.append(Piece(TokenKind.STRING, _quoted(given[following]), piece.is_spaced))
                index += 2
            elif piece.text == "##" and following:
                _paste(found, given.get(following, [body[index + 1]]), is_rest=following == rest)
                index += 2
            elif piece.text == "__VA_OPT__" and following == "(":
                inner, index = _balanced(body, index + 1)
                if any(given.get(rest, ())):
                    body[index:index] = inner
            elif piece.text in given and piece.kind is TokenKind.NAME:
                if following != "##" and piece.text not in expanded:
                    expanded[piece.text] = self.pieces(given[piece.text], depth + 1)
                value = given[piece.text] if following == "##" else expanded[piece.text]
                found.extend(_apart(value, piece))
                index += 1
            else:
                found.append(piece)
                index += 1
            self.budget -= 1
        self.budget -= len(found)
        if self.budget < 0:
            raise Exceeded
        return found


class _Rest:
    """The text after a use: what its arguments may stand in, up to `most` tokens."""

    def __init__(self, text: str, position: int, most: int) -> None:
        self._text = text
        self._most = most
        self.position = position
        self.taken = 0

    def peek(self) -> Token | None:
        """The next token that means something."""
        return token_at(self._text, self.position)

    def take(self) -> Piece:
        """The next token that means something, which is passed; raises Unclosed at the end, or at `most`."""
        token = self.peek()
        if token is None:
            raise Unclosed
        is_spaced = token.start != self.position
        self.position = token.end
        self.taken += 1
        if self.taken > self._most:
            raise Unclosed
        return Piece(token.kind, token.text, is_spaced)


def _opens(pending: list[Piece], rest: _Rest) -> bool:
    if pending:
        return pending[-1].text == "("
    token = rest.peek()
    return token is not None and token.text == "("


def _arguments(pending: list[Piece], rest: _Rest) -> tuple[list[list[Piece]], Piece]:
    """The arguments of a use whose `(` comes next, and the `)` after them."""
    opening = pending.pop() if pending else rest.take()
    found: list[list[Piece]] = [[]]
    depth = len(opening.text)
    while True:
        piece = pending.pop() if pending else rest.take()
        depth += (piece.text == "(") - (piece.text == ")")
        if depth == 0:
            return found, piece
        if depth == 1 and piece.text == ",":
            found.append([])
        else:
            found[-1].append(piece)


def _fitted(macro: Macro, arguments: list[list[Piece]]) -> list[list[Piece]]:
    """One argument for every parameter; raises Unclosed where that cannot be."""
    parameters = macro.parameters or ()
    count = len(parameters)
    if count == 0 and arguments == [[]]:
        return []
    if macro.is_variadic and len(arguments) >= count:
        rest: list[Piece] = []
        for argument in arguments[count - 1 :]:
            rest.extend([Piece(TokenKind.PUNCTUATION, ",", is_spaced=False)] if rest else [])
            rest.extend(argument)
        return [*arguments[: count - 1], rest]
    if macro.is_variadic and len(arguments) == count - 1:
        return [*arguments, []]
    if len(arguments) != count:
        raise Unclosed
    return arguments


def _marked(body: list[Piece], use: Piece, hidden: frozenset[str]) -> list[Piece]:
    """`body` in the place of `use`, last token first."""
    marked = [piece._replace(hidden=piece.hidden | hidden) for piece in body]
    if marked:
        marked[0] = marked[0]._replace(is_spaced=use.is_spaced)
    marked.reverse()
    return marked


def _apart(value: list[Piece], parameter: Piece) -> list[Piece]:
    return [value[0]._replace(is_spaced=True), *value[1:]] if value else []


def _paste(found: list[Piece], right: list[Piece], *, is_rest: bool) -> None:
    """`found ## right`; a comma before no arguments at all goes away."""
    if is_rest and found and found[-1].text == ",":
        if not right:
            found.pop()
        found.extend(right)
        return
    if not found or not right:
        found.extend(right)
        return
    left = found.pop()
    tokens = tokens_of(left.text + right[0].text)
    kind = tokens[0].kind if len(tokens) == 1 else TokenKind.PUNCTUATION
    found.append(Piece(kind, left.text + right[0].text, left.is_spaced, left.hidden & right[0].hidden))
    found.extend(right[1:])


def _balanced(body: list[Piece], start: int) -> tuple[list[Piece], int]:
    """What stands in the parentheses that open at `start`, and the index after them."""
    depth = 0
    for index in range(start, len(body)):
        depth += (body[index].text == "(") - (body[index].text == ")")
        if depth == 0:
            return body[start + 1 : index], index + 1
    return body[start + 1 :], len(body)


def _quoted(pieces: list[Piece]) -> str:
    text = joined(pieces).strip()
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def joined(pieces: Sequence[Piece]) -> str:
    """The text of the tokens, apart where they stood apart and where they would grow together."""
    parts: list[str] = []
    last = ""
    for piece in pieces:
        if last and (piece.is_spaced or (_is_word(last[-1]) and _is_word(piece.text[:1]))):
            parts.append(" ")
        parts.append(piece.text)
        last = piece.text
    return "".join(parts)


def _is_word(character: str) -> bool:
    return character == "_" or character.isalnum()
