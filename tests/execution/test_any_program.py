"""Any valid program runs, stops at what is not executed, or is refused with an InputError; nothing else happens."""

from dataclasses import replace

import ml_dtypes
import numpy as np
from hypothesis import HealthCheck, given, settings
from tests.ir.strategies import programs

from portcheck.core.errors import InputError
from portcheck.execution import Argument, Geometry, Options, run
from portcheck.ir import Launch, Program

slow = [HealthCheck.too_slow, HealthCheck.data_too_large]


def fitted(arguments: dict[str, Argument], error: InputError) -> bool:
    """Gives what the error asks for; False if it asks for something else."""
    for asked, given_ in ((" needs a value for ", 3), (" needs an array for ", np.ones(64, np.float32))):
        if asked in error.message and error.message.partition(asked)[2] not in arguments:
            arguments[error.message.partition(asked)[2]] = given_
            return True
    return False


def arguments_of(program: Program) -> dict[str, Argument]:
    found: dict[str, Argument] = {}
    for kernel in program.kernels:
        for parameter in kernel.parameters:
            name = parameter.type.dtype.name
            known = getattr(ml_dtypes, name, None) or getattr(np, name, None) or np.float32
            found[parameter.name] = np.ones(64, known) if parameter.is_buffer else 1
    return found


@given(programs())
@settings(max_examples=150, deadline=None, suppress_health_check=slow)
def test_any_program_runs_or_is_refused(program: Program) -> None:
    launches = program.launches or tuple(Launch(kernel=kernel.name) for kernel in program.kernels)
    program = replace(program, launches=tuple(replace(launch, arguments=()) for launch in launches))
    arguments = arguments_of(program)
    for _ in range(40):
        try:
            done = run(program, arguments, Geometry.of(2, 48, 256), Options(steps=1_000_000, memory=1 << 24, seed=1))
        except InputError as error:
            if not fitted(arguments, error):
                return
        else:
            assert all(event.count > 0 for event in done.events)
            return
