"""Reading the parts of a line: expressions, types, places, axes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar, assert_never

from portcheck.core.dtype import CONCRETE, INT32, DType, DTypeKind, dtype_of
from portcheck.core.source import Position, Span
from portcheck.ir.expr import Apply, Const, Expr, Ref, Symbol
from portcheck.ir.operators import Operator
from portcheck.ir.text.spelling import (
    DEPTH_LIMIT,
    INFIX,
    PREFIX,
    Level,
    default_number_dtype,
    default_result_dtype,
    setting_dtype,
)  # fmt: skip
from portcheck.ir.text.tokens import Cursor
from portcheck.ir.types import Axis, AxisKind, Space, ValueType

_INFIX = {sign: (operator, level) for operator, (sign, level) in INFIX.items()}
_PREFIX = {sign: operator for operator, sign in PREFIX.items()}
_SPACES = {space.value: space for space in Space}
_WORDS: dict[str, float] = {"true": True, "false": False, "inf": math.inf, "nan": math.nan}
_FRAME_LIMIT = 4 * DEPTH_LIMIT
"""Calls that reading one expression may be deep; four levels of printing are at most one level of the tree."""

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class _Number:
    """A number whose dtype may still depend on what stands beside it."""

    value: float
    dtype: DType | None = None


@dataclass(frozen=True, slots=True)
class _Applied:
    """An operator whose arguments may not have dtypes yet."""

    operator: Operator
    arguments: tuple[_Draft, ...]
    depth: int
    is_anchored: bool
    dtype: DType | None = None


_Draft = _Number | Symbol | Ref | _Applied


def _depth(draft: _Draft) -> int:
    return draft.depth if isinstance(draft, _Applied) else 0


def _is_anchored(draft: _Draft) -> bool:
    return draft.is_anchored if isinstance(draft, _Applied) else not isinstance(draft, _Number)


def _settled(draft: _Draft, neighbour: DType | None) -> Expr:
    match draft:
        case Symbol() | Ref():
            return draft
        case _Number(value, dtype):
            return Const(value, dtype or default_number_dtype(value, neighbour))
        case _Applied(operator, arguments):
            # An anchored argument does not look at its neighbours, so it can be settled before them.
            settled = [_settled(argument, None) if _is_anchored(argument) else None for argument in arguments]
            near = next((one.dtype for one in setting_dtype(operator, settled) if one is not None), neighbour)
            complete = tuple(
                _settled(argument, near) if one is None else one
                for argument, one in zip(arguments, settled, strict=True)
            )
            usual = default_result_dtype(operator, [argument.dtype for argument in complete])
            return Apply(operator, complete, draft.dtype or usual)
        case _:
            assert_never(draft)


class ExpressionParser:
    """Reads in the context of one program: its path, its symbols' dtypes and those of the results read so far."""

    def __init__(self) -> None:
        self.path = ""
        self.symbols: dict[str, DType] = {}
        self.results: dict[int, DType] = {}

    def expression(self, cursor: Cursor) -> Expr:
        """An expression."""
        return _settled(self._infix(cursor, Level.OR, 0), None)

    def expressions(self, cursor: Cursor) -> tuple[Expr, ...]:
        """Expressions with commas between them."""
        return self.listed(cursor, self.expression)

    def listed(self, cursor: Cursor, read: Callable[[Cursor], Item]) -> tuple[Item, ...]:
        """What `read` reads, once or more, with commas in between."""
        found = [read(cursor)]
        while cursor.accept(","):
            found.append(read(cursor))
        return tuple(found)

    def in_parentheses(self, cursor: Cursor, read: Callable[[Cursor], Item]) -> Item:
        """What `read` reads, in parentheses."""
        cursor.expect("(")
        found = read(cursor)
        cursor.expect(")")
        return found

    def list_in_parentheses(self, cursor: Cursor) -> tuple[Expr, ...]:
        """Expressions in parentheses, or `()`."""
        cursor.expect("(")
        found = () if cursor.peek().text == ")" else self.expressions(cursor)
        cursor.expect(")")
        return found

    def application(self, cursor: Cursor) -> tuple[Operator, tuple[Expr, ...]]:
        """An expression that is an operator with its operands and has no dtype of its own."""
        draft = self._infix(cursor, Level.OR, 0)
        if not isinstance(draft, _Applied) or draft.dtype is not None:
            cursor.fail("expected an operator and its operands")
        applied = _settled(draft, None)
        assert isinstance(applied, Apply)
        return applied.operator, applied.arguments

    def selection(self, cursor: Cursor) -> tuple[Expr, ...]:
        """The operands of a `select` whose name has been read."""
        applied = _settled(self._call(cursor, Operator.SELECT, 0), None)
        assert isinstance(applied, Apply)
        return applied.arguments

    # Drafts; `frames` counts how deep the calls are

    def _infix(self, cursor: Cursor, lowest: int, frames: int) -> _Draft:
        if frames > _FRAME_LIMIT:
            cursor.fail(f"an expression is nested deeper than {DEPTH_LIMIT}")
        left = self._prefix(cursor, frames)
        while cursor.peek().kind == "sign" and cursor.peek().text in _INFIX:
            operator, level = _INFIX[cursor.peek().text]
            if level < lowest:
                break
            cursor.take()
            left = self._applied(cursor, operator, (left, self._infix(cursor, level + 1, frames + 1)))
        return left

    def _prefix(self, cursor: Cursor, frames: int) -> _Draft:
        if frames > _FRAME_LIMIT:
            cursor.fail(f"an expression is nested deeper than {DEPTH_LIMIT}")
        following = cursor.peek(1)
        if cursor.peek().text == "-" and (following.kind == "number" or following.text == "inf"):
            cursor.take()
            number = self._number(cursor)
            return self._with_dtype(cursor, _Number(-number))
        sign = cursor.peek()
        if sign.kind == "sign" and sign.text in _PREFIX:
            cursor.take()
            return self._applied(cursor, _PREFIX[sign.text], (self._prefix(cursor, frames + 1),))
        return self._with_dtype(cursor, self._atom(cursor, frames + 3))

    def _atom(self, cursor: Cursor, frames: int) -> _Draft:
        token = cursor.peek()
        if cursor.accept("("):
            inner = self._infix(cursor, Level.OR, frames)
            cursor.expect(")")
            return inner
        if token.kind == "result":
            return self._ref(cursor)
        if token.kind == "number" or (token.kind == "word" and token.text in _WORDS):
            return _Number(self._number(cursor))
        if token.kind == "word" and cursor.peek(1).text == "(":
            return self._call(cursor, cursor.choice(Operator), frames)
        if token.kind in ("word", "string"):
            name = cursor.name()
            return Symbol(name, self.symbols.get(name, INT32))
        return cursor.fail(f"expected an expression, found {token.text}")

    def _number(self, cursor: Cursor) -> float:
        return _WORDS[cursor.word()] if cursor.peek().kind == "word" else cursor.number()

    def _call(self, cursor: Cursor, operator: Operator, frames: int) -> _Draft:
        cursor.expect("(")
        arguments: list[_Draft] = []
        while not cursor.accept(")"):
            if arguments:
                cursor.expect(",")
            arguments.append(self._infix(cursor, Level.OR, frames))
        return self._applied(cursor, operator, tuple(arguments))

    def _applied(self, cursor: Cursor, operator: Operator, arguments: tuple[_Draft, ...]) -> _Applied:
        depth = 1 + max(map(_depth, arguments), default=0)
        if depth > DEPTH_LIMIT:
            cursor.fail(f"an expression is nested deeper than {DEPTH_LIMIT}")
        is_anchored = any(_is_anchored(argument) for argument in setting_dtype(operator, arguments))
        return _Applied(operator, arguments, depth, is_anchored)

    def _ref(self, cursor: Cursor) -> Ref:
        id = cursor.result_id()
        if cursor.accept(":"):
            return Ref(id, self.dtype(cursor))
        if id not in self.results:
            cursor.fail(f"%{id} is not the result of a line above; write its dtype: %{id}:float32")
        return Ref(id, self.results[id])

    def _with_dtype(self, cursor: Cursor, draft: _Draft) -> _Draft:
        return replace(draft, dtype=self.dtype(cursor)) if cursor.accept(":") else draft

    # Types, axes, places

    def dtype(self, cursor: Cursor) -> DType:
        """A dtype."""
        if cursor.accept("<"):
            name, kind = cursor.name(), cursor.choice(DTypeKind)
            cursor.expect(">")
            return DType(name, kind)
        word = cursor.word()
        if word == "dtype":
            return dtype_of(self.in_parentheses(cursor, Cursor.name))
        if word not in CONCRETE:
            cursor.fail(f"{word!r} is no dtype")
        return CONCRETE[word]

    def type(self, cursor: Cursor) -> ValueType:
        """A type: dtype, shape, space."""
        dtype = self.dtype(cursor)
        shape: tuple[Expr, ...] = ()
        if cursor.accept("["):
            shape = self.expressions(cursor)
            cursor.expect("]")
        word = cursor.peek()
        if word.kind == "word" and word.text in _SPACES:
            cursor.take()
            return ValueType(dtype, shape, _SPACES[word.text])
        return ValueType(dtype, shape)

    def axis(self, cursor: Cursor) -> Axis:
        """An axis, with or without its extent."""
        name = cursor.name()
        cursor.expect(":")
        kind = cursor.choice(AxisKind)
        return Axis(name, kind, self.expression(cursor) if cursor.accept("<") else None)

    def place(self, cursor: Cursor) -> Span | None:
        """A place, if one follows."""
        if not cursor.accept("@"):
            return None
        path = cursor.string() if cursor.peek().kind == "string" else self.path
        line = cursor.integer()
        cursor.expect(":")
        start = Position(line, cursor.integer())
        cursor.expect("-")
        column = cursor.integer()
        if cursor.accept(":"):
            return Span(path, start, Position(column, cursor.integer()))
        return Span(path, start, Position(line, column))
