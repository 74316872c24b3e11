"""Programs: an ordered list of kernel launches over shared buffers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from portcheck.core.dtype import DType
from portcheck.core.source import Span
from portcheck.ir.expr import Const, Expr
from portcheck.ir.ops import Op
from portcheck.ir.types import Axis, ValueType
from portcheck.ir.uses import Use


class Side(StrEnum):
    """Which of the two programs of a pair this is."""

    CUDA = "cuda"
    NKI = "nki"


@dataclass(frozen=True, slots=True)
class Default:
    """What a parameter is where its argument is left out: a number, a truth value, a text, a dtype's name, or None."""

    value: int | float | bool | str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A kernel parameter: a buffer (pointer or tensor) or a run-time scalar.

    A pointer's `type.shape` is empty (its size is not stated); a tensor's holds one symbol or number a dimension.
    A scalar parameter is read through the symbol of the same name. `constant` is a `const` pointee. `initial` are the
    literals that the first elements of a variable of the file begin with, the others with 0 (empty: not stated).
    `default` is None where an argument must be given or the source's default is something else.
    """

    name: str
    type: ValueType
    is_buffer: bool
    span: Span
    constant: bool = False
    initial: tuple[Const, ...] = ()
    default: Default | None = None


@dataclass(frozen=True, slots=True)
class Definition:
    """A symbol that stands for `value`, which is too long to be written out wherever it is used."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class ChosenDType:
    """A symbolic dtype that is `first` where `condition` holds, else `second`."""

    dtype: DType
    condition: Expr
    first: DType
    second: DType


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """One kernel: parameters, the axes every operation runs along, and a body.

    `axes` are the grid, block and lane axes of a CUDA kernel (`blockIdx.x`, `threadIdx.x`, ...) or the program axes
    of an NKI one; their names are symbols usable in every expression of the body. Sizes such as `blockDim.x` are
    symbols too. `results` are the buffers an NKI kernel returns. `definitions` and `dtypes` say what symbols stand for;
    each uses only those before it, sizes and scalar parameters.
    """

    name: str
    parameters: tuple[Parameter, ...]
    axes: tuple[Axis, ...]
    body: tuple[Op, ...]
    span: Span
    results: tuple[str, ...] = ()
    definitions: tuple[Definition, ...] = ()
    dtypes: tuple[ChosenDType, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A run of a kernel. `arguments` maps its parameters to buffers or scalars of the program (absent: same name).

    `values` are the numbers that other scalar parameters have, in the names of the program, as all extents are.
    `grid` and `block` are extents in elements of x, y, z (empty where no launch was found); `shared_bytes` is the
    dynamic shared memory. `is_repeated` says that the launch stands for several, which together may do something else
    than one of them, and that what they do one after the other is not followed.
    """

    kernel: str
    grid: tuple[Expr, ...] = ()
    block: tuple[Expr, ...] = ()
    shared_bytes: Expr | None = None
    arguments: tuple[tuple[str, str], ...] = ()
    values: tuple[tuple[str, Expr], ...] = ()
    is_repeated: bool = False
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What one side of a pair does: its kernels and the order they are launched in.

    `version` is the language version the source was read as ("0.6" for NKI; empty for CUDA), `is_version_stated` that
    the user named it. `notes` are statements
    of the frontend that a report must repeat (assumed macros, chosen template instance, stated flags). `flags` are
    the compiler's floating-point modes that are on: fast-math, fmad, ftz, prec-div. `temporaries` are the buffers that
    nobody sees before the first launch or after the last. `uses` are the places that use the library the program is
    written for, in the order of the text (empty for CUDA).
    """

    side: Side
    path: str
    kernels: tuple[Kernel, ...]
    launches: tuple[Launch, ...]
    version: str = ""
    is_version_stated: bool = False
    notes: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    temporaries: tuple[str, ...] = ()
    uses: tuple[Use, ...] = ()

    def kernel(self, name: str) -> Kernel:
        """The kernel called `name`; KeyError if there is none."""
        for kernel in self.kernels:
            if kernel.name == name:
                return kernel
        raise KeyError(name)
