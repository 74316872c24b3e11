"""Text that could not be read."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.core.finding import Certainty, Severity
from portcheck.rules._base import Draft, Example, Pair, rule

_KERNEL = """__global__ void twice(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[i];
}
"""
_BROKEN_KERNEL = """__global__ void twice(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + @@ x[i];
}
"""
_PORT = """import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def twice(x):
    n, = x.shape
    y = nl.ndarray((n,), dtype=x.dtype, buffer=nl.shared_hbm)
    for t in range(0, n, 128):
        h = min(128, n - t)
        tile = nl.ndarray((h, 1), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[t:t + h].reshape((h, 1)))
        total = nl.ndarray((h, 1), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=total, data1=tile, data2=tile, op=nl.add)
        nisa.dma_copy(dst=y[t:t + h].reshape((h, 1)), src=total)
    return y
"""


@rule(
    "PC001",
    "cuda-not-parsed",
    Severity.WARNING,
    Certainty.CERTAIN,
    documentation="""
A stretch of the original did not parse, so it takes no part in the comparison: everything said about the pair holds
for the rest only. Often a macro from a header that is not in reach stands there.

**How to fix.** Pass the directory of the header with `-I`, or the macro with `--define NAME=VALUE`.

**How we know.** The CUDA grammar of tree-sitter marks the text as an error, after preprocessing.
""",
    examples=(
        Example(title="clean source", cuda=_KERNEL, nki=_PORT, hit=False),
        Example(title="stray characters inside the kernel", cuda=_BROKEN_KERNEL, nki=_PORT, hit=True),
    ),
)
def cuda_not_parsed(pair: Pair) -> Iterator[Draft]:
    """A region inside a compared CUDA kernel did not parse and was left out."""
    kernels = [kernel.span for kernel in pair.cuda.program.kernels]
    for problem in pair.cuda_unparsed:
        if not any(kernel.covers(problem.span) for kernel in kernels):
            continue
        lines, verb = f"line {problem.span.start.line}", "is"
        if problem.span.end.line != problem.span.start.line:
            lines, verb = f"lines {problem.span.start.line} to {problem.span.end.line}", "are"
        yield Draft(
            message=f"{lines.capitalize()} of the kernel did not parse and {verb} left out: {problem.message}.",
            remedy="Give the missing header with -I or the macro with --define, or simplify the text for the review.",
            cuda=problem.span,
            because=("tree-sitter-cuda reports an error node there",),
        )


@rule(
    "PC002",
    "nki-not-parsed",
    Severity.ERROR,
    Certainty.CERTAIN,
    needs_port=False,
    documentation="""
The port is not valid Python, or no function in it is an NKI kernel, or reading it ended or exceeded its limits of time
and memory. There is nothing to compare.

**How to fix.** Correct the syntax; make sure that the kernel is decorated (`@nki.jit`) and uses `nki.language` or
`nki.isa`.

**How we know.** Python's own parser refuses the text, or no function is decorated as a kernel, or the process that read
it did not answer.
""",
    examples=(
        Example(title="a kernel", cuda=_KERNEL, nki=_PORT, hit=False),
        Example(title="not Python", cuda=_KERNEL, nki=_PORT.replace("for t in", "for for t in"), hit=True),
        Example(title="no kernel", cuda=_KERNEL, nki="def twice(x):\n    return x + x\n", hit=True),
    ),
)
def nki_not_parsed(pair: Pair) -> Iterator[Draft]:
    """The port is not valid Python or holds no NKI kernel."""
    if pair.has_port:
        return
    problem = pair.nki_unparsed[0] if pair.nki_unparsed else None
    path = pair.nki.program.path
    yield Draft(
        message=f"{path} cannot be compared: {problem.message if problem else 'it holds no NKI kernel'}.",
        remedy="Correct or simplify the text at the place shown." if problem else "Decorate the kernel with @nki.jit.",
        nki=problem.span if problem else None,
    )
