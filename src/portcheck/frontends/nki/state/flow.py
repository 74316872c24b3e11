"""How a block of statements ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from portcheck.core.source import Span
from portcheck.frontends.nki.values.values import Value


class FlowKind(StrEnum):
    """What happens after the last statement that ran."""

    NORMAL = "normal"
    RETURN = "return"
    BREAK = "break"
    CONTINUE = "continue"
    RAISE = "raise"


@dataclass(frozen=True, slots=True)
class Flow:
    """How a block ends: with `value` returned at `span`; `is_done` says that the rest of the block ran already."""

    kind: FlowKind = FlowKind.NORMAL
    value: Value | None = None
    is_done: bool = False
    span: Span | None = None
