"""All memory of a program: arrays that last from launch to launch, and what each batch of blocks gets anew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from portcheck.core.errors import InputError
from portcheck.execution.arithmetic.formats import NumpyType, Value, storage
from portcheck.execution.checking import check_shape
from portcheck.execution.simt.batch import Batch, Geometry
from portcheck.execution.simt.binding import (
    DYNAMIC,
    Argument,
    Uninitialised,
    argument_name,
    byte_size,
    initial_array,
    missing,
)  # fmt: skip
from portcheck.execution.simt.compilation import Buffer
from portcheck.execution.simt.races import RaceShadow
from portcheck.execution.simt.registers import Register
from portcheck.execution.simt.storage import Owner, Storage, View, count
from portcheck.ir import Alloc, Kernel, Launch, Parameter, Program, Space, operations

_APART = 1 << 40
"""Between two addresses: more than any buffer has bytes."""
_COMPLEX = "c"
"""NumPy's kind of formats of two numbers."""
_SHADOW_BYTES = 32
"""What is kept of each cell of shared memory to find races, at most."""


class Arrays:
    """The global memory of a program: one storage for each array it is given."""

    def __init__(self, program: Program, arguments: Mapping[str, Argument]) -> None:
        self._kept: dict[str, Storage] = {}
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._types: dict[str, NumpyType] = {}
        self._sizes: dict[str, int] = {}
        self.begun: list[tuple[str, Parameter]] = []
        """The variables of the file that no argument was given for, each with its kernel."""
        self._null = {name for name, value in arguments.items() if value is None}
        for launch in program.launches:
            kernel = program.kernel(launch.kernel)
            for parameter in kernel.parameters:
                if parameter.is_buffer:
                    self._bind(launch, parameter, argument_name(launch, parameter), arguments)

    def _bind(self, launch: Launch, parameter: Parameter, name: str, arguments: Mapping[str, Argument]) -> None:
        wanted = storage(parameter.type.dtype)
        given = Uninitialised((0,)) if name in self._null else arguments.get(name)
        if given is None and parameter.initial:
            given = initial_array(parameter)
            self.begun += [(launch.kernel, parameter)] if name not in self._kept else []
        if given is None:
            raise missing(launch, name, arguments)
        if not isinstance(given, np.ndarray | np.generic | Uninitialised):
            raise InputError(
                f"{launch.kernel} needs an array for {name}, not a {type(given).__name__}",
                "give a NumPy array, Uninitialised(shape) or None",
            )
        if isinstance(given, Uninitialised):
            check_shape(name, given.shape)
        if not isinstance(given, Uninitialised) and given.dtype != wanted:
            has_parts = given.dtype.names is not None or given.dtype.kind == _COMPLEX
            how = "view" if has_parts else "astype"
            raise InputError(
                f"the array {name} is {given.dtype} and the parameter of {launch.kernel} {parameter.type.dtype}",
                f"{'read its bytes' if has_parts else 'convert it'}: {name}.{how}({wanted.name!r})",
            )
        if name in self._kept:
            return
        self._shapes[name], self._types[name] = given.shape, wanted
        self._sizes[name] = count(given.shape) * wanted.itemsize
        made = self._kept[name] = self._made(name, isinstance(given, Uninitialised))
        if not isinstance(given, Uninitialised):
            made.bytes[: self._sizes[name]] = np.ascontiguousarray(given).reshape(-1).view(np.uint8)

    def _made(self, name: str, is_new: bool) -> Storage:
        try:
            made = Storage(Owner.GRID, 1, self._sizes[name], 1)
            if is_new:
                made.track_writes()
        except (MemoryError, ValueError):
            size = self._sizes[name]
            raise InputError(f"the array {name} of {size} bytes does not fit into memory", "make it smaller") from None
        return made

    def view(self, name: str, parameter: str, dtype: NumpyType) -> View:
        """The array called `name`, as the kernel's parameter reads it."""
        return View(parameter, self._kept[name], dtype, (), self._sizes[name])

    def address(self, name: str) -> int:
        """A number for where the array called `name` begins; 0 for a null pointer. Arrays lie far apart."""
        return 0 if name in self._null else _APART * (1 + list(self._kept).index(name))

    def results(self) -> dict[str, Value]:
        """All arrays as they are now, in the shapes they were given in."""
        return {
            name: made.bytes[: self._sizes[name]].view(self._types[name]).reshape(self._shapes[name]).copy()
            for name, made in self._kept.items()
            if name not in self._null
        }


