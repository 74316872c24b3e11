"""Reads snippets and says what became of them."""

from __future__ import annotations

from portcheck.core.source import SourceFile
from portcheck.frontends.cuda import CudaOptions, read_cuda
from portcheck.ir import Call, Kernel, Op, Opaque, Program, operations
from portcheck.ir.verify import verify


def program(text: str, *names: str, path: str = "kernel.cu", options: CudaOptions | None = None) -> Program:
    """The program of the named kernels, or of all; it must be valid."""
    module = read_cuda(SourceFile(path, text), options or CudaOptions())
    lowered = module.lower(names or [kernel.name for kernel in module.kernels])
    assert verify(lowered) == ()
    return lowered


def kernel(text: str, options: CudaOptions | None = None) -> Kernel:
    """The first kernel of `text`."""
    return program(text, options=options).kernels[0]


def body(statements: str, parameters: str = "float* x, const float* w, int n", before: str = "") -> list[Op]:
    """All operations of a kernel with these statements."""
    text = f"{before}\n__global__ void k({parameters}) {{\n{statements}\n}}"
    return list(operations(kernel(text).body))


def kinds(found: list[Op]) -> list[str]:
    """What sort of operation each one is."""
    return [type(op).__name__ for op in found]


def not_understood(found: list[Op]) -> list[str]:
    """The reasons of what was kept opaque."""
    return [op.reason if isinstance(op, Opaque) else op.callee for op in found if isinstance(op, Opaque | Call)]
