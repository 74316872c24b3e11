"""Program instances beside each other: one runs until it waits for the others, then the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from portcheck.execution.tiles.control import run_region
from portcheck.execution.tiles.events import EventKind
from portcheck.execution.tiles.exchanging import Core, exchanged
from portcheck.execution.tiles.machine import Instance
from portcheck.ir import Barrier


def run_beside(ranks: Sequence[Sequence[Instance]]) -> None:
    """Runs the program instances of all ranks to their ends; stops where one waits for what never comes."""
    cores = [
        Core(instance, run_region(instance, instance.machine.kernel.body), rank, place)
        for rank, instances in enumerate(ranks)
        for place, instance in enumerate(instances)
    ]
    counts = [len(instances) for instances in ranks]
    while cores:
        ready = [core for core in cores if core.waits is None]
        ready = ready or [*_past_barriers(cores, counts), *exchanged(cores, counts)]
        if not ready:
            waiting = cores[0]
            assert waiting.waits is not None
            text = "waits for another program instance, which does not come"
            raise waiting.instance.stop(EventKind.WAITS_FOREVER, waiting.waits, text)
        ended = [core for core in ready if not _goes_on(core)]
        cores = [core for core in cores if core not in ended]


def _past_barriers(cores: Sequence[Core], counts: Sequence[int]) -> Iterator[Core]:
    """Those that wait at a barrier which all instances of their rank have come to."""
    for rank, count in enumerate(counts):
        waiting = [core for core in cores if core.rank == rank and isinstance(core.waits, Barrier)]
        if len(waiting) == count:
            yield from waiting


def _goes_on(core: Core) -> bool:
    """Runs an instance to its end or to where it waits; whether it waits."""
    try:
        core.waits = next(core.running)
    except StopIteration:
        core.instance.release()
        return False
    return True
