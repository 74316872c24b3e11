"""Whose memory a tensor in HBM lies in, as the text says it."""

from __future__ import annotations

from portcheck.core.source import Span
from portcheck.ir import Program
from portcheck.ir.uses import NameUse
from portcheck.knowledge import Knowledge, NkiSpace, Role


def private_calls(program: Program, kernel: str, knowledge: Knowledge) -> frozenset[Span]:
    """Where the text of `kernel` allocates memory that each program instance has of its own."""
    return frozenset(
        use.span
        for use in program.uses
        if use.kernel == kernel
        for run in use.runs
        for argument in run.with_role(Role.BUFFER)
        if isinstance(argument.operand, NameUse) and knowledge.space(argument.operand.name) is NkiSpace.PRIVATE_HBM
    )
