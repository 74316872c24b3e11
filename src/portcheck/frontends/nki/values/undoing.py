"""Views in other shapes that come back to the shape they had: what their index undoes again is left out."""

from __future__ import annotations

from dataclasses import replace

from portcheck.core.dtype import INT64
from portcheck.frontends.nki.values.tiles import View
from portcheck.ir import Apply, Expr, Operator, Ranges, Symbol, symbols_in
from portcheck.ir.algebra import polynomial_of
from portcheck.ir.polynomial import symbol

_PARTING = (Operator.FLOOR_DIVIDE, Operator.FLOOR_MODULO)


def undone(view: View) -> View:
    """`view` with each part of its index that comes to the position along one dimension written as that position."""
    if not any(isinstance(part, Apply) and part.operator in _PARTING for part in view.index):
        return view
    ranges, names = Ranges(), [dimension.symbol for dimension in view.dimensions]
    try:
        for dimension in view.dimensions:
            ranges = ranges.with_extent(dimension.symbol, polynomial_of(dimension.extent))
        return replace(view, index=tuple(_plain(part, names, ranges) for part in view.index))
    except ArithmeticError:
        return view


def _plain(part: Expr, names: list[str], ranges: Ranges) -> Expr:
    if not isinstance(part, Apply) or part.operator not in _PARTING:
        return part
    form, used = polynomial_of(part, ranges), symbols_in(part)
    return next((Symbol(name, INT64) for name in names if name in used and form == symbol(name)), part)
