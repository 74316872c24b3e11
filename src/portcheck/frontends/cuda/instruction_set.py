"""All instructions of inline assembly that have a lowering."""

from __future__ import annotations

from portcheck.frontends.cuda.assembly import Handler, assembly
from portcheck.frontends.cuda.instruction_bits import BITS
from portcheck.frontends.cuda.instruction_lanes import LANES, special_register
from portcheck.frontends.cuda.instruction_memory import MEMORY
from portcheck.frontends.cuda.instructions import ARITHMETIC
from portcheck.frontends.cuda.state import State
from portcheck.frontends.cuda.syntax import Node
from portcheck.frontends.cuda.values import Value
from portcheck.frontends.cuda.warp_matrices import MATRICES
from portcheck.knowledge import Semantics

_HANDLERS: dict[Semantics, Handler] = {**ARITHMETIC, **BITS, **MEMORY, **LANES, **MATRICES}


def inline_assembly(state: State, node: Node) -> Value:
    """What `asm(...)` does."""
    return assembly(state, node, _HANDLERS, special_register)
