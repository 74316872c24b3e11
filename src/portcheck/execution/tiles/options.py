"""What may be chosen about running a port: above all what its vendor leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from portcheck.core.errors import InputError
from portcheck.execution.checking import check_whole

_STEPS = 100_000_000_000
_BYTES = 4 << 30


class SumOrder(StrEnum):
    """How the terms of a sum or product inside one instruction are combined."""

    SEQUENTIAL = "sequential"
    """One after the other, from the first."""
    REVERSED = "reversed"
    """One after the other, from the last."""
    PAIRWISE = "pairwise"
    """Neighbours first, then their sums."""
    EXACT = "exact"
    """In float64, rounded once to the accumulator."""


class NanRule(StrEnum):
    """What the larger or smaller of a number and NaN is."""

    NUMBER = "number"
    NAN = "nan"


class WholeNan(StrEnum):
    """Which whole number NaN becomes."""

    ZERO = "zero"
    LOWEST = "lowest"
    """The lowest one of its format."""


class Overflow(StrEnum):
    """What a number beyond the finite range of a narrower float becomes."""

    INFINITY = "infinity"
    """NaN in a format without infinities."""
    LARGEST = "largest"


class Subnormals(StrEnum):
    """What becomes of results too small for a normal number of their format."""

    KEPT = "kept"
    FLUSHED = "flushed"
    """They are zeros of the same sign."""


class Outlier(StrEnum):
    """What an activation gives for an input outside its documented range."""

    FUNCTION = "function"
    """The function itself."""
    UNDEFINED = "undefined"


class FirstSum(StrEnum):
    """What adding a product to a PSUM tile without values gives (first generation: `psum += nisa.nc_matmul(...)`)."""

    OVERWRITE = "overwrite"
    """The product, which begins a group."""
    UNDEFINED = "undefined"


class Winner(StrEnum):
    """Which of several values written to one element stays."""

    LAST = "last"
    FIRST = "first"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to run.

    What the documentation of NKI does not say is chosen here, and the run lists what it came to use: `sums` for the
    order inside an instruction, `nan`, `whole_nan` (of casts to integers), `overflow` (of casts to narrower floats),
    `subnormals`, `outlier`, `first_sum`, `winner` (of scattered elements that share an index). `draws` is the seed of
    random numbers (None: a kernel that draws ends there).
    `target` is the chip whose limits hold. `steps` is how many elements may be computed, each operation at a fixed
    price besides; what takes more ends with an event. `memory` is the most bytes of all buffers together.
    Raises InputError for a number that cannot be.
    """

    sums: SumOrder = SumOrder.SEQUENTIAL
    nan: NanRule = NanRule.NUMBER
    whole_nan: WholeNan = WholeNan.ZERO
    overflow: Overflow = Overflow.INFINITY
    subnormals: Subnormals = Subnormals.KEPT
    outlier: Outlier = Outlier.FUNCTION
    first_sum: FirstSum = FirstSum.OVERWRITE
    winner: Winner = Winner.LAST
    draws: int | None = None
    target: str = "trn2"
    steps: int = _STEPS
    memory: int = _BYTES

    def __post_init__(self) -> None:
        check_whole("steps", self.steps, 0)
        check_whole("memory", self.memory, 1)
        if self.draws is not None:
            check_whole("draws", self.draws)
        for name, kind in _KINDS.items():
            if not isinstance(getattr(self, name), kind):
                raise InputError(f"{name} is {getattr(self, name)!r}", f"give one of {', '.join(map(str, kind))}")


_KINDS: Mapping[str, type[StrEnum]] = {
    "sums": SumOrder, "nan": NanRule, "whole_nan": WholeNan, "overflow": Overflow, "subnormals": Subnormals,
    "outlier": Outlier, "first_sum": FirstSum, "winner": Winner,
}  # fmt: skip