class Layout:
    """The memory of one launch's kernel: what is shared by a block, what each thread has, and the views of both."""

    def __init__(self, buffers: Mapping[str, Buffer], geometry: Geometry, kernel: Kernel, is_checked: bool) -> None:
        self._buffers = buffers
        self._geometry = geometry
        self._is_checked = is_checked
        local = [op.name for op in operations(kernel.body) if isinstance(op, Alloc)]
        self._variables = [name for name in local if buffers[name].is_variable]
        self._arrays = [name for name in local if not buffers[name].is_variable]
        self._global = [name for name in buffers if name not in local]

    def root(self, name: str) -> str:
        """The buffer whose bytes `name` is."""
        for _ in range(len(self._buffers) + 1):
            base = self._buffers[name].base if name in self._buffers else ""
            if not base:
                return name
            name = base
        raise InputError(f"the views of {name} go round in a circle")

    def addresses(self, arrays: Arrays, names: Mapping[str, str]) -> dict[str, int]:
        """What the names of buffers stand for in arithmetic of addresses; a view begins where its buffer does."""
        own = {name: _APART * (1 + len(names) + place) for place, name in enumerate(self._roots())}
        found = own | {name: arrays.address(names[name]) for name in self._global}
        return {name: found[self.root(name)] for name in self._buffers if self.root(name) in found}

    def bytes_of_block(self, slots: int) -> int:
        """About how much memory a block in flight takes, with so many results of each thread."""
        total = self._geometry.threads * (1 + slots + len(self._variables)) * np.dtype(np.int64).itemsize
        for name in self._roots():
            owners = 1 if self._owner(name) is Owner.BLOCK else self._geometry.threads
            shadow = _SHADOW_BYTES if owners == 1 and self._is_checked else 1
            total += owners * self._size(name) * (1 + shadow // self._unit(name))
        return total

    def place(self, batch: Batch, arrays: Arrays, names: Mapping[str, str]) -> None:
        """Gives `batch` its memory; `names` are the arrays of the parameters."""
        made = {name: self._storage(name, batch) for name in self._roots()}
        for name in self._variables:
            batch.registers[name] = Register(storage(self._buffers[name].dtype), batch.threads)
        for name in self._global:
            batch.views[name] = arrays.view(names[name], name, storage(self._buffers[name].dtype))
        for name in self._arrays:
            root = self.root(name)
            kept = made[root] if root in made else batch.views[root].storage
            size = self._size(root) if root in made else batch.views[root].extent * batch.views[root].numbers.itemsize
            dtype = storage(self._buffers[name].dtype)
            batch.views[name] = View(name, kept, dtype, self._buffers[name].shape, self._extent(name, size))

    def _extent(self, name: str, size: int) -> int:
        buffer = self._buffers[name]
        return size if buffer.base else byte_size(buffer)

    def _roots(self) -> Iterable[str]:
        return dict.fromkeys(root for root in map(self.root, self._arrays) if root not in self._global)

    def _family(self, root: str) -> list[Buffer]:
        return [self._buffers[name] for name in self._arrays if self.root(name) == root]

    def _owner(self, root: str) -> Owner:
        is_shared = any(buffer.space is Space.SHARED for buffer in self._family(root))
        return Owner.BLOCK if is_shared else Owner.THREAD

    def _size(self, root: str) -> int:
        return self._geometry.shared_bytes if root == DYNAMIC else byte_size(self._buffers[root])

    def _unit(self, root: str) -> int:
        return min(storage(buffer.dtype).itemsize for buffer in self._family(root))

    def _storage(self, root: str, batch: Batch) -> Storage:
        owner = self._owner(root)
        owners = batch.blocks if owner is Owner.BLOCK else batch.threads
        made = Storage(owner, owners, self._size(root), self._unit(root))
        if self._is_checked:
            made.track_writes()
            if owner is Owner.BLOCK:
                made.races = RaceShadow(made.cells, batch.warp_size, batch.order)
                batch.shadows.append(made.races)
        return made
