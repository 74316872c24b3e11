"""What printer and parser of the text form agree on: names, dtypes, operators, default dtypes, limits."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from enum import IntEnum
from typing import TypeVar

from portcheck.core.dtype import BOOL, CONCRETE, FLOAT32, INT32, DType, dtype_of
from portcheck.core.errors import PortcheckError
from portcheck.ir.operators import PREDICATES, Operator

Operand = TypeVar("Operand")

INDENT = "  "
DEPTH_LIMIT = 120
"""How deep expressions may be nested in the text form."""
REGION_LIMIT = 128
"""How deep regions may be nested in the text form; a while counts twice."""

NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", re.ASCII)
RESERVED = frozenset({"true", "false", "inf", "nan"})


class IrTextError(PortcheckError, ValueError):
    """Text that is not the text form of a program, or a program too deep to have one; `line` counts from 1, 0: none."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {message}" if line else message, exit_code=2)
        self.line = line


class Level(IntEnum):
    """How tightly an operator binds, loosest first."""

    OR = 1
    AND = 2
    COMPARISON = 3
    BITS = 4
    SUM = 5
    PRODUCT = 6
    PREFIX = 7
    ATOM = 8


INFIX: dict[Operator, tuple[str, Level]] = {
    Operator.LOGICAL_OR: ("||", Level.OR),
    Operator.LOGICAL_AND: ("&&", Level.AND),
    Operator.EQUAL: ("==", Level.COMPARISON),
    Operator.NOT_EQUAL: ("!=", Level.COMPARISON),
    Operator.LESS: ("<", Level.COMPARISON),
    Operator.LESS_EQUAL: ("<=", Level.COMPARISON),
    Operator.GREATER: (">", Level.COMPARISON),
    Operator.GREATER_EQUAL: (">=", Level.COMPARISON),
    Operator.BITWISE_AND: ("&", Level.BITS),
    Operator.BITWISE_OR: ("|", Level.BITS),
    Operator.BITWISE_XOR: ("^", Level.BITS),
    Operator.SHIFT_LEFT: ("<<", Level.BITS),
    Operator.SHIFT_RIGHT_ARITHMETIC: (">>", Level.BITS),
    Operator.SHIFT_RIGHT_LOGICAL: (">>>", Level.BITS),
    Operator.ADD: ("+", Level.SUM),
    Operator.SUBTRACT: ("-", Level.SUM),
    Operator.MULTIPLY: ("*", Level.PRODUCT),
    Operator.DIVIDE: ("/", Level.PRODUCT),
    Operator.FLOOR_DIVIDE: ("//", Level.PRODUCT),
}
PREFIX: dict[Operator, str] = {Operator.NEGATE: "-", Operator.BITWISE_NOT: "~", Operator.LOGICAL_NOT: "!"}


def needs_parentheses(parent: Level, child: Level, *, is_left: bool, is_same: bool) -> bool:
    """Whether an operand of an infix operator is put in parentheses; more often than the parser needs them.

    Bit operators are set apart from everything but a chain of themselves: languages disagree on how tightly they bind.
    """
    if parent is Level.BITS:
        return child < Level.PREFIX and not (is_left and is_same)
    if parent is Level.COMPARISON:
        return child < Level.SUM
    return child < parent or (child == parent and not is_left) or child is Level.BITS


def quoted(text: str) -> str:
    """`text` in double quotes, on one line."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(text)
    return json.dumps(text, ensure_ascii=False)


def number_text(value: float) -> str:
    """A number or truth value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) >= 1 << 64:
        return hex(value)
    return repr(value)


def name_text(name: str) -> str:
    """`name` as it stands where it is plain or dotted, else in quotes."""
    return name if NAME.fullmatch(name) and name not in RESERVED else quoted(name)


def dtype_text(dtype: DType) -> str:
    """A dtype by its name; `dtype(x)` for a symbolic one; `<name kind>` for one that is not among the known."""
    if CONCRETE.get(dtype.name) == dtype:
        return dtype.name
    parameter = dtype.name.removeprefix("dtype(").removesuffix(")")
    if dtype == dtype_of(parameter):
        return f"dtype({name_text(parameter)})"
    return f"<{name_text(dtype.name)} {dtype.kind}>"


def setting_dtype(operator: Operator, arguments: Sequence[Operand]) -> Sequence[Operand]:
    """The arguments that settle the dtype of the numbers beside them: all but the condition of a `select`."""
    return arguments[1:] if operator is Operator.SELECT else arguments


def default_number_dtype(value: float, neighbour: DType | None) -> DType:
    """The dtype of a number written without one, beside an operand of dtype `neighbour`."""
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return INT32 if neighbour is None or neighbour == BOOL else neighbour
    if neighbour is None or not (neighbour.is_float or neighbour.is_symbolic):
        return FLOAT32
    return neighbour


def default_result_dtype(operator: Operator, arguments: Sequence[DType]) -> DType:
    """The dtype of an operator written without one."""
    if operator in PREDICATES or not arguments:
        return BOOL
    if operator is Operator.SELECT and len(arguments) > 1:
        return arguments[1]
    return arguments[0]
