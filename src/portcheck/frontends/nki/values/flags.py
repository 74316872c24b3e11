"""Conditions: expressions as flags, and flags of which nothing but the text is known."""

from __future__ import annotations

from portcheck.core.dtype import BOOL, INT64
from portcheck.frontends.nki.state.context import Context
from portcheck.ir import Apply, Const, Expr, Operator, Symbol, apply


def condition_of(expression: Expr) -> Expr:
    """`expression` as a truth value: a number is true unless it is zero, `a or b` if one of them is."""
    if expression.dtype == BOOL:
        return expression
    if isinstance(expression, Apply) and expression.operator is Operator.SELECT:
        test, *chosen = expression.arguments
        first, second = map(condition_of, chosen)
        if test in (first, second):
            return (
                apply(Operator.LOGICAL_OR, test, second) if test == first else apply(Operator.LOGICAL_AND, test, first)
            )
    return apply(Operator.NOT_EQUAL, expression, Const(0, expression.dtype))


def flag_called(text: str) -> Expr:
    """The truth value that `text` is the name of: what it says must be the same wherever it stands."""
    return condition_of(Symbol(text, INT64))


def some_flag(context: Context, text: str) -> Expr:
    """A truth value that nothing states and that no other is known to equal, called after `text`."""
    return condition_of(context.some_number(text))
