"""From arguments to symbols, dtypes and buffers; sizes come from the shapes of arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from portcheck.core.dtype import BOOL, CONCRETE, FLOAT32, INT32, WIDE, DType, dtype_of
from portcheck.core.errors import InputError, did_you_mean
from portcheck.execution.arithmetic.formats import Value, storage
from portcheck.execution.tiles.dtypes import compared
from portcheck.execution.tiles.events import Event, EventKind
from portcheck.execution.tiles.machine import Machine, Number, Run
from portcheck.execution.tiles.memory import Memory, holding
from portcheck.ir import Const, Expr, Kernel, Launch, Parameter, Program, Space, Symbol, operations, symbols_in
from portcheck.ir.walk import expressions

Argument: TypeAlias = "Value | Number | str | None | np.dtype[Any] | Sequence[Argument] | Mapping[str, Argument]"
"""An array for a tensor, a number for a scalar or a size, a dtype or its name, a tuple of them, or a configuration by
its attributes."""


@dataclass
class _Bound:
    """What the arguments give so far."""

    kernel: Kernel
    symbols: dict[str, Number] = field(default_factory=dict)
    dtypes: dict[str, DType] = field(default_factory=dict)
    tensors: dict[str, Memory] = field(default_factory=dict)
    stated_by: dict[str, str] = field(default_factory=dict)

    def size(self, name: str, value: Number, origin: str) -> None:
        """Gives `name` a value; InputError where it has another one already."""
        known = self.symbols.setdefault(name, value)
        if known is not value and known != value:
            other = self.stated_by.get(name, "its argument")
            raise InputError(
                f"{name} is {known} by {other} and {value} by {origin}", "give arrays whose sizes fit each other"
            )
        self.stated_by.setdefault(name, origin)


def bound(run: Run, kernel: Kernel, launch: Launch, arguments: Mapping[str, Argument]) -> Machine:
    """`kernel` with what it is given; InputError for arguments that do not fit."""
    names = dict(launch.arguments)
    flat = _left_out(kernel, names, arguments) | dict(flattened(arguments))
    found = _Bound(kernel)
    for name, value in flat.items():
        found.symbols[f"{name} is None"] = value is None
        if not isinstance(value, np.ndarray) or value.ndim == 0:
            _bind_scalar(found, name, value)
    for parameter in kernel.parameters:
        if parameter.is_buffer:
            name = names.get(parameter.name, parameter.name)
            if isinstance(flat.get(name), np.ndarray):
                _bind_tensor(found, run, parameter, flat[name])
            elif flat.get(name) is not None:
                raise InputError(f"{name} is a tensor of {kernel.name}", f"give an array for {name}")
    for name in names_in(kernel):
        is_so = compared(name, found.dtypes)
        if is_so is not None:
            found.symbols.setdefault(name, is_so)
    return Machine(
        run=run, kernel=kernel, symbols=found.symbols, dtypes=found.dtypes, given=tuple(flat), tensors=found.tensors,
        definitions={item.name: item.value for item in kernel.definitions},
    )  # fmt: skip


def _left_out(kernel: Kernel, names: Mapping[str, str], arguments: Mapping[str, Argument]) -> dict[str, Any]:
    """The defaults of the parameters of which nothing is given."""
    given = set(map(_beginning, arguments))
    known = {names.get(item.name, item.name): item.default for item in kernel.parameters}
    return {name: default.value for name, default in known.items() if default is not None and name not in given}


def flattened(arguments: Mapping[str, Argument], before: str = "") -> Iterator[tuple[str, Any]]:
    """The arguments by their dotted names."""
    for name, value in arguments.items():
        if isinstance(value, Mapping):
            yield from flattened(value, f"{before}{name}.")
        elif isinstance(value, tuple | list):
            yield from ((f"{before}{name}[{place}]", item) for place, item in enumerate(value))
        else:
            yield f"{before}{name}", value


def _bind_scalar(found: _Bound, name: str, value: object) -> None:
    plain = value.item() if isinstance(value, np.ndarray | np.generic) else value
    text = value.name if isinstance(value, np.dtype) else plain
    if isinstance(text, str) and text in CONCRETE:
        found.dtypes[dtype_of(name).name] = CONCRETE[text]
    if plain is None or isinstance(text, str):
        return
    if not isinstance(plain, int | float | bool):
        raise InputError(f"{name} is neither an array nor a number", "give one of both")
    found.size(name, plain, "its argument")
    by_kind = BOOL if isinstance(plain, bool) else INT32 if isinstance(plain, int) else FLOAT32
    found.dtypes[dtype_of(name).name] = by_kind


def _bind_tensor(found: _Bound, run: Run, parameter: Parameter, array: Value) -> None:
    name, shape, stated = parameter.name, parameter.type.shape, parameter.type.dtype
    known = run.knowledge.dtype(array.dtype.name)
    if known is None:
        raise InputError(f"{name} has the dtype {array.dtype}", f"give one of {', '.join(CONCRETE)}")
    dtype = DType(known.name, known.kind) if stated.is_symbolic else stated
    if storage(dtype) != array.dtype:
        raise InputError(f"{name} is {stated} in {found.kernel.name}, and the array is {array.dtype}")
    if len(shape) != array.ndim and shape:
        raise InputError(
            f"{name} has {len(shape)} dimensions in {found.kernel.name}, and the array has {array.ndim}",
            "give an array of as many dimensions",
        )
    if stated.is_symbolic and dtype in WIDE:
        _say_integers(found, run, parameter, dtype)
    found.dtypes[dtype_of(name).name] = dtype
    found.size(f"itemsize({dtype_of(name)})", array.dtype.itemsize, f"the bytes of an element of {name}")
    for place, extent in enumerate(array.shape):
        found.size(f"{name}.shape[{place}]", extent, f"{name}.shape[{place}]")
    for place, (extent, size) in enumerate(zip(shape, array.shape, strict=False)):
        _bind_extent(found, extent, size, f"{name}.shape[{place}]")
    found.tensors[name] = holding(name, dtype, array, Space.GLOBAL)


def _say_integers(found: _Bound, run: Run, parameter: Parameter, dtype: DType) -> None:
    """Says that a port was read without knowing that a tensor holds integers, some of which are computed otherwise."""
    text = f"{parameter.name} was read as a float, and the array is {dtype}; state its dtype when the port is read"
    run.log.add(Event(kind=EventKind.ASSUMED, message=text, kernel=found.kernel.name, span=parameter.span), text)


def _bind_extent(found: _Bound, extent: Expr, size: int, origin: str) -> None:
    if isinstance(extent, Symbol):
        found.size(extent.name, size, origin)
    elif isinstance(extent, Const) and extent.value != size:
        raise InputError(f"{origin} is {extent.value} in {found.kernel.name}, and {size} in the array")


def check_known(program: Program, arguments: Mapping[str, Argument]) -> None:
    """Raises InputError for an argument that nothing in `program` is called by, nor an attribute of one."""
    known = set().union(*map(names_in, program.kernels))
    beginnings = {_beginning(name) for name in known}
    where = program.launches[-1].kernel if program.launches else program.path
    for name in arguments:
        if name not in known and _beginning(name) not in beginnings:
            hint = did_you_mean(name, sorted(known)) or f"{where} takes {', '.join(sorted(known)) or 'nothing'}"
            raise InputError(f"nothing in {where} is called {name}, which an argument is given for", hint)


def names_in(kernel: Kernel) -> set[str]:
    """What a kernel has names for: its parameters, their sizes, and the symbols of its text."""
    known = {parameter.name for parameter in kernel.parameters}
    for parameter in kernel.parameters:
        known.update(*map(symbols_in, parameter.type.shape))
    known.update(*(symbols_in(item.value) for item in kernel.definitions))
    known.update(*(symbols_in(item.condition) for item in kernel.dtypes))
    for op in operations(kernel.body):
        known.update(*map(symbols_in, expressions(op)))
    return known


def _beginning(name: str) -> str:
    """The parameter that an attribute or an item belongs to."""
    return name.partition(".")[0].partition("[")[0]
