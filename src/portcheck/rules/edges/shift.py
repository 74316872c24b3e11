"""Softmax and log-sum-exp without the shift that keeps their exponentials in range."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.align import OutputMatch, operations_of, place_of
from portcheck.core.finding import Certainty, Severity
from portcheck.core.source import Span
from portcheck.ir import Compute, Operator, Program, kernel_operations
from portcheck.rules._base import Draft, Example, Pair, rule
from portcheck.values import Contract, Fold, Function, subterms
from portcheck.values.terms import Unknown

_CUDA = """#include <math.h>
__global__ void softmax(const float* x, float* y, int rows, int d) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float m = -INFINITY;
  for (int i = 0; i < d; i++) m = fmaxf(m, x[row * d + i]);
  float s = 0.0f;
  for (int i = 0; i < d; i++) s += expf(x[row * d + i] - m);
  for (int i = 0; i < d; i++) y[row * d + i] = expf(x[row * d + i] - m) / s;
}
"""
_NKI = """import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def softmax(x):
    rows, d = x.shape
    y = nl.ndarray((rows, d), dtype=x.dtype, buffer=nl.shared_hbm)
    for t in range(0, rows, 128):
        h = min(128, rows - t)
        tile = nl.ndarray((h, d), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[t:t + h, 0:d])
        shift = nl.ndarray((h, 1), dtype=nl.float32, buffer=nl.sbuf)
{shift}
        e = nl.ndarray((h, d), dtype=nl.float32, buffer=nl.sbuf)
        total = nl.ndarray((h, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation_reduce(dst=e, op=nl.exp, data=tile, bias=shift, reduce_op=nl.add, reduce_res=total)
        nisa.reciprocal(dst=total, data=total)
        nisa.tensor_scalar(dst=e, data=e, op0=nl.multiply, operand0=total)
        nisa.dma_copy(dst=y[t:t + h, 0:d], src=e)
    return y
"""
_SHIFTED = _NKI.format(shift="        nisa.tensor_reduce(dst=shift, op=nl.maximum, data=tile, axis=1, negate=True)")
_PLAIN = _NKI.format(shift="        nisa.memset(dst=shift, value=0.0)")


@rule(
    "PC423",
    "max-subtraction-dropped",
    Severity.WARNING,
    Certainty.CERTAIN,
    documentation="""
The original subtracts the maximum before it takes exponentials, so that none is greater than 1; the port takes them of
the values as they are. Over the reals nothing changes where the factor cancels, as in a softmax. In floating point they
overflow for large values, and the output becomes infinite or NaN.

**How to fix.** Reduce the maximum first and subtract it, for example by the `bias` of `activation`.

**How we know.** A maximum over terms stands in the exponent of the original's formula, and none in any exponent of the
port's.
""",
    examples=(
        Example(title="the maximum subtracted on both sides", cuda=_CUDA, nki=_SHIFTED, hit=False),
        Example(title="exponentials of the values themselves", cuda=_CUDA, nki=_PLAIN, hit=True),
    ),
)
def max_subtraction_dropped(pair: Pair) -> Iterator[Draft]:
    """The port takes exponentials of what the original shifts by its maximum."""
    for output in pair.alignment.outputs:
        shifts = _shifts(output.cuda_contract)
        if not shifts or not _takes_plain_exponentials(output):
            continue
        yield Draft(
            message=f"The original subtracts the maximum before the exponentials of `{output.cuda}`; the port does "
            "not, and they overflow for large values.",
            remedy="Subtract the maximum of the same terms before the exponentials.",
            cuda=place_of(shifts[0]),
            nki=_first_exponential(pair.nki.program),
            outputs=(output.cuda,),
            subject=frozenset().union(*map(operations_of, shifts)),
        )


def _exponents(contract: Contract) -> list[Function]:
    nodes = (node for piece in contract.pieces for node in subterms(piece.value))
    return [node for node in nodes if isinstance(node, Function) and node.operator is Operator.EXP]


def _shifts(contract: Contract) -> list[Fold]:
    """The maxima over several terms in the exponents of a contract."""
    inside = (node for exponent in _exponents(contract) for node in subterms(exponent))
    return [node for node in inside if isinstance(node, Fold) and node.operator is Operator.MAXIMUM]


def _takes_plain_exponentials(output: OutputMatch) -> bool:
    """Whether the port's value is known, and has exponentials, none of them of what is shifted."""
    port = output.nki_contract
    if port is None or port.problem or not _exponents(port) or _shifts(port):
        return False
    return not any(isinstance(node, Unknown) for piece in port.pieces for node in subterms(piece.value))


def _first_exponential(program: Program) -> Span | None:
    ops = (op for op in kernel_operations(program) if isinstance(op, Compute))
    return next((op.span for op in ops if op.operator is Operator.EXP), None)
