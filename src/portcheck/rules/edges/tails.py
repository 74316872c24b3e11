"""Whole tiles where the original computes a remainder too, or stops at a guard."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.core.finding import Certainty, Severity
from portcheck.core.source import Span
from portcheck.ir import Branch, Loop, Operator, Polynomial, Range, kernel_operations, symbols_in
from portcheck.ir.algebra import polynomial_of
from portcheck.rules._base import Draft, Example, Pair, rule
from portcheck.rules.edges.coverage import TiledAxis, tiled_axes
from portcheck.rules.edges.examples import CUDA, NKI_ASSERTED, NKI_CLIPPED, NKI_FLOOR, NKI_UNGUARDED
from portcheck.values import Piece


@rule(
    "PC401",
    "tail-tile-dropped",
    Severity.ERROR,
    Certainty.CERTAIN,
    documentation="""
The port computes a whole number of tiles, rounded down; the original computes the remainder too. The last elements of
the output are never written and hold whatever was in memory.

**How to fix.** Iterate `ceil(n / tile)` times and clip the last tile with `min`, or assert that the tile divides the
size and state the narrowed domain.

**How we know.** The elements that the port's stores reach, derived from loops, slices and masks, are
tile * floor(size / tile); no assertion says that nothing is left over.
""",
    examples=(
        Example(title="last tile clipped", cuda=CUDA, nki=NKI_CLIPPED, hit=False),
        Example(title="divisibility asserted", cuda=CUDA, nki=NKI_ASSERTED, hit=False),
        Example(title="trip count rounded down", cuda=CUDA, nki=NKI_FLOOR, hit=True),
    ),
)
def tail_tile_dropped(pair: Pair) -> Iterator[Draft]:
    """Only whole tiles are computed where the original covers the remainder, and nothing asserts that there is none."""
    for axis in tiled_axes(pair):
        if axis.tiling.is_rounded_up:
            continue
        size, width = axis.tiling.size, axis.tiling.tile
        cuda, nki = axis.output.cuda_contract.pieces[0], nki_piece(axis)
        yield Draft(
            message=f"`{axis.output.cuda}` is computed for {axis.reach.nki} of the {size} positions along one axis; "
            f"the original computes all {size}.{_instance(size, width)}",
            remedy=f"Iterate ceil({size}/{width}) times and clip the last tile with min, or assert that {width} "
            f"divides {size}.",
            cuda=_launch(pair, size) or cuda.span,
            nki=_loop(pair, axis) or nki.span,
            because=(_grounds(axis),),
            outputs=(axis.output.cuda,),
        )


def nki_piece(axis: TiledAxis) -> Piece:
    """The store of the port that covers the axis."""
    assert axis.output.nki_contract is not None
    return axis.output.nki_contract.pieces[0]


def _grounds(axis: TiledAxis) -> str:
    return f"stores of the port reach {axis.reach.nki}, those of the original {axis.reach.cuda}"


def _tiles(axis: TiledAxis) -> list[Polynomial]:
    """The tile sizes in how far the port reaches."""
    return [atom.arguments[1] for atom in axis.reach.nki.atoms if atom.operator is Operator.FLOOR_DIVIDE]


def _launch(pair: Pair, size: Polynomial) -> Span | None:
    """The launch that asks for all of `size`."""
    for launch in pair.cuda.program.launches:
        if launch.span is not None and any(size.symbols & symbols_in(extent) for extent in launch.grid):
            return launch.span
    return None


def _loop(pair: Pair, axis: TiledAxis) -> Span | None:
    """The loop of the port whose number of trips is rounded down."""
    for op in kernel_operations(pair.nki.program):
        if isinstance(op, Loop) and isinstance(op.values, Range):
            stop = polynomial_of(op.values.stop)
            atoms = [atom for atom in stop.atoms if atom.operator is Operator.FLOOR_DIVIDE]
            if any(atom.arguments[1] in _tiles(axis) for atom in atoms):
                return op.span
    return None


def _guard(pair: Pair, axis: TiledAxis) -> Span | None:
    """The guard of the original that stops at the size."""
    for op in kernel_operations(pair.cuda.program):
        if isinstance(op, Branch) and axis.reach.cuda.symbols & symbols_in(op.condition):
            return op.span
    return None


def _instance(size: Polynomial, width: Polynomial) -> str:
    """What happens for one size that the tile does not divide."""
    step = width.constant
    if step is None or size.constant is not None or step < 2:
        return ""
    example = 3 * step + step // 2
    return f" For {size} = {example}, positions {3 * step} to {example - 1} are never written."


@rule(
    "PC402",
    "bounds-guard-lost",
    Severity.ERROR,
    Certainty.LIKELY,
    documentation="""
The original stops at a guard; the port computes whole tiles, rounded up, and neither clips nor masks the last one. It
reads and writes past the end of the arrays.

**How to fix.** Clip the slices of the last tile with `min`, mask the load and the store (first generation), or assert
that the tile divides the size.

**How we know.** The elements that the port's stores reach are tile * ceil(size / tile). Likely, not certain: the
caller may pad the arrays.
""",
    examples=(
        Example(title="last tile clipped", cuda=CUDA, nki=NKI_CLIPPED, hit=False),
        Example(title="whole tiles stored", cuda=CUDA, nki=NKI_UNGUARDED, hit=True),
    ),
)
def bounds_guard_lost(pair: Pair) -> Iterator[Draft]:
    """A guard of the original has no mask, clipped slice, assertion or out-of-bounds mode in the port."""
    for axis in tiled_axes(pair):
        if axis.tiling.is_rounded_up:
            yield _lost(pair, axis)


def _lost(pair: Pair, axis: TiledAxis) -> Draft:
    reach, size, width = axis.reach, axis.tiling.size, axis.tiling.tile
    return Draft(
        message=f"`{axis.output.cuda}` is stored at {reach.nki} positions along one axis; the original stops at "
        f"{size}. Unless {width} divides {size}, the last tile reaches past the end.",
        remedy=f"Clip the last tile with min({width}, rest) in the loads and the store, mask them, or assert that "
        f"{width} divides {size}.",
        cuda=_guard(pair, axis) or axis.output.cuda_contract.pieces[0].span,
        nki=nki_piece(axis).span,
        because=(_grounds(axis),),
        outputs=(axis.output.cuda,),
    )
