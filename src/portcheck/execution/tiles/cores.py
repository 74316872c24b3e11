"""Program instances beside each other: one runs until it waits for the others, then the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from portcheck.execution.tiles.control import Running, run_region
from portcheck.execution.tiles.events import EventKind
from portcheck.execution.tiles.machine import Instance
from portcheck.ir import Barrier


@dataclass(eq=False)
class _Core:
    """A program instance that has not ended, and what it waits at (None: nothing)."""

    instance: Instance
    running: Running
    waits: Barrier | None = None


def run_beside(instances: Sequence[Instance]) -> None:
    """Runs program instances to their ends; stops where one waits for what never comes."""
    cores = [_Core(instance, run_region(instance, instance.machine.kernel.body)) for instance in instances]
    while cores:
        ready = [core for core in cores if _may_go_on(core, cores, len(instances))]
        if not ready:
            waiting = next(core for core in cores if core.waits is not None)
            assert waiting.waits is not None
            text = "waits for another program instance, which does not come"
            raise waiting.instance.stop(EventKind.WAITS_FOREVER, waiting.waits, text)
        ended = [core for core in ready if not _goes_on(core)]
        cores = [core for core in cores if core not in ended]


def _may_go_on(core: _Core, cores: Sequence[_Core], count: int) -> bool:
    """Whether what `core` waits for has come: at a barrier all instances."""
    if core.waits is None:
        return True
    return len(cores) == count and all(isinstance(other.waits, Barrier) for other in cores)


def _goes_on(core: _Core) -> bool:
    """Runs an instance to its end or to where it waits; whether it waits."""
    try:
        core.waits = next(core.running)
    except StopIteration:
        core.instance.release()
        return False
    return True
