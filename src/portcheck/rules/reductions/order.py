"""The order in which terms are combined."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.align import operations_of, place_of
from portcheck.core.finding import Certainty, Severity
from portcheck.ir import ROUNDING_FREE
from portcheck.numerics import stage_height
from portcheck.rules._base import Draft, Example, Pair, rule
from portcheck.rules.reductions.examples import CUDA_SHUFFLE, NKI_SUM
from portcheck.rules.reductions.text import height_text, name_of, stages_text
from portcheck.values import Fold

_CUDA_MAX = CUDA_SHUFFLE.replace("sum += x[row * cols + c]", "sum = fmaxf(sum, x[row * cols + c])").replace(
    "sum += __shfl_xor_sync(0xffffffffu, sum, o)", "sum = fmaxf(sum, __shfl_xor_sync(0xffffffffu, sum, o))"
)
_NKI_MAX = NKI_SUM.replace("nl.add", "nl.maximum")


@rule(
    "PC205",
    "reduction-order-changed",
    Severity.NOTE,
    Certainty.CERTAIN,
    about_rounding=True,
    documentation="""
Both sides combine the same terms with the same operator, but in another order. Over the reals nothing changes; in
floating point each term passes another number of roundings. The heights (roundings a term passes at most) bound the
difference relative to the sum of the magnitudes of the terms: |computed - exact| <= sum |x| * h*u / (1 - h*u), with u
the unit roundoff of the accumulator.

**What it means for a test.** The tolerance must scale with the sum of magnitudes, not with the result.

**How we know.** The stage lists derived from both sources; the order inside one NKI instruction is not documented and
is charged the worst height, terms - 1. Source of the bound: Higham, Accuracy and Stability of Numerical Algorithms,
chapter 4.
""",
    examples=(
        Example(title="a maximum has no rounding", cuda=_CUDA_MAX, nki=_NKI_MAX, hit=False),
        Example(title="shuffle tree became one instruction", cuda=CUDA_SHUFFLE, nki=NKI_SUM, hit=True),
    ),
)
def reduction_order_changed(pair: Pair) -> Iterator[Draft]:
    """The same terms are combined with the same operator in another order."""
    for match in pair.alignment.reductions:
        cuda, nki = match.cuda, match.nki
        if cuda is None or nki is None or cuda.operator is not nki.operator:
            continue
        if cuda.operator in ROUNDING_FREE or _is_exact(cuda) or _tree(cuda) == _tree(nki):
            continue
        yield Draft(
            message=f"The {name_of(cuda.operator)} runs as {stages_text(cuda)} in the original: at most "
            f"{height_text(cuda)} roundings a term. In the port: {stages_text(nki)}, at most {height_text(nki)}.",
            remedy="Compare with a tolerance that scales with the sum of the magnitudes of the terms.",
            cuda=place_of(cuda),
            nki=place_of(nki),
            because=("Higham, Accuracy and Stability of Numerical Algorithms, ch. 4", match.evidence),
            subject=operations_of(cuda),
        )


def _is_exact(fold: Fold) -> bool:
    """Whether every stage accumulates integers."""
    return all(stage.dtype.is_integer for stage in fold.stages)


def _tree(fold: Fold) -> list[tuple[str, str]]:
    return [(stage.order.value, str(stage_height(stage))) for stage in fold.stages]
