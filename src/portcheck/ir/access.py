"""Accesses: which elements of a buffer an operation touches."""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.ir.expr import Expr
from portcheck.ir.kinds import Outside
from portcheck.ir.types import Axis


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The elements of a buffer that one operation touches.

    `axes` are bound here: their number is the rank of what is read or written and their extents are its shape (no
    axes: one element per thread). The two sides of a `Copy` have the same extents axis by axis.
    `index` has one expression per dimension of the buffer (one in all for a CUDA pointer, counted in elements).
    A single index on a buffer of several dimensions is the row-major offset in elements.
    `mask` is a predicate over the axes: where it is false nothing is read or written. Where it is true and the index
    lies outside the buffer, `outside` says what happens. A volatile access reaches memory, each time and in order.
    """

    buffer: str
    index: tuple[Expr, ...]
    axes: tuple[Axis, ...] = ()
    mask: Expr | None = None
    outside: Outside = Outside.UNDEFINED
    is_volatile: bool = False
