"""Barriers between the threads of a block."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.core.finding import Certainty, Severity
from portcheck.rules._base import Draft, Example, Pair, rule
from portcheck.rules.reductions.examples import CUDA_LOOP, NKI_SUM

_TREE = """__global__ void row_sum(const float* x, float* y, int rows, int cols) {
  __shared__ float part[128];
  int row = blockIdx.x, tid = threadIdx.x;
  float sum = 0.0f;
  for (int c = tid; c < cols; c += 128) sum += x[row * cols + c];
  part[tid] = sum;
  __syncthreads();
  for (int s = 64; s > 0; s >>= 1) {
    if (tid < s) part[tid] += part[tid + s];
    __syncthreads();
  }
  if (tid == 0) y[row] = part[0];
}
void launch(const float* x, float* y, int rows, int cols) { row_sum<<<rows, 128>>>(x, y, rows, cols); }
"""


@rule(
    "PC130",
    "barrier-absorbed",
    Severity.NOTE,
    Certainty.CERTAIN,
    documentation="""
The original separates phases with a block-wide barrier. The port has none, and needs none: instructions on one core
wait for the tiles they read and for the readers of the tiles they overwrite. One note a pair.

**When it would not hold.** Manual addresses, raw access patterns that alias, and memory shared by two cores are not
covered by tile dependences.

**How we know.** The port allocates its tiles without addresses; the compiler orders instructions by the tiles they
touch (Trainium architecture guide, synchronisation).
""",
    examples=(
        Example(title="no barrier", cuda=CUDA_LOOP, nki=NKI_SUM, hit=False),
        Example(title="a shared-memory tree", cuda=_TREE, nki=NKI_SUM, hit=True),
    ),
)
def barrier_absorbed(pair: Pair) -> Iterator[Draft]:
    """Block barriers have no written counterpart; tile dependences give the order."""
    barriers = pair.cuda.barriers
    if not barriers or pair.nki.barriers or pair.nki.opaque:
        return
    lines = ("line " if len(barriers) == 1 else "lines ") + ", ".join(str(op.span.start.line) for op in barriers)
    count = "One block barrier is" if len(barriers) == 1 else f"{len(barriers)} block barriers are"
    yield Draft(
        message=f"{count} absorbed by the dependences between tiles ({lines}).",
        remedy="Nothing to do.",
        cuda=barriers[0].span,
        because=("Trainium architecture guide: engines wait for the tiles they read and overwrite",),
    )
