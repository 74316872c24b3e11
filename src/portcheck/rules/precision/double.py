"""Double precision, which NKI does not have."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.align import place_of
from portcheck.core.dtype import FLOAT64
from portcheck.core.finding import Certainty, Severity
from portcheck.core.source import Span
from portcheck.ir import Alloc, Op, Space
from portcheck.rules._base import Draft, Example, Pair, rule
from portcheck.rules.reductions.examples import CUDA_LOOP, NKI_SUM


@rule(
    "PC303",
    "double-lost",
    Severity.WARNING,
    Certainty.CERTAIN,
    documentation="""
The original computes, accumulates or stores in double precision; NKI has no 64-bit format, so the port works in
float32 or narrower. Whether that is good enough depends on what the doubles were for: a literal without an `f` is
usually an accident, an accumulator usually is not.

**How to fix.** Decide whether float32 suffices and say so; otherwise sum in pairs of float32 (compensated).

**How we know.** The C rules of promotion give type double to an operation or variable of the original.
""",
    examples=(
        Example(title="float throughout", cuda=CUDA_LOOP, nki=NKI_SUM, hit=False),
        Example(
            title="a double accumulator",
            cuda=CUDA_LOOP.replace("float sum = 0.0f", "double sum = 0.0").replace(
                "y[row] = sum", "y[row] = (float)sum"
            ),
            nki=NKI_SUM,
            hit=True,
        ),
    ),
)
def double_lost(pair: Pair) -> Iterator[Draft]:
    """A double value, literal or accumulator became float32."""
    ops = pair.cuda.precision.double
    if not ops:
        return
    held = sorted((op for op in ops if isinstance(op, Alloc)), key=lambda op: op.type.space is not Space.REGISTER)
    first: Op = held[0] if held else ops[0]
    what = f"`{held[0].name}` is held in double precision" if held else "an operation is computed in double precision"
    more = len(ops) - 1
    also = f" ({more} more operations in double follow)" if more > 0 else ""
    yield Draft(
        message=f"In the original {what}{also}; NKI has no 64-bit format and the port computes in float32 or narrower.",
        remedy="Decide whether float32 suffices here, or sum in pairs of float32.",
        cuda=first.span,
        nki=_counterpart(pair),
        because=("nki.language has no float64 (mappings/dtypes)",),
    )


def _counterpart(pair: Pair) -> Span:
    """The reduction of the port that answers one in double; else the kernel."""
    for match in pair.alignment.reductions:
        if match.cuda and match.nki and any(stage.dtype == FLOAT64 for stage in match.cuda.stages):
            return place_of(match.nki)
    return pair.nki.program.kernels[0].span
