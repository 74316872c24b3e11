"""Reductions whose port leaves the lanes of a warp apart."""

from __future__ import annotations

from portcheck.align import ReductionMatch
from portcheck.align.sharing import skipped
from portcheck.ir import Order


def lanes_are_missing(match: ReductionMatch) -> bool:
    """Whether the port takes one part in as many as the original's shuffle combines."""
    if match.cuda is None or match.nki is None:
        return False
    share = skipped(match.nki) // skipped(match.cuda)
    trees = [stage.terms.constant for stage in match.cuda.stages if stage.order is Order.BUTTERFLY]
    return share > 1 and share in trees
