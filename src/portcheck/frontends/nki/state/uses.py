"""What is noted of a call while a kernel is evaluated: its name, place, arguments and result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from portcheck.core.dtype import INT64
from portcheck.core.source import Span
from portcheck.frontends.nki.state.holding import is_small
from portcheck.frontends.nki.values.arithmetic import known_int, plus, times
from portcheck.frontends.nki.values.callables import Function, Method
from portcheck.frontends.nki.values.data import as_number
from portcheck.frontends.nki.values.tiles import Result, View
from portcheck.frontends.nki.values.values import (
    Either,
    External,
    Format,
    Items,
    Nothing,
    Parameter,
    Text,
    Unknown,
    Value,
)  # fmt: skip
from portcheck.frontends.nki.values.views import is_whole, linear
from portcheck.ir import Apply, Expr, Operator, Symbol, ValueType, integer, refs_in, substitute
from portcheck.ir.uses import (
    Argument,
    DTypeUse,
    GroupUse,
    NameUse,
    NoneUse,
    NumberUse,
    OperandUse,
    OtherUse,
    Run,
    TextUse,
    TileUse,
    Use,
    UseKind,
)  # fmt: skip
from portcheck.knowledge import Form

if TYPE_CHECKING:
    from portcheck.frontends.nki.expressions.bind import Call
    from portcheck.frontends.nki.state.context import Context

UNCLEAR = Symbol("?", INT64)
"""An extent that depends on data."""
_ITEMS_KEPT = 64


def note_call(call: Call, value: Value) -> None:
    """Notes `call`, whose result is `value`."""
    context, positions = call.context, call.positions
    roles = {parameter.name: parameter.role.value for parameter in call.api.parameters}
    arguments = [
        Argument(
            parameter=name,
            role=roles.get(name, ""),
            position=place if place < positions else None,
            operand=operand_of(context, given),
        )
        for place, (name, given) in enumerate((*call.values.items(), *call.passed_over.items()))
    ]
    arguments[positions:positions] = [
        Argument(parameter="", operand=operand_of(context, given), position=positions + place)
        for place, given in enumerate(call.rest)
    ]
    receiver = None if call.receiver is None else operand_of(context, call.receiver)
    run = Run(arguments=tuple(arguments), receiver=receiver, result=operand_of(context, value))
    _note(context, UseKind.CALL, call.api.name, call.obstacle, (run,))


def note_unknown_call(context: Context, name: str, positional: Sequence[Value], keywords: dict[str, Value]) -> None:
    """Notes a call of something in NKI that no table knows."""
    given = [
        Argument(parameter="", operand=operand_of(context, value), position=place)
        for place, value in enumerate(positional)
    ]
    named = [Argument(parameter=word, operand=operand_of(context, value)) for word, value in keywords.items()]
    run = Run(arguments=(*given, *named))
    _note(context, UseKind.CALL, name, f"{name} is not known", (run,))


def note_form(context: Context, form: Form) -> None:
    """Notes a form of writing where it is evaluated."""
    context.noted.uses.append(Use(kind=UseKind.FORM, name=form.value, span=context.builder.here))


def note_skipped(context: Context, name: str, span: Span, reason: str, *, may_be_noted: bool = False) -> None:
    """Notes a call in text that is not evaluated; `may_be_noted` says that it may have been before."""
    made = Use(kind=UseKind.CALL, name=name, span=span, is_understood=False, reason=reason)
    (context.noted.elsewhere if may_be_noted else context.noted.uses).append(made)


def _note(context: Context, kind: UseKind, name: str, obstacle: str, runs: tuple[Run, ...]) -> None:
    made = Use(
        kind=kind,
        name=name,
        span=context.builder.here,
        is_understood=not obstacle,
        reason=obstacle,
        runs=runs,
    )
    context.noted.uses.append(made)


def operand_of(context: Context, value: Value | None) -> OperandUse:
    """`value` as a record of it."""
    match value:
        case View():
            return _known_tile(context, value)
        case Result():
            return _computed(value)
        case Parameter(name) if context.facts[name].is_tensor:
            return _known_tile(context, context.parameter_view(name))
        case External(name):
            return NameUse(name)
        case Text(text):
            return TextUse(text)
        case Format(dtype):
            return DTypeUse(dtype)
        case Items(held=values) if len(values) <= _ITEMS_KEPT and is_small(value):
            return GroupUse(tuple(operand_of(context, item) for item in values), value.is_list)
        case Nothing():
            return NoneUse()
        case Either():
            return OtherUse("either")
        case Unknown(text):
            return OtherUse(text)
        case Function(name):
            return OtherUse(name)
        case Method(_, name):
            return OtherUse(name)
        case _:
            number = as_number(context, value)
    return NumberUse(_kept(number)) if number is not None else OtherUse(type(value).__name__.lower())


def _kept(number: Expr) -> Expr | None:
    return None if refs_in(number) else number


def _known_tile(context: Context, view: View) -> TileUse:
    """The record of `view`, which the argument of one call and the result of another may share."""
    held = context.noted.tiles.get(id(view))
    if held is None:
        held = context.noted.tiles[id(view)] = (view, _tile(view))
    return held[1]


def _tile(view: View) -> TileUse:
    type = ValueType(view.buffer.dtype, _shape(view.shape), view.buffer.space)
    return TileUse(type=type, buffer=view.buffer.name, start=_start(view), is_whole=is_whole(view))


def _computed(result: Result) -> TileUse:
    if result.view is not None:
        return _tile(result.view)
    return TileUse(type=ValueType(result.dtype, _shape(result.shape), result.space), start=integer(0), is_whole=True)


def _shape(extents: Iterable[Expr]) -> tuple[Expr, ...]:
    return tuple(UNCLEAR if refs_in(extent) else extent for extent in extents)


def _start(view: View) -> Expr | None:
    """The first partition of `view`, or row of a tensor in memory."""
    zero: dict[str, Expr] = {dimension.symbol: integer(0) for dimension in view.dimensions}
    rank = len(view.buffer.shape)
    if len(view.index) == rank:
        return _kept(_plain(substitute(view.index[0], zero))) if rank else None
    offset = known_int(substitute(linear(view), zero))
    inner = [known_int(extent) for extent in view.buffer.shape[1:]]
    if offset == 0:
        return integer(0)
    if offset is None or None in inner:
        return None
    row = 1
    for extent in inner:
        row *= extent or 0
    return integer(offset // row) if row else None


def _plain(expression: Expr) -> Expr:
    """`expression` without the zeros and ones that putting in a number left in its sums and products."""
    match expression:
        case Apply(Operator.ADD, (left, right)):
            made = plus(_plain(left), _plain(right))
        case Apply(Operator.MULTIPLY, (left, right)):
            made = times(_plain(left), _plain(right))
        case _:
            made = expression
    value = known_int(made)
    return made if value is None else integer(value)
