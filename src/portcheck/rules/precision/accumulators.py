"""The formats that reductions accumulate in."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.align import ReductionMatch, operations_of, place_of
from portcheck.core.dtype import FLOAT64, DType
from portcheck.core.finding import Certainty, Severity
from portcheck.core.source import Span
from portcheck.ir import ROUNDING_FREE, Alloc, kernel_operations
from portcheck.knowledge import Knowledge
from portcheck.numerics import Stage
from portcheck.passes import Facts
from portcheck.rules._base import Draft, Example, Pair, rule
from portcheck.rules.reductions.examples import CUDA_LOOP, NKI_PARTIAL_ACCUMULATOR, NKI_SUM
from portcheck.rules.reductions.text import name_of
from portcheck.values import Fold

_CUDA_HALF = """#include <cuda_fp16.h>
__global__ void row_sum(const half* x, half* y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  half sum = __float2half(0.0f);
  for (int c = 0; c < cols; ++c) sum = __hadd(sum, x[row * cols + c]);
  y[row] = sum;
}
"""
_NKI_HALF = NKI_SUM.replace("y = nl.ndarray((rows, 1), dtype=nl.float32", "y = nl.ndarray((rows, 1), dtype=x.dtype")


def _narrowest(fold: Fold, knowledge: Knowledge) -> tuple[int, Stage] | None:
    """The stage that accumulates in the fewest significand bits."""
    known = [(bits, place, stage) for place, stage in enumerate(fold.stages) if (bits := _bits(stage.dtype, knowledge))]
    if not known:
        return None
    bits, _, stage = min(known, key=lambda entry: entry[:2])
    return bits, stage


def _bits(dtype: DType, knowledge: Knowledge) -> int | None:
    facts = knowledge.dtype(dtype.name)
    return facts.significand_bits if facts is not None and dtype.is_float else None


def _holder(facts: Facts, stage: Stage) -> Span:
    """Where the buffer that a stage accumulates in is made; the stage itself where it has none."""
    for op in kernel_operations(facts.program):
        if isinstance(op, Alloc) and op.name == stage.buffer:
            return op.span
    return stage.span


def _compared(pair: Pair) -> Iterator[tuple[ReductionMatch, tuple[int, Stage], tuple[int, Stage]]]:
    """Matched reductions that round, with the narrowest stage of each side; double precision has its own rule."""
    for match in pair.alignment.reductions:
        if match.cuda is None or match.nki is None or match.cuda.operator in ROUNDING_FREE:
            continue
        left, right = _narrowest(match.cuda, pair.knowledge), _narrowest(match.nki, pair.knowledge)
        if left is not None and right is not None and left[1].dtype != FLOAT64:
            yield match, left, right


@rule(
    "PC301",
    "accumulator-narrowed",
    Severity.WARNING,
    Certainty.CERTAIN,
    documentation="""
The port keeps the running result of a reduction in fewer bits than the original. Every addition then rounds to the
narrower format, and once the sum is large, small terms disappear altogether.

**How to fix.** Allocate the accumulator as float32 and cast once at the end.

**How we know.** The dtype of the buffer that the reduction accumulates in, on both sides; significand bits from
mappings/dtypes.
""",
    examples=(
        Example(
            title="accumulator in float32",
            cuda=CUDA_LOOP,
            nki=NKI_PARTIAL_ACCUMULATOR.format(dtype="nl.float32"),
            hit=False,
        ),
        Example(
            title="accumulator tile in bfloat16",
            cuda=CUDA_LOOP,
            nki=NKI_PARTIAL_ACCUMULATOR.format(dtype="nl.bfloat16"),
            hit=True,
        ),
    ),
)
def accumulator_narrowed(pair: Pair) -> Iterator[Draft]:
    """A reduction accumulates in fewer bits than in the original."""
    for match, (wide, original), (narrow, port) in _compared(pair):
        if narrow >= wide or match.cuda is None:
            continue
        yield Draft(
            message=f"The {name_of(match.cuda.operator)} accumulates in {original.dtype} ({wide} significand bits) in "
            f"the original and in {port.dtype} ({narrow} bits) in the port, in {port.name}.",
            remedy=f"Keep the accumulator in {original.dtype} and cast once at the end.",
            cuda=_holder(pair.cuda, original),
            nki=_holder(pair.nki, port),
            because=("mappings/dtypes: significand bits",),
            subject=operations_of(match.cuda),
        )


@rule(
    "PC302",
    "accumulator-widened",
    Severity.NOTE,
    Certainty.CERTAIN,
    about_rounding=True,
    documentation="""
The port accumulates in more bits than the original. It is more accurate; a test against the original's output must
allow for the original's error.

**How we know.** The dtype of the buffer that the reduction accumulates in, on both sides.
""",
    examples=(
        Example(title="float32 on both sides", cuda=CUDA_LOOP, nki=NKI_SUM, hit=False),
        Example(title="half accumulator became float32", cuda=_CUDA_HALF, nki=_NKI_HALF, hit=True),
    ),
)
def accumulator_widened(pair: Pair) -> Iterator[Draft]:
    """A reduction accumulates in more bits than in the original."""
    for match, (narrow, original), (wide, port) in _compared(pair):
        if wide <= narrow or match.cuda is None or match.nki is None:
            continue
        yield Draft(
            message=f"The {name_of(match.cuda.operator)} accumulates in {original.dtype} ({narrow} significand bits) "
            f"in the original and in {port.dtype} ({wide} bits) in the port.",
            remedy="Allow for the error of the original when both outputs are compared.",
            cuda=original.span,
            nki=place_of(match.nki),
            subject=operations_of(match.cuda),
        )
