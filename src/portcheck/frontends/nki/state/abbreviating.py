"""Names for what is not written out: numbers that grow too large, dtypes that are one of two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from portcheck.core.dtype import DType, dtype_of
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.sizes import decided
from portcheck.frontends.nki.values.arithmetic import binary
from portcheck.ir import (
    Apply,
    ChosenDType,
    Definition,
    Expr,
    Op,
    Operator,
    Symbol,
    apply,
    integer,
    operations,
    refs_in,
    subexpressions,
    symbols_in,
)  # fmt: skip
from portcheck.ir.walk import expressions

_LONG = 16
"""Nodes of a number from which a name for it is shorter."""


def fitted(context: Context, operator: Operator, left: Expr, right: Expr, text: str) -> Expr | None:
    """`left operator right`, with names for what is long in them where it is too large; None where it still is."""
    made = binary(operator, left, right)
    return made if made is not None else binary(operator, *(abbreviated(context, side, text) for side in (left, right)))


def abbreviated(context: Context, expression: Expr, text: str) -> Expr:
    """`expression` with names, called after `text`, for the integers in it that are long and vary with nothing."""
    if not isinstance(expression, Apply) or not _is_long(expression):
        return expression
    if expression.dtype.is_integer and _is_fixed(context, expression):
        return _named(context, expression, text)
    parts = tuple(abbreviated(context, part, text) for part in expression.arguments)
    return replace(expression, arguments=parts)


def chosen_dtype(context: Context, condition: Expr, first: DType, second: DType) -> DType:
    """The dtype that is `first` where `condition` holds, else `second`: a symbol that nothing else is called by."""
    found = context.chosen.get((condition, first, second))
    if found is None:
        found = context.chosen[condition, first, second] = dtype_of(f"chosen_{len(context.chosen)}")
    return found


def definitions(context: Context, body: Sequence[Op]) -> tuple[Definition, ...]:
    """What the names of numbers in `body` stand for, each after those that it uses."""
    used = set(_names_in(body))
    found: list[Definition] = []
    for symbol, value in reversed(context.abbreviations.items()):
        if isinstance(symbol, Symbol) and symbol.name in used:
            found.append(Definition(symbol.name, value))
            used |= symbols_in(value)
    return tuple(reversed(found))


def chosen_dtypes(context: Context) -> tuple[ChosenDType, ...]:
    """The dtypes that are one of two."""
    return tuple(ChosenDType(dtype, *choice) for choice, dtype in context.chosen.items())


def _names_in(body: Sequence[Op]) -> Iterator[str]:
    for op in operations(body):
        for expression in expressions(op):
            yield from symbols_in(expression)


def _named(context: Context, expression: Apply, text: str) -> Symbol:
    """The name of `expression`: the same for the same number, and a size where that cannot be negative."""
    found = context.abbreviations.get(expression)
    if not isinstance(found, Symbol):
        found = context.some_number(text)
        context.abbreviations[expression], context.abbreviations[found] = found, expression
        if _is_size(context, expression):
            context.sizes.add(found.name)
    return found


def _is_size(context: Context, expression: Expr) -> bool:
    """Whether `expression` is never negative, wherever it stands."""
    here = context.holding, context.asserted, context.rounds
    context.holding, context.asserted, context.rounds = {}, (), []
    try:
        return decided(context, apply(Operator.GREATER_EQUAL, expression, integer(0))) is True
    finally:
        context.holding, context.asserted, context.rounds = here


def _is_fixed(context: Context, expression: Expr) -> bool:
    """Whether `expression` is the same wherever it stands: it uses no result and no loop's variable."""
    return not refs_in(expression) and not any(map(context.is_bound, symbols_in(expression)))


def _is_long(expression: Expr) -> bool:
    return any(place >= _LONG for place, _ in enumerate(subexpressions(expression), 1))
