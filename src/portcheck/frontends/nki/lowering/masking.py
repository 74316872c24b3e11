"""Masks taken apart: what they leave of an operand, and of a result that has other dimensions than the operand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from portcheck.core.dtype import BOOL, INT64
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.arithmetic import known, plus, polynomial
from portcheck.frontends.nki.values.tiles import Grid
from portcheck.frontends.nki.values.views import conditions, symbol_of
from portcheck.ir import Apply, Expr, OpaqueKind, Operator, Symbol, apply, integer, substitute, symbols_in

_BELOW = frozenset({Operator.LESS, Operator.LESS_EQUAL})
_ABOVE = frozenset({Operator.GREATER, Operator.GREATER_EQUAL})


def place(dimension: int) -> str:
    """The symbol of the position along a dimension of a tile."""
    return f"dim{dimension}"


def together(parts: Sequence[Expr]) -> Expr | None:
    """Whether all of `parts` hold; None for none of them."""
    made: Expr | None = None
    for part in parts:
        if known(part) is not True:
            made = part if made is None else apply(Operator.LOGICAL_AND, made, part)
    return made


def remaining(mask: Expr | None, shape: Sequence[Expr], gone: Sequence[int]) -> Expr | None:
    """Where `mask` holds for some position along the dimensions `gone` of a tile: what an instruction still computes.

    A mask is a set of bounds on positions, so a condition holds somewhere if it does at one of the two ends.
    """
    return together([_somewhere(part, shape, gone) for part in conditions(mask)])


def _somewhere(condition: Expr, shape: Sequence[Expr], gone: Sequence[int]) -> Expr:
    ends: dict[str, Expr] = {}
    for dimension in gone:
        symbol = Symbol(place(dimension), INT64)
        if symbol.name in symbols_in(condition):
            grows = _grows(condition, symbol)
            ends[symbol.name] = plus(shape[dimension], integer(-1)) if grows else integer(0)
    return substitute(condition, ends)


def _grows(condition: Expr, symbol: Symbol) -> bool:
    """Whether a bound is easier to keep further along `symbol`; raises MisunderstoodError if it is none."""
    factor = 0
    if isinstance(condition, Apply) and condition.operator in _BELOW | _ABOVE:
        left, right = condition.arguments
        terms = polynomial(apply(Operator.SUBTRACT, left, right, dtype=INT64))
        factor = (terms or {}).get((symbol,), 0)
        others = [term for term in terms or {} if term != (symbol,) and any(symbol.name in symbols_in(x) for x in term)]
        if others:
            factor = 0
    if not factor:
        raise MisunderstoodError("the mask is no bound on a position", OpaqueKind.MEMORY)
    assert isinstance(condition, Apply)
    return (factor > 0) is (condition.operator in _ABOVE)


def mask_of_tile(
    context: Context, mask: Expr | None, shape: Sequence[Expr], places: Mapping[int, int] | None = None
) -> Grid | Expr | None:
    """`mask` over `dim0`, `dim1`, ... as one of a tile of `shape`; `places` are the dimensions they are there."""
    if mask is None or mask.dtype != BOOL:
        return mask
    dimensions = tuple(context.placeholder(extent) for extent in shape)
    moved = places if places is not None else {at: at for at in range(len(shape))}
    symbols: dict[str, Expr] = {place(old): symbol_of(dimensions[new]) for old, new in moved.items()}
    return Grid(substitute(mask, symbols), dimensions)
