"""What may be chosen about an execution."""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.execution.checking import check_whole

_THREADS = 1 << 15
_STEPS = 10_000_000_000
_BYTES = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to run.

    `contracts` fuses products into the sums that take them, as nvcc does by default. `seed` orders the threads of each
    atomic operation (None: by number). `steps` is how many thread operations may be run, each operation at a fixed
    price besides; what takes more ends with an event. `threads` are in flight at least, where the grid has them.
    `is_checked` looks for races and for reads of what was not written. `memory` is the most bytes that the threads in
    flight may take for variables, arrays and shared memory; there are fewer of them where it is not enough. `draws` is
    the seed of the random numbers that stand in for cuRAND's (None: a kernel that draws ends there).
    `flushes` takes and gives zeros for subnormal float32 numbers (None: as the program's flags say).
    Raises InputError for a number that cannot be.
    """

    contracts: bool = False
    seed: int | None = None
    steps: int = _STEPS
    threads: int = _THREADS
    is_checked: bool = True
    memory: int = _BYTES
    draws: int | None = None
    flushes: bool | None = None

    def __post_init__(self) -> None:
        for name, value, least in (("steps", self.steps, 0), ("threads", self.threads, 1), ("memory", self.memory, 1)):
            check_whole(name, value, least)
        if self.seed is not None:
            check_whole("seed", self.seed, 0)
        if self.draws is not None:
            check_whole("draws", self.draws)
