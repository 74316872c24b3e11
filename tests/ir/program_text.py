"""Programs for tests, written in the text form."""

from portcheck.ir import Op, Program
from portcheck.ir.text import parse_program

HEADER = """\
program cuda "kernel.cu"
launch k grid(rows) block(256)
kernel k
  buffer x: float16 global const
  buffer y: float32[rows, dim] global
  scalar dim: int32
  scalar eps: float32
  axis blockIdx.x: grid < gridDim.x
  axis threadIdx.x: block < blockDim.x
  %1: alloc ss: float32
  %2: alloc tile: float32[128, 512] shared
  %3 = load x[0] -> float32
  %4 = load tile[0, 0] over(p: partition < 128, f: free < 512) -> float32[128, 512] shared
  %5 = compute %3 > 0.0 -> bool
"""


def text_of(*lines: str) -> str:
    """The text of a program whose kernel goes on with `lines` after some definitions (see HEADER)."""
    return HEADER + "".join(f"  {line}\n" for line in lines)


def program_of(*lines: str) -> Program:
    """The program of `text_of(*lines)`."""
    return parse_program(text_of(*lines))


def last_of(*lines: str) -> Op:
    """The last operation of `program_of(*lines)` that stands in no other."""
    return program_of(*lines).kernels[0].body[-1]
