"""Conditions that are not known: which of them a statement may be run twice for, once for each answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portcheck.ir import symbols_in

if TYPE_CHECKING:
    from portcheck.frontends.nki.state.context import Context
    from portcheck.ir import Expr

FORKS = 24
"""Conditions of branches inside one another beyond which a statement is no longer run for either of two values."""


def can_fork(context: Context, condition: Expr) -> bool:
    """Whether `condition` can be asked here: it is open, and uses no result or loop variable that is out of sight."""
    if context.holds(condition) is not None or context.arms >= FORKS:
        return False
    running = {made.variable.name for made in context.rounds if made is not None and made.variable is not None}
    return context.builder.sees(condition) and not (symbols_in(condition) & context.bound) - running
