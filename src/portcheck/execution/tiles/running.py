"""Running a port: its kernels one after the other, the program instances of each in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from portcheck.core.errors import InputError, did_you_mean
from portcheck.execution.arithmetic.formats import Value
from portcheck.execution.tiles.activations import scalar_calls
from portcheck.execution.tiles.binding import Argument, bound, check_known
from portcheck.execution.tiles.cores import run_beside
from portcheck.execution.tiles.events import STOPS, Choice, Event, EventKind, EventLog, Stop
from portcheck.execution.tiles.expressions import integer_of, number_of, unknown_in
from portcheck.execution.tiles.machine import Instance, Machine, Run
from portcheck.execution.tiles.memory import Memory, contents
from portcheck.execution.tiles.moving import check_written
from portcheck.execution.tiles.options import Options
from portcheck.execution.tiles.placing import private_calls
from portcheck.ir import ChosenDType, Launch, Program, Return, Side, operations
from portcheck.knowledge import ApiVersion, Chip, Knowledge, NkiVersion, Semantics, load


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """What a run left: tensors as they are at the end, what each kernel returned, and what there is to say.

    `choices` are what the run decided because the vendor says nothing, each as an option says. `steps` were taken.
    """

    arrays: Mapping[str, Value]
    returned: Mapping[str, tuple[Value, ...]]
    events: tuple[Event, ...]
    choices: tuple[Choice, ...]
    steps: int

    @property
    def results(self) -> tuple[Value, ...]:
        """What the last kernel returned."""
        return list(self.returned.values())[-1] if self.returned else ()

    @property
    def faults(self) -> tuple[Event, ...]:
        """The events that a correct kernel does not have."""
        return tuple(event for event in self.events if event.is_fault)

    @property
    def stopped(self) -> Event | None:
        """Why the run ended before its end; None if it did not."""
        return next((event for event in self.events if event.kind in STOPS), None)


@dataclass
class _Outcome:
    arrays: dict[str, Value] = field(default_factory=dict)
    returned: dict[str, tuple[Value, ...]] = field(default_factory=dict)


def run(
    program: Program,
    arguments: Mapping[str, Argument],
    grid: Sequence[int] | None = None,
    options: Options | None = None,
) -> Execution:
    """Runs all kernels of the port `program` in their order.

    `arguments` has an array for every tensor parameter, a number for every scalar one and every size that no array
    states, by the names of the program; attributes of an object by their dotted names or in a mapping. `grid` is how
    many program instances there are along each axis, where the source does not say. Arrays are copied, never changed.
    Raises InputError for a program or arguments that do not fit.
    """
    return run_on_ranks(program, (arguments,), grid, options)[0]


def run_on_ranks(
    program: Program,
    arguments: Sequence[Mapping[str, Argument]],
    grid: Sequence[int] | None = None,
    options: Options | None = None,
) -> tuple[Execution, ...]:
    """Runs `program` on several ranks at once, which exchange data: one for each of `arguments`, numbered from 0.

    As `run` otherwise. Events and choices are those of all ranks.
    """
    if program.side is not Side.NKI:
        raise InputError(f"{program.path} is no port", "portcheck.execution.run runs CUDA kernels")
    chosen = options or Options()
    knowledge = load()
    shared = Run(options=chosen, chip=_chip(knowledge, chosen.target), knowledge=knowledge)
    shared.random = None if chosen.draws is None else np.random.default_rng(chosen.draws)
    for given in arguments:
        check_known(program, given)
    outcomes = [_Outcome() for _ in arguments]
    try:
        with np.errstate(all="ignore"):
            for launch in program.launches:
                _launch(shared, program, launch, arguments, grid, outcomes)
    except Stop:
        pass
    log: EventLog = shared.log
    return tuple(
        Execution(
            arrays=outcome.arrays, returned=outcome.returned, events=log.events(), choices=log.choices(),
            steps=shared.spent,
        )
        for outcome in outcomes
    )  # fmt: skip


def _chip(knowledge: Knowledge, target: str) -> Chip:
    for chip in knowledge.chips.values():
        if target in (chip.name, *chip.targets):
            return chip
    known = sorted(name for chip in knowledge.chips.values() for name in chip.targets)
    raise InputError(f"there is no chip {target}", did_you_mean(target, known) or f"the chips are {', '.join(known)}")


def _launch(
    shared: Run, program: Program, launch: Launch, arguments: Sequence[Mapping[str, Argument]],
    grid: Sequence[int] | None, outcomes: Sequence[_Outcome],
) -> None:  # fmt: skip
    """Runs one kernel on all ranks."""
    machines = [_machine(shared, program, launch, given, grid) for given in arguments]
    for rank, machine in enumerate(machines):
        machine.symbols[_RANK] = rank
    try:
        run_beside([_instances(machine) for machine in machines])
        for machine in machines:
            _check_results(machine)
    finally:
        for machine, outcome in zip(machines, outcomes, strict=True):
            outcome.arrays.update({name: contents(memory) for name, memory in machine.tensors.items()})
            outcome.arrays.update({name: contents(memory) for name, memory in machine.made.items()})
            outcome.returned[launch.kernel] = tuple(_returned(machine, memory) for memory in _results(machine))


def _returned(machine: Machine, memory: Memory) -> Value:
    """A result in the shape that it is handed back in."""
    return contents(memory).reshape(machine.seen.get(memory.name, memory.shape))


_RANK = "rank_id"
"""What a kernel calls the rank that it runs on."""


def _machine(
    shared: Run, program: Program, launch: Launch, arguments: Mapping[str, Argument], grid: Sequence[int] | None
) -> Machine:  # fmt: skip
    """A kernel with what it is given and what its text says besides its operations."""
    kernel = program.kernel(launch.kernel)
    machine = bound(shared, kernel, launch, arguments)
    called = _called(program, shared.knowledge)
    machine.has_blocks = any(api.semantics is Semantics.INDEX_PARTITION for api in called)
    products = [api for api in called if api.semantics is Semantics.MATMUL]
    machine.has_groups = not products or not all(api.returns_value for api in products)
    machine.scalar_calls = scalar_calls(program, kernel.name, shared.knowledge)
    machine.private_calls = private_calls(program, kernel.name, shared.knowledge)
    machine.grid = _grid(machine, launch, grid)
    machine.symbols.update({f"num_programs[{axis}]": extent for axis, extent in enumerate(machine.grid)})
    machine.symbols["program_ndim"] = 0 if grid is None and not launch.grid else len(machine.grid)
    for axis in range(len(machine.grid), _MOST_AXES):
        machine.symbols.setdefault(f"num_programs[{axis}]", 1)
    for chosen in kernel.dtypes:
        _choose(machine, chosen)
    return machine


def _choose(machine: Machine, chosen: ChosenDType) -> None:
    """Settles a dtype that is one of two, where what is given says which; whoever needs it otherwise says so."""
    instance = Instance(machine, (), dict(machine.symbols))
    if not unknown_in(instance, chosen.condition):
        dtype = chosen.first if number_of(instance, chosen.condition) else chosen.second
        with suppress(InputError):
            machine.dtypes[chosen.dtype.name] = machine.dtype(dtype)


def _called(program: Program, knowledge: Knowledge) -> list[ApiVersion]:
    """What the text calls, as its version has it."""
    if not program.version:
        return []
    version = NkiVersion.parse(program.version)
    found = (knowledge.api(use.name, version) for use in program.uses)
    return [api for api in found if api is not None]


def _results(machine: Machine) -> list[Memory]:
    names = machine.kernel.results if machine.returned is None else machine.returned
    found = [machine.made.get(name) or machine.tensors.get(name) for name in names]
    return [memory for memory in found if memory is not None]


def _grid(machine: Machine, launch: Launch, given: Sequence[int] | None) -> tuple[int, ...]:
    """How many program instances there are along each axis."""
    axes = [axis.name for axis in machine.kernel.axes]
    if given is not None:
        missing = [name for name in axes if name not in {f"program_id[{axis}]" for axis in range(len(given))}]
        if missing:
            raise InputError(f"{machine.kernel.name} asks for {missing[0]}, and the grid has {len(given)} axes")
        return tuple(int(extent) for extent in given)
    if launch.grid:
        instance = Instance(machine, (), dict(machine.symbols))
        return tuple(integer_of(instance, extent) for extent in launch.grid)
    if axes:
        text = f"nothing says what the grid is; there is one program instance: {', '.join(axes)} is 0"
        event = Event(kind=EventKind.ASSUMED, message=text, kernel=machine.kernel.name, span=machine.kernel.span)
        machine.run.log.add(event)
    return (1,) * _MOST_AXES if axes else ()


_MOST_AXES = 3


def _instances(machine: Machine) -> list[Instance]:
    """All program instances, in order."""
    made = []
    for program in np.ndindex(*machine.grid):
        places = {f"program_id[{axis}]": place for axis, place in enumerate(program)}
        made.append(Instance(machine, program, dict(machine.symbols) | places))
    return made


def _check_results(machine: Machine) -> None:
    returns = [op for op in operations(machine.kernel.body) if isinstance(op, Return)]
    instance = Instance(machine, (), {})
    for memory in _results(machine):
        if returns:
            check_written(instance, memory, returns[-1])
