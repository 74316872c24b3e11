"""What makes a kernel of a function, and which kernels only help others."""

from __future__ import annotations

from portcheck.ir import Kernel, Program
from portcheck.ir.uses import OtherUse, UseKind
from portcheck.knowledge import Form


def is_marked(kernel: Kernel, program: Program) -> bool:
    """Whether a decorator or call makes a kernel of the function: else it may be one that kernels call."""
    outside = [use for use in program.uses if not use.kernel]
    given = [argument.operand for use in outside for run in use.runs for argument in run.arguments]
    return any(kernel.span.covers(use.span) for use in outside) or OtherUse(kernel.name) in given


def is_helper(kernel: Kernel, program: Program) -> bool:
    """Whether another kernel of the program calls this one."""
    return any(
        use.kind is UseKind.FORM and use.name == Form.DECORATED_HELPER and use.kernel != kernel.name
        and kernel.span.covers(use.span)
        for use in program.uses
    )  # fmt: skip
