"""Running NKI text, and how a result is compared with a reference written in plain NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import ml_dtypes
import numpy as np

from portcheck.core.source import SourceFile
from portcheck.execution.tiles import Execution, Options, run, run_on_ranks
from portcheck.frontends.nki import NkiOptions, read_nki
from portcheck.ir import Program, kernel_operations
from portcheck.ir.ops import Opaque
from portcheck.ir.verify import check_valid

Arrays = Mapping[str, Any]

NEW = "import nki\nimport nki.isa as nisa\nimport nki.language as nl\n\n\n@nki.jit\n"
OLD = (
    "import numpy as np\nimport neuronxcc.nki as nki\nimport neuronxcc.nki.isa as nisa\n"
    "import neuronxcc.nki.language as nl\n\n\n@nki.jit\n"
)


def lowered(text: str, **options: Any) -> Program:
    """The program of all kernels in `text`, which must be understood as a whole."""
    program = any_lowered(text, **options)
    opaque = [f"line {op.span.start.line}: {op.reason}" for op in kernel_operations(program) if isinstance(op, Opaque)]
    assert not opaque, opaque
    return program


def any_lowered(text: str, **options: Any) -> Program:
    """The program of all kernels in `text`."""
    module = read_nki(SourceFile("port.py", text), NkiOptions(**options))
    program = module.lower([kernel.name for kernel in module.kernels])
    check_valid(program)
    return program


def executed(text: str, arguments: Arrays, grid: tuple[int, ...] | None = None, **options: Any) -> Execution:
    """Runs `text`, read with the dtypes of the arrays that hold whole numbers."""
    dtypes = tuple(
        (name, array.dtype.name)
        for name, array in arguments.items()
        if isinstance(array, np.ndarray) and array.dtype.kind in "iu"
    )
    return run(lowered(text, dtypes=dtypes), arguments, grid, Options(**options))


def executed_on_ranks(text: str, arguments: Sequence[Arrays], **options: Any) -> Execution:
    """Runs `text` on a rank for each of `arguments`; the results are those of all ranks, one after the other."""
    done = run_on_ranks(lowered(text), arguments, None, Options(**options))
    return replace(done[0], returned={"all": tuple(result for one in done for result in one.results)})


def normal(seed: int, *shape: int, dtype: Any = np.float32) -> Any:
    """Normally distributed numbers, the same for the same seed."""
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def whole(seed: int, low: int, high: int, *shape: int, dtype: Any = np.int32) -> Any:
    """Whole numbers from `low` to below `high`."""
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


@dataclass(frozen=True)
class Case:
    """A kernel of our own: what it is given, and what it must return.

    `reference` gives each result in float64 (or in integers). With `roundings` a result may be off by so many half
    units in the last place of its dtype, measured at `scale` of the element (its own size without one); without, it
    is exact once it is rounded to its dtype. With `ranks` it is run on several, each with its own arguments, and the
    results are those of all.
    """

    name: str
    source: str
    arguments: Arrays
    reference: Callable[[Arrays], tuple[Any, ...]]
    roundings: float = 0.0
    scale: Callable[[Arrays], Any] | None = None
    precision: Any = None
    grid: tuple[int, ...] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    ranks: tuple[Arrays, ...] = ()

    def executed(self) -> Execution:
        """What a run of it leaves."""
        if self.ranks:
            return executed_on_ranks(self.source, self.ranks, **self.options)
        return executed(self.source, self.arguments, self.grid, **self.options)


def differences(case: Case, found: Execution) -> list[str]:
    """In which results a run and the reference of `case` differ."""
    wanted = case.reference(case.arguments)
    if len(found.results) != len(wanted):
        return [f"{len(found.results)} results where {len(wanted)} are expected"]
    return [
        text
        for got, expected in zip(found.results, wanted, strict=True)
        if (text := _difference(case, got, np.asarray(expected)))
    ]


def _difference(case: Case, got: Any, expected: Any) -> str:
    if got.shape != expected.shape:
        return f"shape {got.shape} where {expected.shape} is expected"
    if not case.roundings:
        rounded = expected.astype(got.dtype)
        is_same = (rounded == got) | ((rounded != rounded) & (got != got))
        return "" if is_same.all() else f"{int((~is_same).sum())} elements differ"
    size = np.abs(expected) if case.scale is None else case.scale(case.arguments)
    if got.dtype.kind in "iu":
        return "" if (expected == got).all() else f"{int((expected != got).sum())} elements differ"
    unit = float(ml_dtypes.finfo(case.precision or got.dtype).eps) / 2
    allowed = case.roundings * unit * np.maximum(size, float(ml_dtypes.finfo(got.dtype).tiny))
    error = np.abs(got.astype(np.float64) - expected)
    worst = float((error / allowed).max())
    return "" if worst <= 1 else f"off by {worst:.3g} times what is allowed"
