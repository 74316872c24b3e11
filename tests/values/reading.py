"""Small sources to contracts."""

from __future__ import annotations

from pathlib import Path

from portcheck.core.source import SourceFile
from portcheck.frontends.cuda import CudaOptions, read_cuda
from portcheck.frontends.nki import NkiOptions, read_nki
from portcheck.ir import Program
from portcheck.values import Evaluated, evaluate

CORPUS = Path(__file__).parents[2] / "corpus"
NKI_HEADER = """\
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
"""


def cuda_program(text: str, *names: str) -> Program:
    """The program of the kernels `names` of a CUDA text; of all without names."""
    module = read_cuda(SourceFile("kernel.cu", text), CudaOptions())
    return module.lower(names or [kernel.name for kernel in module.kernels])


def nki_program(text: str, version: str | None = None) -> Program:
    """The program of all kernels of a port; without imports those of NKI 0.2 stand before it."""
    whole = text if "import" in text else NKI_HEADER + text
    module = read_nki(SourceFile("port.py", whole), NkiOptions(version=version))
    return module.lower([kernel.name for kernel in module.kernels])


def cuda(text: str, *names: str) -> Evaluated:
    """What a CUDA text computes."""
    return evaluate(cuda_program(text, *names))


def kernel(
    body: str, block: str = "256", parameters: str = "float* y, const float* x, int n", grid: str = "(n + 255) / 256"
) -> Evaluated:
    """What a kernel with this body computes; `t` is the thread's index in the grid, `i` that in the block."""
    names = ", ".join(part.split()[-1].lstrip("*") for part in parameters.split(","))
    return cuda(
        f"__global__ void k({parameters}) {{\n  const int i = threadIdx.x, t = blockIdx.x * blockDim.x + threadIdx.x;\n"
        f"{body}\n}}\nvoid run({parameters}) {{ k<<<{grid}, {block}>>>({names}); }}\n"
    )


def nki(text: str, version: str | None = None) -> Evaluated:
    """What a port computes."""
    return evaluate(nki_program(text, version))


def corpus(slug: str, side: str) -> Evaluated:
    """What a side of a corpus pair computes: "cuda" or "nki"."""
    folder = CORPUS / slug
    if side == "cuda":
        return cuda((folder / "kernel.cu").read_text(encoding="utf-8"))
    return nki((folder / "port.py").read_text(encoding="utf-8"))
