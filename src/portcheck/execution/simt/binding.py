"""From arguments to what a kernel is compiled with: its launch, its scalars, its arrays, its buffers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias, cast

import numpy as np

from portcheck.core.dtype import UINT32
from portcheck.core.errors import InputError, did_you_mean
from portcheck.execution.arithmetic.conversions import literal
from portcheck.execution.arithmetic.formats import Value, storage
from portcheck.execution.simt.batch import Batch, Geometry
from portcheck.execution.simt.compilation import Buffer, Code, Compilation
from portcheck.execution.simt.expressions import constant_of
from portcheck.execution.simt.options import Options
from portcheck.execution.simt.storage import count
from portcheck.execution.simt.textures import Texture, texture_numbers
from portcheck.ir import Alloc, Const, Expr, Kernel, Launch, Parameter, Program, Space, operations
from portcheck.knowledge import Semantics, load

Number: TypeAlias = int | float | bool


@dataclass(frozen=True, slots=True)
class Uninitialised:
    """An array argument that only the kernel gives values to: reads before are found. `shape` is in elements."""

    shape: tuple[int, ...]


Argument: TypeAlias = Value | Uninitialised | Texture | Number | None
"""An array for a pointer, flat or of any shape in C order, None for a null pointer; a number for a scalar or a size;
a texture for its object or reference."""


def argument_name(launch: Launch, parameter: Parameter) -> str:
    """What the argument for `parameter` is called in the program."""
    return dict(launch.arguments).get(parameter.name, parameter.name)


def scalars(kernel: Kernel, launch: Launch, arguments: Mapping[str, Argument]) -> dict[str, Number]:
    """The numbers that the kernel's symbols stand for."""
    found = in_the_program(arguments)
    outside = dict(found)
    for parameter in kernel.parameters:
        name = argument_name(launch, parameter)
        if not parameter.is_buffer and name in outside:
            found[parameter.name] = _fitting(parameter, outside[name])
        elif not parameter.is_buffer and _is_array(arguments.get(name)):
            raise InputError(f"{name} is a number for {kernel.name}, and an array is given", "give one number")
    return found | _stated(kernel, launch, outside)


def _stated(kernel: Kernel, launch: Launch, found: Mapping[str, Number]) -> dict[str, Number]:
    """The numbers the launch itself gives, as the parameters take them."""
    if not launch.values:
        return {}
    number = _evaluator(kernel, found)
    given = {name: number(value) for name, value in launch.values}
    parameters = {parameter.name: parameter for parameter in kernel.parameters}
    return {name: _fitting(parameters[name], value) for name, value in given.items() if name in parameters}


def in_the_program(arguments: Mapping[str, Argument]) -> dict[str, Number]:
    """The numbers by their names in the program."""
    textures = texture_numbers(arguments)
    numbers = {name: value for name, value in arguments.items() if value is not None and name not in textures}
    return textures | {name: _number(name, value) for name, value in numbers.items() if not _is_array(value)}


def _is_array(value: Argument) -> bool:
    return isinstance(value, Uninitialised) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _number(name: str, value: Argument) -> Number:
    plain = value.item() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(plain, int | float | bool):
        return plain
    raise InputError(f"the argument {name} is neither an array nor a number", "give one of both, as the program takes")


def _fitting(parameter: Parameter, value: Number) -> Number:
    dtype = parameter.type.dtype
    if dtype.is_integer:
        limits = np.iinfo(storage(dtype))
        if not limits.min <= value <= limits.max or int(value) != value:
            raise InputError(
                f"{value} is no {dtype}, which the parameter {parameter.name} is",
                f"give a whole number from {limits.min} to {limits.max}",
            )
    return value


def check_geometry(program: Program, given: object) -> None:
    """Raises InputError for what is no geometry, nor one for each of some kernels of `program` by name."""
    launched = [launch.kernel for launch in program.launches]
    for name, one in given.items() if isinstance(given, Mapping) else ((None, given),):
        if name is not None and name not in launched:
            hint = did_you_mean(str(name), launched) or f"it launches {', '.join(launched) or 'none'}"
            raise InputError(f"the program launches no kernel {name}, which a geometry is given for", hint)
        if one is not None and not isinstance(one, Geometry):
            raise InputError(f"the geometry is {one!r}", "give Geometry.of(grid, block, shared_bytes)")


def geometry_of(
    program: Program, launch: Launch, symbols: Mapping[str, Number], given: Geometry | None
) -> Geometry:  # fmt: skip
    """How many blocks and threads: as given, else as the host code of the source launches."""
    if given is None:
        if not launch.grid or not launch.block:
            raise InputError(
                f"the launch of {launch.kernel} is not known", "give a geometry: grid, block and shared bytes"
            )
        number = _evaluator(program.kernel(launch.kernel), symbols)
        grid, block = ([int(number(extent)) for extent in extents] for extents in (launch.grid, launch.block))
        shared = 0 if launch.shared_bytes is None else int(number(launch.shared_bytes))
        given = Geometry.of(tuple(grid), tuple(block), shared)
    limit = load().cuda_limit("threads_per_block")
    if given.threads > limit:
        raise InputError(f"{launch.kernel}: a block of {given.threads} threads", f"at most {limit} are possible")
    if given.shared_bytes < 0:
        raise InputError(
            f"{launch.kernel} is launched with {given.shared_bytes} bytes of shared memory", "give 0 bytes or more"
        )
    if min(*given.grid, *given.block) < 1:
        raise InputError(
            f"{launch.kernel} is launched with no threads at all",
            f"grid {given.grid} and block {given.block}: give 1 or more along every axis",
        )
    return given


