"""What a value is: dtype, shape and memory space; and the axes that index it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from portcheck.core.dtype import DType
from portcheck.ir.expr import Expr


class Space(StrEnum):
    """Where a value lives. One name for what plays the same role on both sides."""

    GLOBAL = "global"
    """CUDA global memory; HBM."""
    SHARED = "shared"
    """CUDA shared memory (of a block); SBUF (of a core)."""
    PSUM = "psum"
    """The accumulation memory behind the tensor engine."""
    REGISTER = "register"
    """A per-thread variable; an immediate value of a tile program."""
    CONSTANT = "constant"
    TEXTURE = "texture"


class AxisKind(StrEnum):
    """What runs along an axis."""

    GRID = "grid"
    BLOCK = "block"
    LANE = "lane"
    PROGRAM = "program"
    CORE = "core"
    PARTITION = "partition"
    FREE = "free"
    SEQUENTIAL = "sequential"
    UNROLLED = "unrolled"
    PARALLEL_ASSERTED = "parallel-asserted"


@dataclass(frozen=True, slots=True)
class Axis:
    """A named index that runs over 0 <= name < extent; `extent` is None where nothing in reach states it."""

    name: str
    kind: AxisKind
    extent: Expr | None


@dataclass(frozen=True, slots=True)
class ValueType:
    """The type of a result or buffer. `shape` is empty for a per-thread scalar; elements, outermost first."""

    dtype: DType
    shape: tuple[Expr, ...] = ()
    space: Space = Space.REGISTER
