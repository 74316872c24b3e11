"""Prints, assertions, traps and clocks: device-side checks that compute nothing."""

from __future__ import annotations

from portcheck.core.dtype import dtype_named
from portcheck.frontends.cuda.expressions.choices import condition
from portcheck.frontends.cuda.memory.places import read
from portcheck.frontends.cuda.memory.vectors import loaded
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Aggregate, Nothing, Scalar, Value
from portcheck.frontends.cuda.text.literals import string_literal
from portcheck.ir import TRUE, Check, CheckKind, Expr
from portcheck.knowledge import Construct, Role, Semantics

_CHECKS = {
    Semantics.CHECK_ASSERT: CheckKind.ASSERT, Semantics.CHECK_PRINT: CheckKind.PRINT,
    Semantics.CHECK_TRAP: CheckKind.TRAP, Semantics.CLOCK: CheckKind.CLOCK,
}  # fmt: skip
_JOINED = "concatenated_string"
_TEXTS = frozenset({"string_literal", _JOINED})


def is_check(construct: Construct) -> bool:
    """Whether a construct is a check or trace."""
    return construct.semantics in _CHECKS


def check(state: State, call: CallSite, construct: Construct) -> Value:
    """A print with what it prints, an assertion with its condition, a trap or a clock."""
    kind = _CHECKS[construct.semantics]
    node = call.at(construct, Role.CONDITION) if kind is CheckKind.ASSERT else None
    if node is None and kind is CheckKind.ASSERT and call.arguments:
        node = call.arguments[0]
    holds = condition(state, node).expr if node is not None else TRUE
    message, operands = _printed(state, call) if kind is CheckKind.PRINT else ("", [])
    if kind is CheckKind.ASSERT and node is not None:
        message = node.text
    fields = {"kind": kind, "condition": holds, "operands": tuple(operands), "message": message, "via": call.via}
    if kind is CheckKind.CLOCK and construct.dtype and call.node.key != state.statement:
        return state.result(Check, dtype_named(construct.dtype), **fields)
    state.builder.emit(Check, **fields)
    return Nothing()


def _printed(state: State, call: CallSite) -> tuple[str, list[Expr]]:
    """The format of a print and the numbers it shows."""
    message, operands = "", list[Expr]()
    for argument in call.arguments:
        if argument.type in _TEXTS:
            pieces = argument.named if argument.type == _JOINED else [argument]
            message = message or "".join(string_literal(piece.text) for piece in pieces)
            continue
        value = read(state, state.evaluate(argument), argument)
        parts = [part for _, part in loaded(state, value).members] if isinstance(value, Aggregate) else [value]
        operands.extend(part.expr for part in parts if isinstance(part, Scalar))
    return message, operands
