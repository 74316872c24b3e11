"""Whether a reduction was followed to its end, and whether its port leaves the lanes of a warp apart."""

from __future__ import annotations

from portcheck.align import ReductionMatch, operations_of
from portcheck.align.sharing import skipped
from portcheck.ir import Order
from portcheck.rules._base import Pair
from portcheck.values import Fold, subterms
from portcheck.values.equality import Outcome


def lanes_are_missing(match: ReductionMatch) -> bool:
    """Whether the port takes one part in as many as the original's shuffle combines."""
    if match.cuda is None or match.nki is None:
        return False
    share = skipped(match.nki) // skipped(match.cuda)
    trees = [stage.terms.constant for stage in match.cuda.stages if stage.order is Order.BUTTERFLY]
    return share > 1 and share in trees


def is_needed(pair: Pair, fold: Fold) -> bool:
    """Whether some output with a reduction of the original was not proved to be the same function without it."""
    own = operations_of(fold)
    found = [
        output.equality.outcome
        for output in pair.alignment.outputs
        for piece in output.cuda_contract.pieces
        if any(isinstance(node, Fold) and own & operations_of(node) for node in subterms(piece.value))
    ]
    return not found or any(outcome is not Outcome.EQUAL for outcome in found)


def is_followed(pair: Pair, fold: Fold) -> bool:
    """Whether a reduction of the original is known whole: an output that was summarised holds it.

    One that is not may be a part of a larger reduction, which the port may well have; only where the port combines
    nothing with that operator is it missing all the same.
    """
    own = operations_of(fold)
    for contract in pair.original.contracts:
        folds = [node for piece in contract.pieces for node in subterms(piece.value) if isinstance(node, Fold)]
        if not contract.problem and any(own & operations_of(node) for node in folds):
            return True
    return not any(other.operator is fold.operator for other in pair.port.folds)
