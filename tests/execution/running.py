"""Running CUDA text: what the tests of the executor share."""

from __future__ import annotations

from collections.abc import Mapping

from portcheck.core.source import SourceFile
from portcheck.execution import Argument, Execution, Geometry, Options, run
from portcheck.frontends.cuda import CudaOptions, read_cuda
from portcheck.ir import Opaque, Program, kernel_operations
from portcheck.ir.verify import check_valid


def lowered(text: str, **options: bool) -> Program:
    """The program of all kernels in `text`, which must be understood as a whole."""
    module = read_cuda(SourceFile("kernel.cu", text), CudaOptions(**options))
    program = module.lower([kernel.name for kernel in module.kernels])
    check_valid(program)
    opaque = [op.reason for op in kernel_operations(program) if isinstance(op, Opaque)]
    assert not opaque, opaque
    return program


def executed(
    text: str, arguments: Mapping[str, Argument], grid: object = None, block: object = None, shared: int = 0,
    **options: object,
) -> Execution:  # fmt: skip
    """Runs `text`; launched as the source says where no grid is given."""
    geometry = None if grid is None else Geometry.of(grid, block, shared)
    return run(lowered(text), arguments, geometry, Options(**options))
