"""What makes a kernel of a function, and which kernels only help others."""

from __future__ import annotations

from portcheck.ir import Kernel, Program
from portcheck.ir.uses import OtherUse, Use, UseKind, tiles_in
from portcheck.knowledge import Form, Knowledge, NkiVersion


def is_marked(kernel: Kernel, program: Program) -> bool:
    """Whether a decorator or call makes a kernel of the function: else it may be one that kernels call."""
    outside = [use for use in program.uses if not use.kernel]
    given = [argument.operand for use in outside for run in use.runs for argument in run.arguments]
    return any(kernel.span.covers(use.span) for use in outside) or OtherUse(kernel.name) in given


def is_launched(kernel: Kernel, program: Program) -> bool:
    """Whether the function is one that is launched: it is the only one that was asked for, or its file launches it."""
    return len(program.kernels) == 1 or any(launch.grid for launch in program.launches if launch.kernel == kernel.name)


def is_helper(kernel: Kernel, program: Program, knowledge: Knowledge) -> bool:
    """Whether another kernel calls this one: one of the program does, or it is given tiles that are on the chip."""
    return _is_called(kernel, program) or _takes_tiles(kernel, program, knowledge)


def _is_called(kernel: Kernel, program: Program) -> bool:
    return any(
        use.kind is UseKind.FORM and use.name == Form.DECORATED_HELPER and use.kernel != kernel.name
        and kernel.span.covers(use.span)
        for use in program.uses
    )  # fmt: skip


def _takes_tiles(kernel: Kernel, program: Program, knowledge: Knowledge) -> bool:
    """Whether an engine that reaches no device memory works on a parameter as it stands."""
    given = {parameter.name for parameter in kernel.parameters}
    return any(
        tile.buffer in given
        for use in program.uses
        if use.kernel == kernel.name and use.kind is UseKind.CALL and _is_on_chip(use, program, knowledge)
        for run in use.runs
        for argument in run.arguments
        for tile in tiles_in(argument.operand)
    )


def _is_on_chip(use: Use, program: Program, knowledge: Knowledge) -> bool:
    entry = knowledge.api(use.name, NkiVersion.parse(program.version))
    engines = {engine.name for chip in knowledge.chips.values() for engine in chip.engines}
    return entry is not None and bool(engines.intersection(entry.engine.split("|")))
