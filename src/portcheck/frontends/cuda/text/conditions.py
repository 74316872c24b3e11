"""Evaluates the condition of an `#if` as the preprocessor does: what is not defined is 0."""

from __future__ import annotations

import operator as operators
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from portcheck.frontends.cuda.text.expansion import Exceeded, Expander
from portcheck.frontends.cuda.text.lexer import Token, TokenKind, significant
from portcheck.frontends.cuda.text.literals import character_literal, integer_literal
from portcheck.frontends.cuda.text.macros import Macro

_DEEPEST = 100
_MOST_TOKENS = 20_000
_PRECEDENCE = {
    "||": 1, "or": 1, "&&": 2, "and": 2, "|": 3, "bitor": 3, "^": 4, "xor": 4, "&": 5, "bitand": 5, "==": 6, "!=": 6,
    "not_eq": 6, "<": 7, "<=": 7, ">": 7, ">=": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip


_AND, _OR = frozenset({"&&", "and"}), frozenset({"||", "or"})
_COMPARISONS = {
    "==": operators.eq, "!=": operators.ne, "not_eq": operators.ne, "<": operators.lt, "<=": operators.le,
    ">": operators.gt, ">=": operators.ge,
}  # fmt: skip
_ARITHMETIC = {
    "|": operators.or_, "bitor": operators.or_, "^": operators.xor, "xor": operators.xor, "&": operators.and_,
    "bitand": operators.and_, "+": operators.add, "-": operators.sub, "*": operators.mul,
}  # fmt: skip
_MOST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Number:
    """A number of 64 bits, signed or not: the preprocessor has no others (ISO C++20 [cpp.cond])."""

    value: int
    is_unsigned: bool = False


class _Unreadable(Exception):  # noqa: N818  # reads as what it says
    """The condition is not one."""


def holds(text: str, macros: Mapping[str, Macro], undefined: set[str]) -> bool:
    """Whether the condition `text` holds; names that were taken for 0 are added to `undefined`."""
    prepared = " ".join(token.text for token in _without_defined(significant(text), macros, undefined))
    try:
        expanded = significant(Expander(macros, _MOST_TOKENS).text(prepared))
        reader = _Reader(_without_defined(expanded, macros, undefined), undefined)
        return reader.choice(0).value != 0
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
        self._unwanted = 0

    def _peek(self) -> str:
        return self._tokens[self._next].text if self._next < len(self._tokens) else ""

    def _take(self) -> Token:
        if self._next >= len(self._tokens):
            raise _Unreadable
        self._next += 1
        return self._tokens[self._next - 1]

    def choice(self, depth: int) -> Number:
        """A condition with `?:`, or without."""
        condition = self.binary(0, depth)
        if self._peek() != "?":
            return condition
        self._take()
        with self._unwanted_where(condition.value == 0):
            on_true = self.choice(depth + 1)
        if self._take().text != ":":
            raise _Unreadable
        with self._unwanted_where(condition.value != 0):
            on_false = self.choice(depth + 1)
        is_unsigned = on_true.is_unsigned or on_false.is_unsigned
        return _number((on_true if condition.value else on_false).value, is_unsigned)

    def binary(self, least: int, depth: int) -> Number:
        """A chain of binary operators that bind tighter than `least`."""
        left = self._unary(depth + 1)
        while (rank := _PRECEDENCE.get(self._peek(), 0)) > least:
            operator = self._take().text
            is_decided = (operator in _AND and left.value == 0) or (operator in _OR and left.value != 0)
            with self._unwanted_where(is_decided):
                right = self.binary(rank, depth + 1)
            left = self._combined(operator, left, right)
        return left

    @contextmanager
    def _unwanted_where(self, is_unwanted: bool) -> Iterator[None]:
        """What is read inside the `with` block is perhaps not wanted: then a division by 0 is no fault."""
        self._unwanted += is_unwanted
        yield
        self._unwanted -= is_unwanted

    def _combined(self, operator: str, left: Number, right: Number) -> Number:
        try:
            return _combine(operator, left, right)
        except _Unreadable:
            if not self._unwanted:
                raise
            return Number(0)

    def _unary(self, depth: int) -> Number:
        if depth > _DEEPEST:
            raise _Unreadable
        token = self._take()
        match token.text:
            case "!" | "not":
                return Number(int(not self._unary(depth + 1).value))
            case "-":
                return _combine("-", Number(0), self._unary(depth + 1))
            case "+":
                return self._unary(depth + 1)
            case "~" | "compl":
                operand = self._unary(depth + 1)
                return _number(~operand.value, operand.is_unsigned)
            case "(":
                value = self.choice(depth + 1)
                if self._take().text != ")":
                    raise _Unreadable
                return value
            case _:
                pass
        return self._primary(token)

    def _primary(self, token: Token) -> Number:
        if token.kind is TokenKind.NUMBER:
            literal = integer_literal(token.text)
            if literal is None:
                raise _Unreadable
            value = int(literal.value)
            return Number(value, value > _MOST or "u" in token.text.lower())
        if token.kind is TokenKind.STRING:
            character = character_literal(token.text)
            if character is None:
                raise _Unreadable
            return Number(int(character.value))
        if token.kind is not TokenKind.NAME:
            raise _Unreadable
        if token.text == "true":
            return Number(1)
        self._undefined.add(token.text)
        if self._peek() == "(":
            self._skip_arguments()
        return Number(0)

    def _skip_arguments(self) -> None:
        depth = 0
        while True:
            text = self._take().text
            depth += (text == "(") - (text == ")")
            if depth == 0:
                return


def _number(value: int, is_unsigned: bool) -> Number:
    """A number of 64 bits that `value` wraps to."""
    value &= 2**64 - 1
    return Number(value if is_unsigned or value <= _MOST else value - 2**64, is_unsigned)


def _combine(operator: str, left: Number, right: Number) -> Number:
    """`left operator right`: unsigned where one of them is, as C converts them (a shift: where the left one is)."""
    if operator in _AND | _OR:
        both, either = bool(left.value) and bool(right.value), bool(left.value) or bool(right.value)
        return Number(int(both if operator in _AND else either))
    if operator in ("<<", ">>"):
        if not 0 <= right.value < 64:
            raise _Unreadable
        shifted = left.value << right.value if operator == "<<" else left.value >> right.value
        return _number(shifted, left.is_unsigned)
    is_unsigned = left.is_unsigned or right.is_unsigned
    one, other = _number(left.value, is_unsigned).value, _number(right.value, is_unsigned).value
    if operator in _COMPARISONS:
        return Number(int(_COMPARISONS[operator](one, other)))
    if operator in _ARITHMETIC:
        return _number(_ARITHMETIC[operator](one, other), is_unsigned)
    if other == 0:
        raise _Unreadable
    quotient = abs(one) // abs(other) * (1 if (one < 0) == (other < 0) else -1)
    return _number(quotient if operator == "/" else one - quotient * other, is_unsigned)
