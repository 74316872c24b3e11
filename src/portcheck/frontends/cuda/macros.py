"""Macros: what a `#define` says, and the text a use of one stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from portcheck.frontends.cuda.lexer import Token, TokenKind, significant, tokens_of

_LARGEST_EXPANSION = 20_000
_ASSIGNMENTS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"})


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro; `parameters` is None for one without an argument list."""

    name: str
    parameters: tuple[str, ...] | None
    body: str

    @property
    def is_empty(self) -> bool:
        """Whether a use of it leaves nothing."""
        return not significant(self.body)


def read_definition(text: str) -> Macro | None:
    """The macro that the text after `#define` defines; None where it is malformed."""
    tokens = tokens_of(text.strip())
    if not tokens or tokens[0].kind is not TokenKind.NAME:
        return None
    name = tokens[0].text
    if len(tokens) < 2 or tokens[1].text != "(":
        return Macro(name, None, _joined(tokens[1:]))
    parameters: list[str] = []
    for index, token in enumerate(tokens[2:], start=2):
        if token.text == ")":
            return Macro(name, tuple(parameters), _joined(tokens[index + 1 :]))
        if token.kind is TokenKind.NAME or token.text == "...":
            parameters.append("__VA_ARGS__" if token.text == "..." else token.text)
    return None


def expand_call(macro: Macro, arguments: Sequence[str]) -> str | None:
    """The body of a function-like macro with `arguments` put in; None where it pastes, or the counts differ."""
    parameters = macro.parameters
    if parameters is None:
        return None
    texts = list(arguments)
    if parameters and parameters[-1] == "__VA_ARGS__" and len(texts) >= len(parameters) - 1:
        fixed = len(parameters) - 1
        texts = [*texts[:fixed], ", ".join(texts[fixed:])]
    if len(texts) != len(parameters):
        return None
    values = dict(zip(parameters, texts, strict=True))
    pieces: list[str] = []
    for token in tokens_of(macro.body):
        if token.text in ("#", "##"):
            return None
        pieces.append(values.get(token.text, token.text) if token.kind is TokenKind.NAME else token.text)
    expanded = "".join(pieces)
    return expanded if len(expanded) <= _LARGEST_EXPANSION else None


def expand_objects(text: str, macros: Mapping[str, Macro], depth: int = 16) -> list[Token]:
    """The tokens of `text` with object-like macros replaced, as far as `depth` allows."""
    found: list[Token] = []
    for token in significant(text):
        macro = macros.get(token.text) if token.kind is TokenKind.NAME else None
        if macro is None or macro.parameters is not None or depth == 0 or len(found) > _LARGEST_EXPANSION:
            found.append(token)
        else:
            found.extend(expand_objects(macro.body, macros, depth - 1))
    return found


def assigns(macro: Macro, position: int) -> bool:
    """Whether a use of `macro` changes the variable given as its argument number `position`."""
    parameters = macro.parameters or ()
    if position >= len(parameters):
        return bool(parameters) and parameters[-1] == "__VA_ARGS__"
    tokens = [token.text for token in significant(macro.body)]
    for index, text in enumerate(tokens):
        if text != parameters[position]:
            continue
        after = next((found for found in tokens[index + 1 :] if found != ")"), "")
        before = next((found for found in reversed(tokens[:index]) if found != "("), "")
        if after in _ASSIGNMENTS or before in ("++", "--"):
            return True
    return False


def _joined(tokens: Sequence[Token]) -> str:
    """The tokens as one line: comments and line continuations become spaces."""
    texts = (" " if token.kind is TokenKind.COMMENT or token.text == "\\" else token.text for token in tokens)
    return " ".join("".join(texts).split("\n")).strip()
