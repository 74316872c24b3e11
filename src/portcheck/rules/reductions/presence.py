"""Reductions that are missing, incomplete, or combine with another operator."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from portcheck.align import OutputMatch, operations_of, place_of
from portcheck.align.sharing import skipped
from portcheck.core.finding import Certainty, Severity
from portcheck.core.source import Span
from portcheck.ir import number
from portcheck.rules._base import Draft, Example, Pair, rule
from portcheck.rules.reductions.examples import CUDA_LOOP, CUDA_SHUFFLE, NKI_FIRST, NKI_MAX, NKI_SUM
from portcheck.rules.reductions.lanes import is_followed, is_needed, lanes_are_missing
from portcheck.rules.reductions.text import name_of
from portcheck.values import Bound, Contract, Fold, subterms

_NKI_PARTIALS = """import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def total(v):
    rows, cols = v.shape
    out = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    acc = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=acc, value=0.0)
    for t in range(0, rows, 128):
        h = min(128, rows - t)
        tile = nl.ndarray((h, cols), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=v[t:t + h, 0:cols])
        part = nl.ndarray((h, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=part, op=nl.add, data=tile, axis=1)
        nisa.tensor_tensor(dst=acc[0:h, 0:1], data1=acc[0:h, 0:1], data2=part, op=nl.add)
    nisa.dma_copy(dst=out, src=acc)
    return out
"""
_CUDA_TOTAL = """__global__ void total(const float* v, float* out, int n) {
  __shared__ float part[256];
  float mine = 0.0f;
  for (int i = threadIdx.x; i < n; i += 256) mine += v[i];
  part[threadIdx.x] = mine;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[0] = part[0];
}
void launch(const float* v, float* out, int n) { total<<<1, 256>>>(v, out, n); }
"""


@rule(
    "PC201",
    "reduction-missing",
    Severity.ERROR,
    Certainty.CERTAIN,
    consequence_of=("PC101", "PC110", "PC160", "PC161", "PC423"),
    documentation="""
The original combines many terms into one value and the port does not: the reduction has no counterpart, or one of its
stages is missing, so that the output holds partial results.

**How to fix.** Add the missing reduction; across partitions it takes a matmul by ones, a transpose and a free-axis
reduction, or `tensor_partition_reduce`.

**How we know.** No reduction of the port combines the same terms; or the port's output has an axis of partial results
that the original sums over.
""",
    examples=(
        Example(title="loop answered by an instruction", cuda=CUDA_LOOP, nki=NKI_SUM, hit=False),
        Example(title="only the first element taken", cuda=CUDA_LOOP, nki=NKI_FIRST, hit=True),
        Example(title="partial sums of the partitions returned", cuda=_CUDA_TOTAL, nki=_NKI_PARTIALS, hit=True),
    ),
)
def reduction_missing(pair: Pair) -> Iterator[Draft]:
    """A reduction of the original, or one of its stages, has no counterpart."""
    for match in pair.alignment.reductions:
        is_missing = match.cuda is not None and match.nki is None and pair.is_port_followed
        if match.cuda is None or not is_missing or not is_followed(pair, match.cuda) or not is_needed(pair, match.cuda):
            continue
        yield Draft(
            message=f"The {name_of(match.cuda.operator)} over {_terms(match.cuda)} terms has no counterpart in the "
            f"port; {match.evidence}.",
            remedy=f"Add the {name_of(match.cuda.operator)} over the axis that these terms became.",
            cuda=place_of(match.cuda),
            outputs=_outputs_with(pair, match.cuda),
            subject=operations_of(match.cuda),
        )
    for match in pair.alignment.reductions:
        if match.cuda is None or match.nki is None or lanes_are_missing(match) or _is_combined(pair, match.nki):
            continue
        if skipped(match.nki) > skipped(match.cuda):
            yield _part_only(pair, match.cuda, match.nki)
    for output in pair.alignment.outputs:
        yield from _partial(pair, output)


def _is_combined(pair: Pair, fold: Fold) -> bool:
    """Whether another reduction of the port goes on with the results of `fold`."""
    own = operations_of(fold)
    for other in pair.port.folds:
        inner = [node for node in subterms(other.body) if isinstance(node, Fold)]
        if other.operator is fold.operator and any(operations_of(node) == own for node in inner):
            return True
    return False


def _part_only(pair: Pair, cuda: Fold, nki: Fold) -> Draft:
    share = skipped(nki) // skipped(cuda)
    return Draft(
        message=f"The port's {name_of(nki.operator)} takes one part in {share} of the terms; the stage that brings the "
        f"other parts in is missing.",
        remedy="Combine the parts, for example by a matmul with ones or a transpose and a free-axis reduction.",
        cuda=place_of(cuda),
        nki=_store_of(pair, cuda) or place_of(nki),
        outputs=_outputs_with(pair, cuda),
        subject=operations_of(cuda),
    )


def _store_of(pair: Pair, fold: Fold) -> Span | None:
    """The store of the port whose output holds the incomplete result."""
    for output in pair.alignment.outputs:
        if output.cuda in _outputs_with(pair, fold) and output.nki_contract and output.nki_contract.pieces:
            return output.nki_contract.pieces[0].span
    return None


def _terms(fold: Fold) -> str:
    total = " x ".join(str(bound.stop) for bound in fold.bounds)
    return total or "its"


def _outputs_with(pair: Pair, fold: Fold) -> tuple[str, ...]:
    own = operations_of(fold)
    found = []
    for output in pair.alignment.outputs:
        for piece in output.cuda_contract.pieces:
            folds = [node for node in subterms(piece.value) if isinstance(node, Fold)]
            if any(own & operations_of(node) for node in folds):
                found.append(output.cuda)
                break
    return tuple(found)


def _partial(pair: Pair, output: OutputMatch) -> Iterator[Draft]:
    """An output with an axis of partial results that the original has summed."""
    port = output.nki_contract
    if port is None or port.problem or output.cuda_contract.problem:
        return
    axes = _extra_axes(output.cuda_contract, port)
    folds = [node for piece in output.cuda_contract.pieces for node in subterms(piece.value) if isinstance(node, Fold)]
    if not axes or not folds:
        return
    counterpart = next((match.nki for match in pair.alignment.reductions if match.nki is not None), None)
    if counterpart is None:
        return
    yield Draft(
        message=f"`{output.cuda}` holds {axes[0].stop} partial results in the port; the stage that combines them into "
        f"one {name_of(folds[0].operator)} is missing.",
        remedy="Combine the partial results, for example by a matmul with ones or a transpose and a free-axis "
        "reduction.",
        cuda=place_of(folds[0]),
        nki=port.pieces[0].span,
        outputs=(output.cuda,),
        subject=operations_of(folds[0]),
    )


def _is_split(original: Contract, port: Contract) -> bool:
    """Whether the port's axes are the tiles and positions of the original's, not further ones."""
    names = {bound.variable for bound in port.pieces[0].bounds}
    depends = any(bound.stop.symbols & names for bound in port.pieces[0].bounds)
    own, other = (prod((bound.stop for bound in side.pieces[0].bounds), start=number(1)) for side in (original, port))
    return depends or own == other


def _extra_axes(original: Contract, port: Contract) -> list[Bound]:
    """Axes of the port's output beyond those of the original's."""
    if not original.pieces or not port.pieces:
        return []
    if _is_split(original, port):
        return []
    surplus = len(port.pieces[0].bounds) - len(original.pieces[0].bounds)
    return list(port.pieces[0].bounds[-surplus:]) if surplus > 0 else []


@rule(
    "PC202",
    "reduction-operator-changed",
    Severity.ERROR,
    Certainty.CERTAIN,
    documentation="""
The port combines the same terms with another operator: a sum became a maximum, a product a sum.

**How to fix.** Use the operator of the original.

**How we know.** The terms of the two reductions are the same; their operators are not.
""",
    examples=(
        Example(title="sum answered by a sum", cuda=CUDA_SHUFFLE, nki=NKI_SUM, hit=False),
        Example(title="sum answered by a maximum", cuda=CUDA_SHUFFLE, nki=NKI_MAX, hit=True),
    ),
)
def reduction_operator_changed(pair: Pair) -> Iterator[Draft]:
    """A reduction combines the same terms with another operator."""
    for match in pair.alignment.reductions:
        if match.cuda is None or match.nki is None or match.cuda.operator is match.nki.operator:
            continue
        if not is_needed(pair, match.cuda):
            continue
        old, new = name_of(match.cuda.operator), name_of(match.nki.operator)
        yield Draft(
            message=f"The {old} over {_terms(match.cuda)} terms became a {new} of the same terms.",
            remedy=f"Reduce with the operator of the {old}.",
            cuda=place_of(match.cuda),
            nki=place_of(match.nki),
            outputs=_outputs_with(pair, match.cuda),
            subject=operations_of(match.cuda),
        )
