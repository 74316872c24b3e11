"""The uses of a program in the text form: one `use` line each, below it its runs, below each run its arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from portcheck.ir.text.expression_printing import ExpressionPrinter
from portcheck.ir.text.operation_parsing import OperationParser
from portcheck.ir.text.spelling import DEPTH_LIMIT, INDENT, IrTextError, dtype_text, name_text, quoted
from portcheck.ir.text.tokens import Cursor
from portcheck.ir.uses import (
    Argument,
    DTypeUse,
    GroupUse,
    NameUse,
    NoneUse,
    NumberUse,
    OperandUse,
    OtherUse,
    TextUse,
    TileUse,
    Use,
)  # fmt: skip


def use_lines(printer: ExpressionPrinter, use: Use) -> Iterator[str]:
    """The lines of one use."""
    words = [f"use {use.kind}", name_text(use.name), f"in {name_text(use.kernel)}" if use.kernel else ""]
    words.append("" if use.is_understood else f"obstacle {quoted(use.reason)}")
    yield " ".join(word for word in (*words, printer.place(use.span)) if word)
    for run in use.runs:
        yield f"{INDENT}run"
        yield from (f"{INDENT}{INDENT}{_argument_text(printer, argument)}" for argument in run.arguments)
        if run.receiver is not None:
            yield f"{INDENT}{INDENT}receiver: {_operand_text(printer, run.receiver, 0)}"
        if run.result is not None:
            yield f"{INDENT}{INDENT}result: {_operand_text(printer, run.result, 0)}"


def _argument_text(printer: ExpressionPrinter, argument: Argument) -> str:
    role = f" role {name_text(argument.role)}" if argument.role else ""
    position = "" if argument.position is None else f" position {argument.position}"
    return f"argument {name_text(argument.parameter)}{role}{position}: {_operand_text(printer, argument.operand, 0)}"


def _operand_text(printer: ExpressionPrinter, operand: OperandUse, depth: int) -> str:
    if depth > DEPTH_LIMIT:
        raise IrTextError(f"a group is nested deeper than {DEPTH_LIMIT}")
    match operand:
        case TileUse(type=type, buffer=buffer, start=start, is_whole=is_whole):
            of = f" of {name_text(buffer)}" if buffer else ""
            begin = "" if start is None else f" from ({printer.expression(start)})"
            return f"tile {printer.type(type)}{of}{begin}{' whole' if is_whole else ''}"
        case NumberUse(value):
            return "number" if value is None else f"number {printer.expression(value)}"
        case TextUse(text):
            return f"text {quoted(text)}"
        case NameUse(name):
            return f"name {name_text(name)}"
        case DTypeUse(dtype):
            return f"dtype {dtype_text(dtype)}"
        case GroupUse(items, is_list):
            inside = ", ".join(_operand_text(printer, item, depth + 1) for item in items)
            return f"{'list' if is_list else 'tuple'}({inside})"
        case NoneUse():
            return "none"
        case OtherUse(text):
            return f"other {quoted(text)}"
        case _:
            assert_never(operand)


def read_argument(parser: OperationParser, cursor: Cursor) -> Argument:
    """The argument that stands on a line."""
    parameter = cursor.name()
    role = cursor.name() if cursor.accept("role") else ""
    position = cursor.integer() if cursor.accept("position") else None
    return Argument(parameter=parameter, role=role, position=position, operand=read_operand(parser, cursor))


def read_operand(parser: OperationParser, cursor: Cursor) -> OperandUse:
    """The operand that stands after a colon."""
    cursor.expect(":")
    return _operand(parser, cursor, 0)


def _operand(parser: OperationParser, cursor: Cursor, depth: int) -> OperandUse:
    if depth > DEPTH_LIMIT:
        cursor.fail(f"a group is nested deeper than {DEPTH_LIMIT}")
    word = cursor.word()
    match word:
        case "tile":
            type = parser.type(cursor)
            buffer = cursor.name() if cursor.accept("of") else ""
            start = parser.in_parentheses(cursor, parser.expression) if cursor.accept("from") else None
            return TileUse(type=type, buffer=buffer, start=start, is_whole=cursor.accept("whole"))
        case "number":
            is_known = not cursor.is_at_end() and cursor.peek().text not in (",", ")")
            return NumberUse(parser.expression(cursor) if is_known else None)
        case "text":
            return TextUse(cursor.string())
        case "name":
            return NameUse(cursor.name())
        case "dtype":
            return DTypeUse(parser.dtype(cursor))
        case "tuple" | "list":
            return GroupUse(_items(parser, cursor, depth), word == "list")
        case "none":
            return NoneUse()
        case "other":
            return OtherUse(cursor.string())
        case _:
            pass
    return cursor.fail(f"expected an operand, found {word}")


def _items(parser: OperationParser, cursor: Cursor, depth: int) -> tuple[OperandUse, ...]:
    cursor.expect("(")
    found: list[OperandUse] = []
    while not cursor.accept(")"):
        if found:
            cursor.expect(",")
        found.append(_operand(parser, cursor, depth + 1))
    return tuple(found)
