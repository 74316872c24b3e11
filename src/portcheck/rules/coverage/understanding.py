"""Code that was read but not understood."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from portcheck.align.sizes import covered
from portcheck.core.finding import Certainty, Severity
from portcheck.ir import Call, Opaque, Polynomial, Side
from portcheck.passes import Facts
from portcheck.rules._base import Draft, Example, Pair, rule

_SCALE = """__global__ void scale(const float* x, float* y, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = {value};
}}
"""
_PORT = """import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def scale(x):
    rows, cols = x.shape
    y = nl.ndarray((rows, cols), dtype=x.dtype, buffer=nl.shared_hbm)
    for t in range(0, rows, 128):
        h = min(128, rows - t)
        tile = nl.ndarray((h, cols), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[t:t + h, 0:cols])
        out = nl.ndarray((h, cols), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=out, data=tile, op0=nl.multiply, operand0=2.0)
        nisa.dma_copy(dst=y[t:t + h, 0:cols], src=out)
    return y
"""
_PLAIN = _SCALE.format(value="2.0f * x[i]")


@rule(
    "PC003",
    "construct-not-understood",
    Severity.NOTE,
    Certainty.CERTAIN,
    documentation="""
An expression, statement or call was kept as a black box: what it reads and writes is known, what it computes is not.
Outputs that depend on it cannot be proved equal. One finding a construct, with the number of places.

**How to fix.** Compare these places by hand; a construct that many kernels use deserves a mapping entry.

**How we know.** The frontend has no lowering for it.
""",
    examples=(
        Example(title="everything understood", cuda=_PLAIN, nki=_PORT, hit=False),
        Example(
            title="inline assembly nobody mapped",
            cuda=_PLAIN.replace("  if (i", '  asm volatile("discard.global.L2 [%0], 128;" :: "l"(y));\n  if (i'),
            nki=_PORT,
            hit=True,
        ),
    ),
)
def construct_not_understood(pair: Pair) -> Iterator[Draft]:
    """A construct was kept as opaque; outputs that depend on it are not compared."""
    for facts in (pair.cuda, pair.nki):
        yield from _by_reason(facts, facts.opaque)


def _by_reason(facts: Facts, ops: Iterable[Opaque]) -> Iterator[Draft]:
    groups: dict[str, list[Opaque]] = {}
    for op in ops:
        groups.setdefault(op.reason, []).append(op)
    is_cuda = facts.program.side is Side.CUDA
    for reason, members in groups.items():
        lines = ", ".join(dict.fromkeys(str(op.span.start.line) for op in members))
        times = "once" if len(members) == 1 else f"{len(members)} times"
        yield Draft(
            message=f"Not understood, {times}: {reason} (line {lines} of the {'original' if is_cuda else 'port'}).",
            remedy="Compare these places by hand.",
            cuda=members[0].span if is_cuda else None,
            nki=None if is_cuda else members[0].span,
            subject=frozenset(op.id for op in members),
        )


@rule(
    "PC004",
    "helper-not-found",
    Severity.NOTE,
    Certainty.CERTAIN,
    documentation="""
A function that the kernel calls is defined in a file that was not given, so its effect is not known.

**How to fix.** Put its header in reach with `-I DIR` (CUDA), or the package of its module with `--nki-root DIR` (NKI).

**How we know.** No definition of that name stands in the file, or in what it includes or imports from given folders.
""",
    examples=(
        Example(title="no helper", cuda=_PLAIN, nki=_PORT, hit=False),
        Example(
            title="a helper in the same file",
            cuda="__device__ float twice(float v) { return 2.0f * v; }\n" + _SCALE.format(value="twice(x[i])"),
            nki=_PORT,
            hit=False,
        ),
        Example(title="a helper from elsewhere", cuda=_SCALE.format(value="twice(x[i])"), nki=_PORT, hit=True),
    ),
)
def helper_not_found(pair: Pair) -> Iterator[Draft]:
    """A called helper's source was not available."""
    for facts in (pair.cuda, pair.nki):
        groups: dict[str, list[Call]] = {}
        for call in facts.calls:
            groups.setdefault(call.callee, []).append(call)
        is_cuda = facts.program.side is Side.CUDA
        for callee, calls in groups.items():
            where = "-I DIR" if is_cuda else "the folder of its package with --nki-root"
            yield Draft(
                message=f"`{callee}` is called {_times(len(calls))}, but its source is not in reach.",
                remedy=f"Give {where}, so that the helper is analysed with the kernel.",
                cuda=calls[0].span if is_cuda else None,
                nki=None if is_cuda else calls[0].span,
                subject=frozenset(call.id for call in calls),
            )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


@rule(
    "PC005",
    "size-not-resolved",
    Severity.NOTE,
    Certainty.CERTAIN,
    documentation="""
The number of elements that the original computes depends on a launch that was not found, so whether the port covers
the same ones was decided under the assumption that the launch covers every element the guards let through.

**How to fix.** Keep the launch in the same file, or state the size: `--define NAME=VALUE`.

**How we know.** A `gridDim` or `blockDim` remains in the domain of the output.
""",
    examples=(
        Example(
            title="a guard states the size",
            cuda=_PLAIN,
            nki=_PORT,
            hit=False,
        ),
        Example(
            title="neither guard nor launch",
            cuda=_PLAIN.replace("if (i < n) ", ""),
            nki=_PORT,
            hit=True,
        ),
    ),
)
def size_not_resolved(pair: Pair) -> Iterator[Draft]:
    """How many elements the original computes depends on a launch that is not in reach."""
    for output in pair.alignment.outputs:
        contract = pair.original.contract(output.cuda)
        for piece in contract.pieces if contract else ():
            names = sorted(name for bound in piece.bounds for name in _unlaunched(bound.stop))
            if names:
                yield Draft(
                    message=f"`{output.cuda}` is computed for as many elements as the launch asks for ({names[0]}), "
                    "and no launch was found.",
                    remedy="Keep the launch in the file that is compared, or check the covered range by hand.",
                    cuda=piece.span,
                    outputs=(output.cuda,),
                )
                break


def _unlaunched(extent: Polynomial) -> list[str]:
    """The launch sizes that an extent rests on; none where a guard limits it."""
    return [name for name in covered(extent)[0].symbols if name.startswith("gridDim.")]
