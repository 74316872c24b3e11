"""Tensor parameters that turn out to have more dimensions than were assumed: the text is read again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portcheck.frontends.nki.state.failure import ReadAgainError

if TYPE_CHECKING:
    from portcheck.frontends.nki.state.context import Context

_MOST_MISSING = 5
"""A tensor is not taken to have as many dimensions more than were assumed."""


def deepen_parameter(context: Context, name: str, missing: int) -> None:
    """Notes that the tensor parameter `name` has more dimensions, unless its rank is shown: the text is read again."""
    if context.facts[name].is_shown or name in context.deepened or not 0 < missing < _MOST_MISSING:
        return
    context.deepened.add(name)
    context.facts[name].deepen(len(context.parameter_view(name).dimensions) + missing)
    if context.may_read_again:
        raise ReadAgainError  # what was read since is of no use
