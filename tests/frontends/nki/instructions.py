"""Short kernels of the current generation, and what they become."""

from __future__ import annotations

from portcheck.core.source import SourceFile
from portcheck.frontends.nki import NkiOptions, read_nki
from portcheck.ir import Kernel, Opaque, operations
from portcheck.ir.text import parse_program, print_program
from portcheck.ir.verify import check_valid

IMPORTS = (
    "import nki\nimport nki.isa as nisa\nimport nki.language as nl\nimport nki.collectives as ncc\n"
    "import numpy as np\n\n"
)
TILES = """
a = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
b = nl.ndarray((128, 512), dtype=nl.bfloat16, buffer=nl.sbuf)
i = nl.ndarray((128, 512), dtype=nl.int32, buffer=nl.sbuf)
u = nl.ndarray((128, 512), dtype=nl.uint32, buffer=nl.sbuf)
s = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
p = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
w = nl.ndarray((128, 128), dtype=nl.bfloat16, buffer=nl.sbuf)
"""


def lowered(body: str, *, version: str = "0.6", target: str = "trn3", parameters: str = "x, y") -> Kernel:
    """The kernel with this body; its IR is valid and its text form says all of it."""
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    text = f"{IMPORTS}@nki.jit\ndef k({parameters}):\n{lines}"
    options = NkiOptions(version=version, target=target)
    program = read_nki(SourceFile("port.py", text), options).lower(["k"])
    check_valid(program)
    assert print_program(parse_program(print_program(program))) == print_program(program)
    return program.kernels[0]


def on_tiles(body: str, **options: str) -> Kernel:
    """The kernel with this body over the tiles of TILES."""
    return lowered(TILES + body, **options)


def kinds(made: Kernel) -> str:
    """The names of the operations behind the allocations at the start."""
    names = [type(op).__name__ for op in operations(made.body)]
    first = next((place for place, name in enumerate(names) if name != "Alloc"), len(names))
    return " ".join(names[first:])


def obstacles(made: Kernel) -> list[str]:
    """Why parts of the kernel were not understood."""
    return [op.reason for op in operations(made.body) if isinstance(op, Opaque)]
