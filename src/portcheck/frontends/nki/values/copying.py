"""Copies of a tile into a buffer that stands for what a name is bound to."""

from __future__ import annotations

from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.values.data import store
from portcheck.frontends.nki.values.operands import Operand
from portcheck.frontends.nki.values.tiles import View


def put(context: Context, view: View, value: Operand) -> None:
    """Copies `value` into the buffer that stands for what a name is bound to by either of two texts."""
    store(context, view, value, via="=")
    context.joins.copies.add(context.builder.next_id - 1)
