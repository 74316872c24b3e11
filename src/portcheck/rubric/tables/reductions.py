"""Reductions of both sides, with stages and heights."""

from __future__ import annotations

from portcheck.align import ReductionMatch, operations_of, place_of
from portcheck.core.report import ReductionRow, ReductionSide, StageRow
from portcheck.ir import ROUNDING_FREE
from portcheck.ir.ranges import INDEX_MARK
from portcheck.numerics import height, stage_height
from portcheck.rubric.places import place_at
from portcheck.rules import Pair
from portcheck.rules.reductions.text import name_of
from portcheck.values import Contract, Fold, coordinate_names, subterms, term_text


def reduction_rows(pair: Pair) -> tuple[ReductionRow, ...]:
    """One row a reduction of either side."""
    cuda = _texts([output.cuda_contract for output in pair.alignment.outputs])
    nki = _texts([output.nki_contract for output in pair.alignment.outputs if output.nki_contract])
    return tuple(_row(match, pair, cuda, nki) for match in pair.alignment.reductions)


Texts = dict[frozenset[int], str]


def _texts(contracts: list[Contract]) -> Texts:
    """Each reduction of an output as it stands in the output's formula, by the operations that carry it out."""
    found: Texts = {}
    for contract in contracts:
        for piece in contract.pieces:
            names = coordinate_names(piece.bounds, piece.address.symbols)
            for node in subterms(piece.value):
                if isinstance(node, Fold):
                    found.setdefault(operations_of(node), term_text(node, names))
    return found


def _row(match: ReductionMatch, pair: Pair, cuda: Texts, nki: Texts) -> ReductionRow:
    fold = match.cuda or match.nki
    assert fold is not None
    return ReductionRow(
        operator=name_of(fold.operator),
        cuda=_side(match.cuda, pair, cuda) if match.cuda else None,
        nki=_side(match.nki, pair, nki) if match.nki else None,
        verdict=_verdict(match),
    )


def _side(fold: Fold, pair: Pair, texts: Texts) -> ReductionSide:
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
    text = texts.get(operations_of(fold)) or term_text(fold).replace(INDEX_MARK, "")
    return ReductionSide(text=text, stages=stages, height=str(height(fold.stages)), place=place)


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
