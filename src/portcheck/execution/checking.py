"""What a run is given, looked at before anything is run: whole numbers, names, shapes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from numbers import Integral

from portcheck.core.errors import InputError, did_you_mean
from portcheck.ir import Expr, Launch, Opaque, Program, operations, symbols_in
from portcheck.ir.walk import expressions


def check_whole(name: str, value: object, least: int | None = None) -> None:
    """Raises InputError where `value`, given for `name`, is no whole number, or is below `least`."""
    if isinstance(value, Integral) and (least is None or int(value) >= least):
        return
    allowed = "a whole number" if least is None else f"a whole number, {least} or more"
    raise InputError(f"{name} is {value!r}", f"{name} takes {allowed}")


def check_shape(name: str, shape: object) -> None:
    """Raises InputError where `shape`, given for the array `name`, is not a tuple of whole numbers from 0 on."""
    if isinstance(shape, tuple) and all(isinstance(extent, Integral) and int(extent) >= 0 for extent in shape):
        return
    raise InputError(f"the array {name} has the shape {shape!r}", "give a tuple of whole numbers, each 0 or more")


def check_names(program: Program, given: Iterable[str]) -> None:
    """Raises InputError for an argument that nothing in `program` is called by."""
    known = sorted(set(_names(program)))
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known) or f"the program takes {', '.join(known) or 'no arguments'}"
            raise InputError(f"nothing in the program is called {name}, which an argument is given for", hint)


def _names(program: Program) -> Iterator[str]:
    """What arguments may be called: parameters, what the host calls them, and free symbols."""
    for launch in program.launches:
        yield from (called for _, called in launch.arguments)
        yield from _symbols(_of_launch(launch))
    for kernel in program.kernels:
        for parameter in kernel.parameters:
            yield parameter.name
            yield from _symbols(parameter.type.shape)
        for op in operations(kernel.body):
            yield from _symbols(expressions(op))
            yield from (*op.reads, *op.writes) if isinstance(op, Opaque) else ()


def _of_launch(launch: Launch) -> Iterator[Expr]:
    yield from (*launch.grid, *launch.block, *(value for _, value in launch.values))
    if launch.shared_bytes is not None:
        yield launch.shared_bytes


def _symbols(found: Iterable[Expr]) -> Iterator[str]:
    for expression in found:
        yield from symbols_in(expression)
