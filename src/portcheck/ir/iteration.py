"""The values a loop's variable takes."""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.ir.expr import Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The values start, start + step, ... below `stop` (above it for a negative step)."""

    start: Expr
    stop: Expr
    step: Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequence:
    """The values start, next(start), ... while `condition` holds; both are over the loop variable."""

    start: Expr
    condition: Expr
    next: Expr
