"""How the kernels of a pair were chosen."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.core.finding import Certainty, Severity
from portcheck.rules._base import Draft, Example, Pair, rule

_KERNELS = """__global__ void {first}(const float* x, float* y, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1.0f;
}}
__global__ void {second}(const float* a, const float* b, float* c, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] * b[i];
}}
"""
_PORT = """import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def {name}(x):
    rows, cols = x.shape
    y = nl.ndarray((rows, cols), dtype=x.dtype, buffer=nl.shared_hbm)
    for t in range(0, rows, 128):
        h = min(128, rows - t)
        tile = nl.ndarray((h, cols), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[t:t + h, 0:cols])
        out = nl.ndarray((h, cols), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=out, data=tile, op0=nl.add, operand0=1.0)
        nisa.dma_copy(dst=y[t:t + h, 0:cols], src=out)
    return y
"""


@rule(
    "PC006",
    "pairing-uncertain",
    Severity.WARNING,
    Certainty.LIKELY,
    documentation="""
One of the files holds several kernels and nobody said which ones belong together. The choice rests on names and
parameters that agree only in part; if it is wrong, so is everything below it.

**How to fix.** Name the kernels: `--cuda-kernel NAME --nki-kernel NAME`.

**How we know.** The score of the chosen pair is below what a shared name and shared parameters give.
""",
    examples=(
        Example(
            title="the names agree",
            cuda=_KERNELS.format(first="increment", second="product"),
            nki=_PORT.format(name="increment"),
            hit=False,
        ),
        Example(
            title="only the parameters agree",
            cuda=_KERNELS.format(first="increment", second="product"),
            nki=_PORT.format(name="plus_one"),
            hit=True,
        ),
    ),
)
def pairing_uncertain(pair: Pair) -> Iterator[Draft]:
    """Which kernels belong together was decided on weak evidence."""
    pairing = pair.pairing
    if not pairing.is_weak or not pairing.cuda:
        return
    others = "; ".join(pairing.candidates[1:4])
    yield Draft(
        message=f"`{pairing.cuda}` was compared with `{pairing.nki}` because {pairing.evidence}, which is weak; "
        f"other candidates: {others}.",
        remedy="Name the kernels with --cuda-kernel and --nki-kernel.",
        cuda=pair.cuda.program.kernels[0].span,
        nki=pair.nki.program.kernels[0].span,
    )
