"""How old objects are: each is newer than what was made before it."""

from __future__ import annotations

from itertools import count

_AGES = count()
BEFORE = -1
"""The age of what was there before anything was evaluated."""


def new_age() -> int:
    """A number greater than those of all objects made before: what can change has one, in the order it was made."""
    return next(_AGES)
