"""Tiles that a loop allocates in each round and that last beyond it: one buffer holds those of all rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from portcheck.core.dtype import DType
from portcheck.frontends.nki.loops.rounds import Made, Round
from portcheck.frontends.nki.state.failure import NeedsUnrollingError
from portcheck.frontends.nki.values.arithmetic import difference, known_int, plus, same
from portcheck.frontends.nki.values.tiles import Buffer, View
from portcheck.frontends.nki.values.values import Stretch
from portcheck.frontends.nki.values.views import Selector, select
from portcheck.ir import Apply, Expr, Operator, Space, Symbol, apply, integer, symbols_in

if TYPE_CHECKING:
    from portcheck.frontends.nki.state.context import Context


def slot(context: Context, hint: str, dtype: DType, shape: Sequence[Expr], space: Space) -> View | None:
    """The tile of this round in the buffer that holds those of all rounds; None where the tile is this round's own."""
    made = innermost(context)
    if made is None:
        return None
    site = made.site(hint, str(context.builder.here.start))
    made.made[site] = Made(dtype, tuple(shape), space)
    stack = made.stacks.get(site)
    if stack is not None and site in made.plan.outliving:
        made.sites[stack.buffer.name] = site
        return stack
    if stack is None or made.place is None:
        context.site = site
        return None
    selectors: list[Selector] = [Stretch(integer(0), extent, None, extent) for extent in shape]
    selectors.insert(added(space, shape), made.place)
    return select(context, stack, selectors)


def note(context: Context, buffer: Buffer) -> None:
    """Notes where the tile was allocated that was just made."""
    made = innermost(context)
    if made is not None and context.site is not None:
        made.sites[buffer.name] = context.site
    context.site = None


def innermost(context: Context) -> Round | None:
    """The round that is being evaluated of the innermost loop that is kept."""
    return next((made for made in reversed(context.rounds) if made is not None), None)


def can_unroll(context: Context) -> bool:
    """Whether it is known of some loop around how often it runs, so that its rounds can be evaluated one by one."""
    return any(made is not None and made.length is not None for made in context.rounds)


def added(space: Space, shape: Sequence[Expr]) -> int:
    """Which dimension of the common buffer is the round: behind the partition of a tile on the chip, else the first."""
    return 1 if shape and space in (Space.SHARED, Space.PSUM) else 0


def common_shape(made: Made, length: Expr, variable: Symbol) -> tuple[Expr, ...]:
    """The shape of the buffer for all rounds; raises NeedsUnrollingError where the tiles have no common bound."""
    shape = [_bound(extent, variable) for extent in made.shape]
    shape.insert(added(made.space, made.shape), length)
    return tuple(shape)


def _bound(extent: Expr, variable: Symbol) -> Expr:
    """An extent that holds `extent` in every round."""
    found = _upper(extent, variable.name)
    if found is None:
        raise NeedsUnrollingError
    return found


def _upper(extent: Expr, variable: str) -> Expr | None:
    """What `extent` is at most, whatever `variable` is; None where that is not seen."""
    if variable not in symbols_in(extent):
        return extent
    if not isinstance(extent, Apply):
        return None
    parts = extent.arguments
    match extent.operator:
        case Operator.MINIMUM:
            fixed_first = sorted(parts, key=lambda part: variable in symbols_in(part))
            return next((part for part in _uppers(fixed_first, variable) if part is not None), None)
        case Operator.SELECT:
            return _greatest(_uppers(parts[1:], variable))
        case Operator.MAXIMUM:
            return _greatest(_uppers(parts, variable))
        case Operator.ADD:
            first, second = _uppers(parts, variable)
            return None if first is None or second is None else plus(first, second)
        case Operator.SUBTRACT:
            return _upper_difference(parts[0], parts[1], variable)
        case Operator.FLOOR_DIVIDE | Operator.CEILING_DIVIDE if (known_int(parts[1]) or 0) > 0:
            whole = _upper(parts[0], variable)
            return None if whole is None else replace(extent, arguments=(whole, parts[1]))
        case _:
            return None


def _upper_difference(whole: Expr, taken: Expr, variable: str) -> Expr | None:
    """What `whole` - `taken` is at most."""
    if variable not in symbols_in(taken):
        found = _upper(whole, variable)
        return None if found is None else difference(found, taken)
    if isinstance(whole, Apply) and whole.operator is Operator.MINIMUM:
        each = [_upper_difference(part, taken, variable) for part in whole.arguments]
        return next((part for part in each if part is not None), None)
    left = difference(whole, taken)
    is_less = isinstance(left, Apply) and left.operator is Operator.SUBTRACT and left.arguments == (whole, taken)
    return None if is_less else _upper(left, variable)


def _uppers(parts: Sequence[Expr], variable: str) -> list[Expr | None]:
    """What each of `parts` is at most."""
    return [_upper(part, variable) for part in parts]


def _greatest(parts: Sequence[Expr | None]) -> Expr | None:
    found: Expr | None = None
    for part in parts:
        if part is None:
            return None
        found = part if found is None or same(found, part) else apply(Operator.MAXIMUM, found, part)
    return found
