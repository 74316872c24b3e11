"""Printing the parts of a line: expressions, types, places, clauses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

from portcheck.core.dtype import INT32, DType
from portcheck.core.source import NOWHERE, Span
from portcheck.ir.expr import Apply, Const, Expr, Ref, Symbol
from portcheck.ir.operators import Operator, arity
from portcheck.ir.text.spelling import (
    DEPTH_LIMIT,
    INFIX,
    PREFIX,
    IrTextError,
    Level,
    default_number_dtype,
    default_result_dtype,
    dtype_text,
    name_text,
    needs_parentheses,
    number_text,
    quoted,
    setting_dtype,
)  # fmt: skip
from portcheck.ir.types import Axis, Space, ValueType


def is_anchored(expression: Expr) -> bool:
    """Whether a symbol or a result settles the dtype of `expression`, whatever stands beside it."""
    stack = [expression]
    while stack:
        node = stack.pop()
        if isinstance(node, Symbol | Ref):
            return True
        if isinstance(node, Apply):
            stack.extend(setting_dtype(node.operator, node.arguments))
    return False


class ExpressionPrinter:
    """Prints in the context of one program: its path, its symbols' dtypes and those of the results printed so far."""

    def __init__(self, path: str, symbols: Mapping[str, DType]) -> None:
        self.path = path
        self.symbols = symbols
        self.results: dict[int, DType] = {}

    # Types, places, clauses

    def type(self, value_type: ValueType) -> str:
        """A type: dtype, shape, space."""
        shape = f"[{self.list(value_type.shape)}]" if value_type.shape else ""
        space = "" if value_type.space is Space.REGISTER else f" {value_type.space}"
        return f"{dtype_text(value_type.dtype)}{shape}{space}"

    def axis(self, axis: Axis) -> str:
        """An axis, with or without its extent."""
        extent = "" if axis.extent is None else f" < {self.expression(axis.extent)}"
        return f"{name_text(axis.name)}: {axis.kind}{extent}"

    def place(self, span: Span) -> str:
        """A place after `@`, or nothing."""
        return "" if span == NOWHERE else self.span(span)

    def span(self, span: Span) -> str:
        """A place after `@`."""
        path = "" if span.path == self.path else f"{quoted(span.path)} "
        end = f"{span.end.line}:" if span.end.line != span.start.line else ""
        return f"@{path}{span.start.line}:{span.start.column}-{end}{span.end.column}"

    def clause(self, word: str, values: Sequence[Expr]) -> str:
        """`word(a, b)`, or nothing where there are no values."""
        return f"{word}({self.list(values)})" if values else ""

    def optional(self, word: str, value: Expr | None) -> str:
        """`word(a)`, or nothing where there is no value."""
        return "" if value is None else f"{word}({self.expression(value)})"

    def list(self, values: Iterable[Expr]) -> str:
        """Expressions with commas between them."""
        return ", ".join(self.expression(value) for value in values)

    # Expressions

    def expression(self, expression: Expr) -> str:
        """An expression."""
        return self.spelled(expression, None, 0)[0]

    def spelled(self, expression: Expr, neighbour: DType | None, depth: int) -> tuple[str, Level]:
        """The text of `expression` and how tightly it binds."""
        if depth > DEPTH_LIMIT:
            raise IrTextError(f"an expression is nested deeper than {DEPTH_LIMIT}")
        match expression:
            case Const(value, dtype):
                usual, text, level = default_number_dtype(value, neighbour), number_text(value), Level.ATOM
            case Symbol(name, dtype):
                usual, text, level = self.symbols.get(name, INT32), name_text(name), Level.ATOM
            case Ref(id, dtype):
                # A result without a known definition (an invalid program) always shows its dtype.
                known = self.results.get(id)
                return (f"%{id}" if known == dtype else f"%{id}:{dtype_text(dtype)}"), Level.ATOM
            case Apply(operator, arguments, dtype):
                usual = default_result_dtype(operator, [argument.dtype for argument in arguments])
                text, level = self.applied(operator, arguments, neighbour, depth)
            case _:
                assert_never(expression)
        if dtype == usual:
            return text, level
        return f"{text if level is Level.ATOM else f'({text})'}:{dtype_text(dtype)}", Level.ATOM

    def applied(
        self, operator: Operator, arguments: Sequence[Expr], outer: DType | None, depth: int
    ) -> tuple[str, Level]:
        """The text of `operator` applied to `arguments`, without the dtype of the result."""
        relevant = setting_dtype(operator, arguments)
        neighbour = next((argument.dtype for argument in relevant if is_anchored(argument)), outer)
        spelled = [self.spelled(argument, neighbour, depth + 1) for argument in arguments]
        if operator in INFIX and len(arguments) == arity(operator):
            sign, level = INFIX[operator]
            sides = []
            for argument, (text, inner), is_left in zip(arguments, spelled, (True, False), strict=True):
                is_same = isinstance(argument, Apply) and argument.operator is operator
                parted = needs_parentheses(level, inner, is_left=is_left, is_same=is_same)
                sides.append(f"({text})" if parted else text)
            return f"{sides[0]} {sign} {sides[1]}", level
        if operator in PREFIX and len(arguments) == arity(operator):
            [(text, level)] = spelled
            is_bare = level is Level.ATOM and not isinstance(arguments[0], Const)
            return PREFIX[operator] + (text if is_bare else f"({text})"), Level.PREFIX
        return f"{operator}({', '.join(text for text, _ in spelled)})", Level.ATOM
