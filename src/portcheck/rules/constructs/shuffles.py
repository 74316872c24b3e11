"""Warp shuffles."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.align import ReductionMatch, operations_of, place_of
from portcheck.core.finding import Certainty, Severity
from portcheck.core.source import Span
from portcheck.ir import Exchange, Scan, Transpose, kernel_operations
from portcheck.rules._base import Draft, Example, Pair, rule
from portcheck.rules.reductions.examples import CUDA_LOOP, CUDA_SHUFFLE, NKI_FIRST, NKI_SUM
from portcheck.rules.reductions.lanes import is_followed, is_needed, lanes_are_missing
from portcheck.rules.reductions.text import name_of

_MOVERS = (Exchange, Scan, Transpose)


@rule(
    "PC101",
    "warp-shuffle-unmapped",
    Severity.ERROR,
    Certainty.LIKELY,
    consequence_of=("PC202", "PC161", "PC423"),
    documentation="""
A shuffle moves values between the lanes of a warp, most often to combine them. The port has nothing that moves values
between partitions or along the free axis in its place, so what the lanes hold is never brought together.

**How to fix.** Reduce along the free axis (`tensor_reduce`), or across partitions (matmul by ones, transpose and
reduce, `tensor_partition_reduce`).

**How we know.** The reduction or movement that the shuffle is part of has no counterpart among the port's reductions,
scans, transposes and shuffles. Likely, not certain: code that was not understood may hold it.
""",
    examples=(
        Example(title="shuffle answered by a free-axis reduction", cuda=CUDA_SHUFFLE, nki=NKI_SUM, hit=False),
        Example(title="no shuffle", cuda=CUDA_LOOP, nki=NKI_SUM, hit=False),
        Example(title="lanes never combined", cuda=CUDA_SHUFFLE, nki=NKI_FIRST, hit=True),
    ),
)
def warp_shuffle_unmapped(pair: Pair) -> Iterator[Draft]:
    """A shuffle has no reduction, scan, transpose, stream shuffle or gather in the port that answers it."""
    exchanges = {op.id: op for op in pair.cuda.exchanges}
    accounted: set[int] = set()
    for match in pair.alignment.reductions:
        if match.cuda is None:
            continue
        own = operations_of(match.cuda) & exchanges.keys()
        accounted |= own
        if (
            own
            and pair.is_port_followed
            and is_followed(pair, match.cuda)
            and is_needed(pair, match.cuda)
            and (match.nki is None or lanes_are_missing(match))
        ):
            first = exchanges[min(own)]
            yield Draft(
                message=f"`{first.via}` combines the lanes of a warp into a {name_of(match.cuda.operator)}; "
                "no reduction, scan, transpose or shuffle of the port does.",
                remedy="Reduce along the free axis with tensor_reduce, or across partitions where the lanes became "
                "partitions.",
                cuda=first.span,
                nki=_incomplete(pair, match),
                because=(match.evidence,),
                subject=own | operations_of(match.cuda),
            )
    yield from _unanswered_movements(pair, [op for id, op in exchanges.items() if id not in accounted])


def _incomplete(pair: Pair, match: ReductionMatch) -> Span | None:
    """The store of the port that hands out what one lane holds."""
    if match.nki is None:
        return None
    outputs = [output.nki_contract for output in pair.alignment.outputs if output.nki_contract]
    return next((contract.pieces[0].span for contract in outputs if contract.pieces), place_of(match.nki))


def _unanswered_movements(pair: Pair, exchanges: list[Exchange]) -> Iterator[Draft]:
    """Shuffles outside any reduction that was recognised, if the port moves nothing at all."""
    is_moving = any(isinstance(op, _MOVERS) for op in kernel_operations(pair.nki.program))
    is_reducing = any(match.nki is not None for match in pair.alignment.reductions)
    if not exchanges or is_moving or is_reducing or pair.nki.opaque or pair.nki.calls:
        return
    yield Draft(
        message=f"`{exchanges[0].via}` moves values between lanes; the port has no reduction, scan, transpose, "
        "shuffle or gather at all.",
        remedy="Find where the values that lanes exchanged meet in the port.",
        cuda=exchanges[0].span,
        subject=frozenset(op.id for op in exchanges),
    )
