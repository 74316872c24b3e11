"""What a chip has room for."""

from __future__ import annotations

import math

from portcheck.core.dtype import DType
from portcheck.execution.arithmetic.formats import storage
from portcheck.execution.tiles.events import EventKind
from portcheck.execution.tiles.machine import Instance
from portcheck.ir import Alloc, Matmul, Space

_ON_CHIP = {Space.SHARED: "SBUF", Space.PSUM: "PSUM"}


def check_buffer(instance: Instance, op: Alloc, dtype: DType, shape: tuple[int, ...]) -> None:
    """Reports a tile with more partitions, or more bytes of a partition, than the chip has; stops for too many bytes.

    What all tiles take together depends on where the compiler puts them, and is not looked at. Where the text has
    blocks of tiles, one of more than two dimensions may have some before its partitions, which count for neither.
    """
    run, width = instance.machine.run, storage(dtype).itemsize
    if run.bytes + math.prod(shape) * width > run.options.memory:
        raise instance.stop(EventKind.BUDGET_SPENT, op, f"takes more than {run.options.memory} bytes")
    memory = _ON_CHIP.get(op.type.space)
    if memory is None or not shape:
        return
    chip = run.chip
    may_be_blocks = instance.machine.has_blocks and len(shape) > _WITHOUT_BLOCKS
    if shape[0] > chip.partitions and not may_be_blocks:
        text = f"{op.name} has {shape[0]} partitions; {chip.name} has {chip.partitions}"
        instance.report(EventKind.LIMIT_EXCEEDED, op, text, subject="partitions")
    room = chip.psum_bytes_per_partition if op.type.space is Space.PSUM else chip.sbuf_bytes_per_partition
    taken = math.prod(shape[-1:] if may_be_blocks else shape[1:]) * width
    if taken > room:
        text = f"{op.name} takes {taken} bytes of a partition; {memory} of {chip.name} has {room}"
        instance.report(EventKind.LIMIT_EXCEEDED, op, text, subject="bytes")


_WITHOUT_BLOCKS = 2


def check_matmul(instance: Instance, op: Matmul, contracted: int, stationary: int, moving: int) -> None:
    """Reports a product with more rows or columns than one instruction takes."""
    chip = instance.machine.run.chip
    for what, size, limit in (
        ("contracts", contracted, chip.matmul_contraction),
        ("has a stationary operand of", stationary, chip.matmul_stationary_free),
        ("has a moving operand of", moving, chip.matmul_moving_free),
    ):
        if size > limit:
            text = f"a product {what} {size} elements; an instruction of {chip.name} takes {limit}"
            instance.report(EventKind.LIMIT_EXCEEDED, op, text, subject=what)
