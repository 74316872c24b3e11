"""All instructions of inline assembly that have a lowering."""

from __future__ import annotations

from portcheck.frontends.cuda.assembly.inline import Handler, InstructionSet, assembly
from portcheck.frontends.cuda.assembly.instruction_barriers import BARRIERS
from portcheck.frontends.cuda.assembly.instruction_bits import BITS
from portcheck.frontends.cuda.assembly.instruction_lanes import LANES, special_register
from portcheck.frontends.cuda.assembly.instruction_memory import MEMORY
from portcheck.frontends.cuda.assembly.instructions import ARITHMETIC
from portcheck.frontends.cuda.assembly.warp_matrices import MATRICES
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Value
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.knowledge import Semantics

_ROUNDED = frozenset({"sat", "relu", "NaN"})
_HONOURED = {
    Semantics.COMPUTE_UNARY: _ROUNDED, Semantics.COMPUTE_BINARY: _ROUNDED, Semantics.COMPUTE_TERNARY: _ROUNDED,
    Semantics.CAST: frozenset({"sat", "satfinite", "relu"}),
}  # fmt: skip
_HANDLERS: dict[Semantics, Handler] = {**ARITHMETIC, **BITS, **MEMORY, **LANES, **BARRIERS, **MATRICES}


def inline_assembly(state: State, node: Node) -> Value:
    """What `asm(...)` does."""
    return assembly(state, node, InstructionSet(_HANDLERS, _HONOURED), special_register)