def _evaluator(kernel: Kernel, symbols: Mapping[str, Number]) -> Callable[[Expr], Number]:
    """What expressions of the host are for these numbers."""
    unit = Geometry(grid=(1, 1, 1), block=(1, 1, 1))
    compilation = Compilation(
        kernel=kernel, geometry=unit, options=Options(), warp_size=1, symbols=symbols, threads={}, buffers={}
    )  # fmt: skip

    def number(expression: Expr) -> Number:
        try:
            return _number(str(expression), constant_of(compilation, expression))
        except InputError as error:
            raise InputError(error.message, "give a geometry, or what the host code calls it as an argument") from None

    return number


def index_symbols(geometry: Geometry) -> tuple[dict[str, Number], dict[str, Code]]:
    """The built-in variables: sizes, which are numbers, and indices, which differ from thread to thread."""
    sizes: dict[str, Number] = {name: geometry.grid[axis] for name, axis in _members(Semantics.INDEX_GRID_SIZE)}
    sizes |= {name: geometry.block[axis] for name, axis in _members(Semantics.INDEX_BLOCK_SIZE)}
    threads = {name: _thread_index(axis) for name, axis in _members(Semantics.INDEX_THREAD)}
    threads |= {name: _block_index(axis) for name, axis in _members(Semantics.INDEX_BLOCK)}
    return sizes, threads


@cache
def _members(semantics: Semantics) -> tuple[tuple[str, int], ...]:
    """The members of the built-in variables that are this, each with its axis."""
    known = load().constructs.values()
    names = [found.name for found in known if found.kind == "variable" and found.semantics is semantics]
    return tuple((f"{name}.{member}", axis) for name in names for axis, member in enumerate("xyz"))


def _thread_index(axis: int) -> Code:
    def index(batch: Batch) -> Value:
        extents = batch.geometry.block
        if extents[axis] == 1:
            return _ZERO
        key = ("thread", axis)
        return batch.of_threads(
            key, lambda: np.tile(_along(np.arange(batch.geometry.threads), axis, extents), batch.blocks)
        )

    return index


def _block_index(axis: int) -> Code:
    def index(batch: Batch) -> Value:
        extents = batch.geometry.grid
        numbers = np.arange(batch.first, batch.first + batch.blocks)
        if extents[axis] == 1:
            return _ZERO
        if batch.blocks == 1:
            return cast(Value, _along(numbers, axis, extents)[0])
        return batch.of_threads(
            ("block", axis), lambda: np.repeat(_along(numbers, axis, extents), batch.geometry.threads)
        )  # fmt: skip

    return index


_ZERO = cast(Value, np.uint32(0))


def _along(numbers: Value, axis: int, extents: tuple[int, int, int]) -> Value:
    """The x, y or z of linear numbers, x fastest."""
    below = int(np.prod(extents[:axis], dtype=np.int64))
    return (numbers // below % extents[axis]).astype(storage(UINT32))


def buffers_of(compilation: Compilation, launch: Launch) -> dict[str, Buffer]:
    """All buffers of a kernel, with extents that are numbers; of pointers the array says how long they are."""
    found: dict[str, Buffer] = {}
    for parameter in compilation.kernel.parameters:
        if parameter.is_buffer:
            shape = _shape(compilation, parameter.type.shape)
            found[parameter.name] = Buffer(
                name=parameter.name, dtype=parameter.type.dtype, shape=shape, space=Space.GLOBAL
            )  # fmt: skip
    allocated = [op for op in operations(compilation.kernel.body) if isinstance(op, Alloc)]
    viewed = {op.base for op in allocated}
    compilation.symbols = dict(compilation.symbols) | {
        f"{op.name}.size": compilation.geometry.shared_bytes // storage(op.type.dtype).itemsize
        for op in allocated
        if op.dynamic and not op.base
    }
    for op in allocated:
        found[op.name] = _allocated(compilation, op, op.name in viewed)
    return found


DYNAMIC = "dynamic shared memory"
"""The one stretch of memory that all arrays sized at launch start in."""


def _allocated(compilation: Compilation, op: Alloc, is_viewed: bool) -> Buffer:
    space, base = op.type.space, op.base
    if op.dynamic and not base:
        size = compilation.geometry.shared_bytes // storage(op.type.dtype).itemsize
        return Buffer(name=op.name, dtype=op.type.dtype, shape=(size,), space=space, base=DYNAMIC)
    shape = _shape(compilation, op.type.shape)
    is_variable = space is Space.REGISTER and not shape and not base and not is_viewed
    return Buffer(name=op.name, dtype=op.type.dtype, shape=shape, space=space, base=base, is_variable=is_variable)


def _shape(compilation: Compilation, shape: tuple[Expr, ...]) -> tuple[int, ...]:
    return tuple(int(constant_of(compilation, extent)) for extent in shape)


def initial_array(parameter: Parameter) -> Value:
    """What a variable of the file begins with."""
    extents = [extent.value for extent in parameter.type.shape if isinstance(extent, Const)]
    shape = tuple(map(int, extents)) if len(extents) == len(parameter.type.shape) else (len(parameter.initial),)
    made: Value = np.zeros(shape, storage(parameter.type.dtype))
    made.reshape(-1)[: len(parameter.initial)] = [literal(one.value, one.dtype) for one in parameter.initial]
    return made


def missing(launch: Launch, name: str, arguments: Mapping[str, Argument]) -> InputError:
    """The error for an array that was not given."""
    hint = did_you_mean(name, arguments) or f"give an array, or Uninitialised(shape), called {name}"
    return InputError(f"{launch.kernel} needs an array for {name}", hint)


def byte_size(buffer: Buffer) -> int:
    """How many bytes an owner has of a buffer of its own."""
    return count(buffer.shape) * storage(buffer.dtype).itemsize
