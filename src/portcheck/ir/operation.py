"""What every operation is."""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.core.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What all operations have: an id unique in the program, where they stand, what the source calls them."""

    id: int
    span: Span
    via: str = ""
