"""In which formats values are stored and computed, from load to store."""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.core.dtype import FLOAT64, DType
from portcheck.ir import Alloc, Cast, Compute, Op, Parameter, Program, Reduce, Space, kernel_operations


@dataclass(frozen=True, slots=True)
class Precision:
    """The dtype of every buffer by name, and the operations that compute, hold or accumulate in double precision."""

    storage: dict[str, DType]
    double: tuple[Op, ...]


def precision(program: Program) -> Precision:
    """The formats that `program` uses."""
    storage: dict[str, DType] = {}
    for kernel in program.kernels:
        for parameter in kernel.parameters:
            if parameter.is_buffer:
                storage[parameter.name] = parameter.type.dtype
    double: list[Op] = []
    for op in kernel_operations(program):
        if isinstance(op, Alloc):
            storage[op.name] = op.type.dtype
        if isinstance(op, Alloc | Cast | Compute | Reduce) and op.type.dtype == FLOAT64:
            double.append(op)
    return Precision(storage, tuple(double))


def global_buffers(program: Program) -> dict[str, Parameter | Alloc]:
    """The buffers in global memory: parameters, and what a port allocates there."""
    found: dict[str, Parameter | Alloc] = {}
    for kernel in program.kernels:
        found.update({parameter.name: parameter for parameter in kernel.parameters if parameter.is_buffer})
    for op in kernel_operations(program):
        if isinstance(op, Alloc) and op.type.space is Space.GLOBAL and not op.base:
            found[op.name] = op
    return found
