"""Inputs that are not read and outputs that are not written."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.align import OutputMatch
from portcheck.core.finding import Certainty, Severity
from portcheck.core.source import Span
from portcheck.ir import (
    Parameter,
    Return,
    kernel_operations,
    operations,
    reads,
    writes,
)
from portcheck.rules._base import Draft, Example, Pair, rule
from portcheck.values import Element, Scalar, Term, subterms

_SCALE_CUDA = """__global__ void scale(const float* x, const float* w, float* y, float* twice, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = x[i] * w[i];
    twice[i] = x[i] + x[i];
  }
}
"""
_HEAD = """import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def scale(x, w):
    rows, cols = x.shape
    y = nl.ndarray((rows, cols), dtype=x.dtype, buffer=nl.shared_hbm)
    twice = nl.ndarray((rows, cols), dtype=x.dtype, buffer=nl.shared_hbm)
    for t in range(0, rows, 128):
        h = min(128, rows - t)
        xt = nl.ndarray((h, cols), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=xt, src=x[t:t + h, 0:cols])
        wt = nl.ndarray((h, cols), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=wt, src={source}[t:t + h, 0:cols])
        out = nl.ndarray((h, cols), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=out, data1=xt, data2=wt, op=nl.multiply)
        nisa.dma_copy(dst=y[t:t + h, 0:cols], src=out)
        both = nl.ndarray((h, cols), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=both, data1=xt, data2=xt, op=nl.add)
"""
_BOTH = _HEAD.format(source="w") + "        nisa.dma_copy(dst=twice[t:t + h, 0:cols], src=both)\n    return y, twice\n"
_WITHOUT_W = _BOTH.replace("src=w[", "src=x[")
_WITHOUT_TWICE = _HEAD.format(source="w") + "    return y\n"


@rule(
    "PC160",
    "input-not-consumed",
    Severity.ERROR,
    Certainty.CERTAIN,
    documentation="""
An input of the original reaches an output, and the port never reads what stands in its place. Sizes and strides do not
count: a port takes them from the shape. A scalar without a parameter may be a constant of the port, as an epsilon often
is: then the finding is a question.

**How to fix.** Load the operand and use it where the original does.

**How we know.** Data flows from the parameter to an output in the original; in the port no parameter was found for it,
or the one found is never loaded. Where a part of the port was not understood, it may read there, and nothing is said.
""",
    examples=(
        Example(title="all inputs read", cuda=_SCALE_CUDA, nki=_BOTH, hit=False),
        Example(title="the weights are never read", cuda=_SCALE_CUDA, nki=_WITHOUT_W, hit=True),
    ),
)
def input_not_consumed(pair: Pair) -> Iterator[Draft]:
    """The port never reads an input that reaches an output of the original."""
    if not pair.is_port_readable:
        return
    for kernel in pair.cuda.program.kernels:
        for parameter in kernel.parameters:
            if not _matters(pair, parameter):
                continue
            counterpart = pair.alignment.nki_parameter(parameter.name)
            if counterpart is not None and _is_used(pair, counterpart):
                continue
            where = f"its counterpart `{counterpart}` is never read" if counterpart else "no parameter stands for it"
            if counterpart is None and not parameter.is_buffer:
                where += ", a constant may"
            yield Draft(
                message=f"`{parameter.name}` reaches the output of the original; in the port {where}.",
                remedy=f"Load the counterpart of `{parameter.name}` and use it where the original does.",
                cuda=_first_use(pair, parameter.name) or parameter.span,
                nki=_parameter_span(pair, counterpart),
                outputs=_outputs_of(pair, parameter.name),
                certainty=None if parameter.is_buffer or counterpart else Certainty.HINT,
            )


def _first_use(pair: Pair, name: str) -> Span | None:
    """Where the original first loads from a buffer."""
    return next((op.span for op in kernel_operations(pair.cuda.program) if name in reads(op)), None)


def _matters(pair: Pair, parameter: Parameter) -> bool:
    usage = pair.cuda.usage
    if parameter.is_buffer:
        return parameter.name in usage.read_for_outputs and parameter.name not in usage.outputs
    return parameter.type.dtype.is_float and parameter.name in usage.scalars_in_values


def _is_used(pair: Pair, name: str) -> bool:
    usage = pair.nki.usage
    return name in usage.read_for_outputs or name in usage.scalars_in_values or name in usage.outputs


def _parameter_span(pair: Pair, name: str | None) -> Span | None:
    for kernel in pair.nki.program.kernels:
        for parameter in kernel.parameters:
            if parameter.name == name:
                return parameter.span
    return None


def _outputs_of(pair: Pair, name: str) -> tuple[str, ...]:
    """The outputs whose value mentions `name`; all of them where contracts are not known."""
    found = [
        output.cuda
        for output in pair.alignment.outputs
        if any(_mentions(piece.value, name) for piece in output.cuda_contract.pieces)
    ]
    return tuple(found) or tuple(output.cuda for output in pair.alignment.outputs)


def _mentions(value: Term, name: str) -> bool:
    for node in subterms(value):
        match node:
            case Element(buffer) if buffer == name:
                return True
            case Scalar(scalar) if scalar == name:
                return True
            case _:
                continue
    return False


@rule(
    "PC161",
    "output-not-produced",
    Severity.ERROR,
    Certainty.CERTAIN,
    documentation="""
The original writes an output that the port never stores or returns. Where the store stands under a test for a null
pointer, callers may do without it, and the finding is only likely.

**How to fix.** Allocate, store and return the output, or state in the review that nobody uses it.

**How we know.** Every buffer the port stores or returns answers another output.
""",
    examples=(
        Example(title="both outputs stored", cuda=_SCALE_CUDA, nki=_BOTH, hit=False),
        Example(title="one output missing", cuda=_SCALE_CUDA, nki=_WITHOUT_TWICE, hit=True),
    ),
)
def output_not_produced(pair: Pair) -> Iterator[Draft]:
    """The port never stores or returns an output that the original writes."""
    if not pair.is_port_readable:
        return
    for output in pair.alignment.outputs:
        if output.nki is not None:
            continue
        span = _store_of(pair, output)
        is_optional = any(piece.is_optional for piece in output.cuda_contract.pieces)
        condition = ", unless its pointer is null," if is_optional else ""
        yield Draft(
            message=f"The original writes `{output.cuda}`{condition} and the port stores and returns nothing in its "
            "place.",
            remedy=f"Store and return the counterpart of `{output.cuda}`, or state that no caller needs it.",
            cuda=span,
            nki=_return_span(pair),
            outputs=(output.cuda,),
            subject=frozenset(piece.operation for piece in output.cuda_contract.pieces),
            certainty=Certainty.LIKELY if is_optional else None,
        )


def _return_span(pair: Pair) -> Span | None:
    """Where the port hands its outputs back."""
    for kernel in pair.nki.program.kernels:
        for op in operations(kernel.body):
            if isinstance(op, Return):
                return op.span
    return None


def _store_of(pair: Pair, output: OutputMatch) -> Span | None:
    return next((op.span for op in kernel_operations(pair.cuda.program) if output.cuda in writes(op)), None)
