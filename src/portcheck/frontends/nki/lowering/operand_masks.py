"""The masks of a matrix product: of the call and of each operand, about three axes in all.

The call's mask names index variables; which axis one runs along is told by where the operands are indexed by it.
"""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.core.dtype import INT64
from portcheck.frontends.nki.expressions.bind import Call
from portcheck.frontends.nki.lowering.masking import mask_of_tile, place, remaining, together
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.data import as_view
from portcheck.frontends.nki.values.tiles import Grid, Masked, Result, View
from portcheck.frontends.nki.values.values import Value
from portcheck.frontends.nki.values.views import conditions, mask_over_view
from portcheck.ir import Expr, OpaqueKind, Symbol, substitute, symbols_in

_CONTRACTED, _ROWS, _COLUMNS = (place(dimension) for dimension in range(3))


@dataclass(frozen=True, slots=True)
class ProductMasks:
    """Conditions over the contracted axis, the rows and the columns of the product, as `dim0`, `dim1`, `dim2`."""

    parts: tuple[Expr, ...]
    is_turned: bool

    @property
    def left(self) -> Expr | None:
        """What is taken of the first operand, over its own positions."""
        own = (_ROWS, _CONTRACTED) if self.is_turned else (_CONTRACTED, _ROWS)
        return self._about({own[0]: place(0), own[1]: place(1)})

    @property
    def right(self) -> Expr | None:
        """What is taken of the second operand, over its own positions."""
        return self._about({_CONTRACTED: place(0), _COLUMNS: place(1)})

    def _about(self, axes: dict[str, str]) -> Expr | None:
        renamed: dict[str, Expr] = {old: Symbol(new, INT64) for old, new in axes.items()}
        own = [
            part for part in self.parts if symbols_in(part) & set(_AXES) and symbols_in(part) & set(_AXES) <= set(axes)
        ]
        return together([substitute(part, renamed) for part in own])

    def of_product(self, context: Context, shape: tuple[Expr, Expr], depth: Expr) -> Grid | Expr | None:
        """Where the product, of `shape`, is computed; `depth` elements are contracted."""
        left = remaining(together(self.parts), (depth, *shape), (0,))
        return mask_of_tile(context, left, shape, {1: 0, 2: 1})


_AXES = (_CONTRACTED, _ROWS, _COLUMNS)


def masks_of(call: Call, left: Value | None, right: Value | None, *, is_turned: bool) -> ProductMasks:
    """The masks of a product of `left` and `right`."""
    axes = (_ROWS, _CONTRACTED) if is_turned else (_CONTRACTED, _ROWS)
    sides = ((left, axes), (right, (_CONTRACTED, _COLUMNS)))
    parts: list[Expr] = []
    for side, names in sides:
        if isinstance(side, Masked):
            parts.extend(_of_operand(call.context, side, names))
    given = call.mask
    if given is not None:
        parts.extend(_of_call(call.context, given, sides))
    return ProductMasks(tuple(parts), is_turned)


def _of_operand(context: Context, side: Masked, names: tuple[str, str]) -> list[Expr]:
    view = as_view(context, side.source)
    if view is None or len(view.dimensions) != 2:
        raise MisunderstoodError("a masked operand is not a matrix")
    condition = mask_over_view(side.condition, view)
    own: dict[str, Expr] = {item.symbol: Symbol(name, INT64) for item, name in zip(view.dimensions, names, strict=True)}
    return [substitute(part, own) for part in conditions(condition)]


def _of_call(
    context: Context, given: Grid | Expr, sides: tuple[tuple[Value | None, tuple[str, str]], ...]
) -> list[Expr]:
    if not isinstance(given, Grid):
        return conditions(given)
    axes: dict[str, set[str]] = {}
    for side, names in sides:
        source = side.source if isinstance(side, Masked) else side
        view = as_view(context, source) if isinstance(source, View | Result) else None
        for item, name in zip(view.dimensions if view is not None else (), names, strict=False):
            axes.setdefault(item.symbol, set()).add(name)
    own = {item.symbol for item in given.dimensions if item is not None} & symbols_in(given.expression)
    if any(len(axes.get(symbol, ())) != 1 for symbol in own):
        raise MisunderstoodError("which axis of the product the mask is about is not known", OpaqueKind.MEMORY)
    renamed: dict[str, Expr] = {symbol: Symbol(next(iter(axes[symbol])), INT64) for symbol in own}
    return conditions(substitute(given.expression, renamed))
