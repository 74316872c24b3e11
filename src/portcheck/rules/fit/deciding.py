"""Whether an argument of a call is what the tables ask about."""

from __future__ import annotations

from portcheck.ir import Const
from portcheck.ir.uses import (
    Argument,
    DTypeUse,
    GroupUse,
    NameUse,
    NoneUse,
    NumberUse,
    OperandUse,
    Run,
    TextUse,
    TileUse,
)  # fmt: skip
from portcheck.knowledge import ApiVersion, Knowledge

BITWISE = "bitwise"
"""Any operator that works on bit patterns."""
GIVEN = "given"
"""Anything but None."""
NUMBER = "number"
"""A number where a tile may be given too."""


def argument_of(run: Run, parameter: str) -> Argument | None:
    """The argument given for `parameter`."""
    return next((argument for argument in run.arguments if argument.parameter == parameter), None)


def is_given(run: Run, parameter: str) -> bool:
    """Whether anything but None is given for `parameter`."""
    found = argument_of(run, parameter)
    return found is not None and not isinstance(found.operand, NoneUse)


def decided(run: Run, api: ApiVersion, knowledge: Knowledge, parameter: str, word: str) -> bool | None:
    """Whether the argument given for `parameter`, or else its default, is `word`; None where that cannot be told."""
    found = argument_of(run, parameter)
    if word == GIVEN:
        return found is not None and not isinstance(found.operand, NoneUse)
    if found is not None:
        return operand_is(found.operand, word, knowledge)
    declared = api.parameter(parameter)
    if declared is None or declared.default is None:
        return None
    return declared.default.strip("'\"").rpartition(".")[2] == word


def operand_is(operand: OperandUse, word: str, knowledge: Knowledge) -> bool | None:
    """Whether `operand` is `word`: the last part of a name, a number, a string, the dtype of a tile."""
    match operand:
        case NameUse(name):
            return _name_is(name, word, knowledge)
        case NumberUse(value):
            return _number_is(value.value, word) if isinstance(value, Const) else None
        case TextUse(text):
            return text == word
        case NoneUse():
            return word == "None"
        case DTypeUse(dtype):
            return None if dtype.is_symbolic else dtype.name == word
        case TileUse(type=type):
            return False if word == NUMBER else None if type.dtype.is_symbolic else type.dtype.name == word
        case GroupUse(items):
            answers = [operand_is(item, word, knowledge) for item in items]
            return True if True in answers else None if None in answers else False
        case _:
            return None


def _name_is(name: str, word: str, knowledge: Knowledge) -> bool | None:
    if word == BITWISE:
        entry = knowledge.operator_object(name)
        return entry.bitwise if entry is not None else None
    engine = knowledge.engine(name)
    return word in (engine, name.rpartition(".")[2])


def _number_is(value: object, word: str) -> bool:
    return word == NUMBER or str(value) == word
