"""Evaluates the condition of an `#if` as the preprocessor does: what is not defined is 0."""

from __future__ import annotations

from collections.abc import Mapping

from portcheck.frontends.cuda.text.expansion import Exceeded, Expander
from portcheck.frontends.cuda.text.lexer import Token, TokenKind, significant
from portcheck.frontends.cuda.text.literals import integer_literal
from portcheck.frontends.cuda.text.macros import Macro

_DEEPEST = 100
_MOST_TOKENS = 20_000
_PRECEDENCE = {
    "||": 1, "or": 1, "&&": 2, "and": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip


class _Unreadable(Exception):  # noqa: N818  # reads as what it says
    """The condition is not one."""


def holds(text: str, macros: Mapping[str, Macro], undefined: set[str]) -> bool:
    """Whether the condition `text` holds; names that were taken for 0 are added to `undefined`."""
    prepared = " ".join(token.text for token in _without_defined(significant(text), macros, undefined))
    try:
        expanded = significant(Expander(macros, _MOST_TOKENS).text(prepared))
        reader = _Reader(_without_defined(expanded, macros, undefined), undefined)
        return reader.binary(0, 0) != 0
    except (_Unreadable, Exceeded, RecursionError):
        return False


def _without_defined(tokens: list[Token], macros: Mapping[str, Macro], undefined: set[str]) -> list[Token]:
    """`defined X` and `defined(X)` replaced by 1 or 0."""
    found: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.text != "defined":
            found.append(token)
            index += 1
            continue
        names = [following.text for following in tokens[index + 1 : index + 4]]
        has_parentheses = names[:1] == ["("]
        name = names[1] if has_parentheses and len(names) > 1 else "".join(names[:1])
        if name not in macros:
            undefined.add(name)
        found.append(Token(TokenKind.NUMBER, "1" if name in macros else "0", token.start))
        index += 4 if has_parentheses else 2
    return found


class _Reader:
    def __init__(self, tokens: list[Token], undefined: set[str]) -> None:
        self._tokens = tokens
        self._undefined = undefined
        self._next = 0

    def _peek(self) -> str:
        return self._tokens[self._next].text if self._next < len(self._tokens) else ""

    def _take(self) -> Token:
        if self._next >= len(self._tokens):
            raise _Unreadable
        self._next += 1
        return self._tokens[self._next - 1]

    def binary(self, least: int, depth: int) -> int:
        """A chain of binary operators that bind tighter than `least`."""
        left = self._unary(depth + 1)
        while (rank := _PRECEDENCE.get(self._peek(), 0)) > least:
            operator = self._take().text
            left = _combine(operator, left, self.binary(rank, depth + 1))
        return left

    def _unary(self, depth: int) -> int:
        if depth > _DEEPEST:
            raise _Unreadable
        token = self._take()
        match token.text:
            case "!" | "not":
                return int(not self._unary(depth + 1))
            case "-":
                return -self._unary(depth + 1)
            case "+":
                return self._unary(depth + 1)
            case "~":
                return ~self._unary(depth + 1)
            case "(":
                value = self.binary(0, depth + 1)
                if self._take().text != ")":
                    raise _Unreadable
                return value
            case _:
                pass
        return self._primary(token)

    def _primary(self, token: Token) -> int:
        if token.kind is TokenKind.NUMBER:
            value = integer_literal(token.text)
            if value is None:
                raise _Unreadable
            return int(value.value)
        if token.kind is not TokenKind.NAME:
            raise _Unreadable
        if token.text == "true":
            return 1
        self._undefined.add(token.text)
        if self._peek() == "(":
            self._skip_arguments()
        return 0

    def _skip_arguments(self) -> None:
        depth = 0
        while True:
            text = self._take().text
            depth += (text == "(") - (text == ")")
            if depth == 0:
                return


def _combine(operator: str, left: int, right: int) -> int:
    match operator:
        case "||" | "or":
            return int(bool(left) or bool(right))
        case "&&" | "and":
            return int(bool(left) and bool(right))
        case "|":
            return left | right
        case "^":
            return left ^ right
        case "&":
            return left & right
        case "==":
            return int(left == right)
        case "!=":
            return int(left != right)
        case "<":
            return int(left < right)
        case "<=":
            return int(left <= right)
        case ">":
            return int(left > right)
        case ">=":
            return int(left >= right)
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case _:
            pass
    return _combine_rare(operator, left, right)


def _combine_rare(operator: str, left: int, right: int) -> int:
    if operator in ("<<", ">>"):
        if not 0 <= right < 64:
            raise _Unreadable
        return (left << right) & (2**64 - 1) if operator == "<<" else left >> right
    if right == 0:
        raise _Unreadable
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    return quotient if operator == "/" else left - quotient * right
