"""Reductions of both sides, with stages and heights."""

from __future__ import annotations

from portcheck.align import ReductionMatch, place_of
from portcheck.core.report import ReductionRow, ReductionSide, StageRow
from portcheck.ir import ROUNDING_FREE
from portcheck.numerics import height, stage_height
from portcheck.rubric.places import place_at
from portcheck.rules import Pair
from portcheck.rules.reductions.text import name_of
from portcheck.values import Fold, term_text


def reduction_rows(pair: Pair) -> tuple[ReductionRow, ...]:
    """One row a reduction of either side."""
    return tuple(_row(match, pair) for match in pair.alignment.reductions)


def _row(match: ReductionMatch, pair: Pair) -> ReductionRow:
    fold = match.cuda or match.nki
    assert fold is not None
    return ReductionRow(
        operator=name_of(fold.operator),
        cuda=_side(match.cuda, pair) if match.cuda else None,
        nki=_side(match.nki, pair) if match.nki else None,
        verdict=_verdict(match),
    )


def _side(fold: Fold, pair: Pair) -> ReductionSide:
    stages = tuple(
        StageRow(
            name=stage.name,
            terms=str(stage.terms),
            order=stage.order.value,
            height=str(stage_height(stage)),
            dtype=str(stage.dtype),
        )
        for stage in fold.stages
    )
    place = place_at(place_of(fold), pair.sources)
    return ReductionSide(text=term_text(fold), stages=stages, height=str(height(fold.stages)), place=place)


def _verdict(match: ReductionMatch) -> str:
    if match.cuda is None:
        return "only in the port"
    if match.nki is None:
        return "missing in the port"
    if match.cuda.operator is not match.nki.operator:
        return "another operator"
    if match.cuda.operator in ROUNDING_FREE:
        return "equal, no rounding"
    own = [(stage.order, str(stage.terms)) for stage in match.cuda.stages]
    other = [(stage.order, str(stage.terms)) for stage in match.nki.stages]
    return "same order" if own == other else "reordered"
