"""A call whose arguments may be one of two things: made for either, once they are all evaluated."""

from __future__ import annotations

from collections.abc import Callable

from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import ForkError, MisunderstoodError, RaisedError, UnfollowedError
from portcheck.frontends.nki.state.forking import can_fork
from portcheck.frontends.nki.values.values import NONE, Nothing, Unknown, Value
from portcheck.ir import Branch, Expr, Op


def either_way(context: Context, condition: Expr, call: Callable[[], Value]) -> Value:
    """What `call`, which gives nothing, does where `condition` holds and where it does not.

    Raises ForkError where it gives something, fails or changes an object: the statement is run for either then.
    """
    if not can_fork(context, condition):
        raise ForkError(condition)
    sides = _possible(context, condition)
    marks, numbers, bodies = context.marks(), len(context.kept_numbers), list[list[Op]]()
    with context.journal.changes() as changes:
        try:
            values = [_where(context, condition, holds, call, bodies) for holds in sides]
        except (ForkError, RaisedError, UnfollowedError, MisunderstoodError):
            values = []
        is_all = bool(values) and not changes.lasting() and len(context.kept_numbers) == numbers
        if not is_all or not all(isinstance(value, Nothing | Unknown) for value in values):
            changes.undo()
            context.release(marks)
            raise ForkError(condition)
    if len(sides) == 1:
        context.builder.adopt(bodies[0])
    elif any(bodies):
        context.builder.emit(Branch, via="if", condition=condition, then=tuple(bodies[0]), otherwise=tuple(bodies[1]))
    return next((value for value in values if isinstance(value, Unknown)), NONE)


def _possible(context: Context, condition: Expr) -> list[bool]:
    """What `condition` may be here by what is known: both, or the one that is left."""
    answers = (True, False)
    found = [
        holds for holds in answers if context.clauses.with_consequences(context.holding, condition, holds) is not None
    ]
    return found or list(answers)


def _where(context: Context, condition: Expr, holds: bool, call: Callable[[], Value], bodies: list[list[Op]]) -> Value:
    """What `call` gives where `condition` holds, or does not; what it does is added to `bodies`."""
    with context.builder.region() as body, context.assuming(condition, holds):
        bodies.append(body)
        return call()
