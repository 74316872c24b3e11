"""Atomic accumulation."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.core.finding import Certainty, Severity
from portcheck.core.source import Span
from portcheck.ir import Atomic, Operator
from portcheck.rules._base import Draft, Example, Pair, rule

_CUDA = """__global__ void total(const float* v, float* sum, int n) {
  float mine = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += v[i];
  atomicAdd(sum, mine);
}
"""
_HEAD = """import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def total(v):
    rows, cols = v.shape
    out = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    acc = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=acc, value=0.0)
    for t in range(rows):
        line = nl.ndarray((1, cols), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=line, src=v[t:t + 1, 0:cols])
        part = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=part, op=nl.add, data=line, axis=1)
"""
_ACCUMULATED = (
    _HEAD
    + """        nisa.tensor_tensor(dst=acc, data1=acc, data2=part, op=nl.add)
    nisa.dma_copy(dst=out, src=acc)
    return out
"""
)
_OVERWRITTEN = (
    _HEAD
    + """        nisa.dma_copy(dst=out, src=part)
    return out
"""
)


@rule(
    "PC110",
    "atomic-unmapped",
    Severity.ERROR,
    Certainty.CERTAIN,
    documentation="""
The original adds into an element from many threads with an atomic. The port writes that element with a plain store
several times, so the last write wins and the other contributions are lost; or it does not write it at all.

**How to fix.** Accumulate in a tile over the loop and store once; for scattered indices use a one-hot matmul, sorting,
or one accumulator a bin.

**How we know.** The store of the output runs once an iteration of a loop that does not select the element.
""",
    examples=(
        Example(title="accumulated in a tile, stored once", cuda=_CUDA, nki=_ACCUMULATED, hit=False),
        Example(title="stored in every iteration", cuda=_CUDA, nki=_OVERWRITTEN, hit=True),
    ),
)
def atomic_unmapped(pair: Pair) -> Iterator[Draft]:
    """Atomic accumulation is answered by a plain store, or by nothing."""
    outputs = {output.cuda: output for output in pair.alignment.outputs}
    seen: set[str] = set()
    for atomic in pair.cuda.atomics:
        name = atomic.access.buffer
        output = outputs.get(name)
        if output is None or name in seen or not _accumulates(atomic):
            continue
        seen.add(name)
        if output.nki is None:
            yield _draft(atomic, None, name, "the port does not write it at all")
            continue
        contract = pair.port.contract(output.nki)
        for piece in contract.pieces if contract else ():
            free = [bound for bound in piece.bounds if bound.variable not in piece.address.symbols]
            if free:
                times = " x ".join(str(bound.stop) for bound in free)
                yield _draft(atomic, piece.span, name, f"the port stores each element {times} times and the last wins")
                break


def _accumulates(atomic: Atomic) -> bool:
    return atomic.operator in (Operator.ADD, Operator.SUBTRACT) and atomic.limit is None


def _draft(atomic: Atomic, nki: Span | None, name: str, how: str) -> Draft:
    return Draft(
        message=f"`{atomic.via}` adds every contribution to `{name}`; {how}.",
        remedy="Accumulate over the loop in a tile and store the result once.",
        cuda=atomic.span,
        nki=nki,
        outputs=(name,),
        subject=frozenset({atomic.id}),
    )
