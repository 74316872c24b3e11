"""Programs of one kernel for tests, in the text form."""

from __future__ import annotations

from portcheck.ir import Program
from portcheck.ir.text import parse_program

HEADER = """\
program cuda "kernel.cu"
symbols uint32: blockDim.x, threadIdx.x, threadIdx.y
symbols float32: eps
launch k grid(1) block(32, 32)
kernel k
  buffer y: float32 global
  buffer x: float16 global const
  buffer w: float32 global const
  scalar n: int32
  scalar d: int32
  scalar eps: float32
  axis threadIdx.x: block < blockDim.x
  axis threadIdx.y: block < 32
"""
PORT_HEADER = """\
program nki "port.py"
launch k
kernel k results(y)
  buffer x: float32[n, d] global const
  scalar eps: float32
  %1: alloc y: float32[n, d] global
"""


def original(*lines: str) -> Program:
    """A kernel of the original that does `lines`."""
    return parse_program(HEADER + "".join(f"  {line}\n" for line in lines))


def port(*lines: str) -> Program:
    """A kernel of a port that does `lines` (operations from %2 on) and returns y."""
    return parse_program(PORT_HEADER + "".join(f"  {line}\n" for line in lines))
