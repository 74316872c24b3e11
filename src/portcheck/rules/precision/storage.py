"""The formats that inputs and outputs are stored in."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.core.dtype import FLOAT64, DType
from portcheck.core.finding import Certainty, Severity
from portcheck.knowledge import Knowledge
from portcheck.passes import global_buffers
from portcheck.rules._base import Draft, Example, Pair, rule

_CUDA = """#include <cuda_fp16.h>
__global__ void twice(const half* x, half* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __float2half(2.0f * __half2float(x[i]));
}
"""
_NKI = """import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def twice(x):
    rows, cols = x.shape
    y = nl.ndarray((rows, cols), dtype={dtype}, buffer=nl.shared_hbm)
    for t in range(0, rows, 128):
        h = min(128, rows - t)
        xt = nl.ndarray((h, cols), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=xt, src=x[t:t + h, 0:cols])
        out = nl.ndarray((h, cols), dtype={dtype}, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=out, data=xt, op0=nl.multiply, operand0=2.0)
        nisa.dma_copy(dst=y[t:t + h, 0:cols], src=out)
    return y
"""


@rule(
    "PC304",
    "storage-type-changed",
    Severity.WARNING,
    Certainty.CERTAIN,
    documentation="""
An input or output is stored in another floating-point format than in the original. Formats of the same width are not
interchangeable: float16 keeps more significand bits, bfloat16 has the wider range.

**How to fix.** Store in the format of the original, or state that the new range and precision are wanted.

**How we know.** The dtype both sources state; bits and range from mappings/dtypes. A port that takes its dtype from
its argument follows the original and is not flagged.
""",
    examples=(
        Example(title="the dtype of the argument", cuda=_CUDA, nki=_NKI.format(dtype="x.dtype"), hit=False),
        Example(title="half became bfloat16", cuda=_CUDA, nki=_NKI.format(dtype="nl.bfloat16"), hit=True),
    ),
)
def storage_type_changed(pair: Pair) -> Iterator[Draft]:
    """An input or output is stored in another floating-point format."""
    cuda, nki = global_buffers(pair.cuda.program), global_buffers(pair.nki.program)
    for name, buffer in cuda.items():
        counterpart = pair.alignment.nki_parameter(name)
        if counterpart is None or counterpart not in nki:
            continue
        old, new = buffer.type.dtype, nki[counterpart].type.dtype
        if old == new or not (old.is_float and new.is_float) or FLOAT64 in (old, new):
            continue
        yield Draft(
            message=f"`{name}` is stored as {_described(old, pair.knowledge)} in the original and as "
            f"{_described(new, pair.knowledge)} in the port (`{counterpart}`).",
            remedy=f"Store `{counterpart}` as {old}, or state that the new range and precision are wanted.",
            cuda=buffer.span,
            nki=nki[counterpart].span,
            because=("mappings/dtypes: significand bits and largest finite value",),
        )


def _described(dtype: DType, knowledge: Knowledge) -> str:
    facts = knowledge.dtype(dtype.name)
    if facts is None:
        return str(dtype)
    return f"{dtype} ({facts.significand_bits} significand bits, up to {facts.max_finite:.4g})"
