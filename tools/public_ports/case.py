"""What is executed: a kernel of a public source, what it is given, and what it must return."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """One result: what it is in float64 or in integers, and how far each element may be off (None: not a bit)."""

    value: Array
    error: Array | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One launch: its arguments, the instances along each program axis, and the results in the order returned.

    A reference is asked for only after the kernel ran.
    """

    arguments: Mapping[str, Any]
    reference: Callable[[], tuple[Wanted, ...]]
    grid: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A kernel and the sizes it is run at; `build` makes a run of a generator and the numbers of one size.

    With `is_static` the kernel is lowered for the shapes, dtypes and numbers of its arguments, else once for all
    sizes. `values` states what else it is given. `explained` says why an event that the executor reports is right.
    """

    file: str
    kernel: str
    build: Callable[..., Run]
    sizes: tuple[Mapping[str, Any], ...]
    is_static: bool = False
    values: tuple[tuple[str, str], ...] = ()
    target: str = "trn2"
    explained: Mapping[str, str] = field(default_factory=dict)
    label: str = ""


def exact(value: Any) -> Wanted:
    """A result that is equal bit for bit."""
    return Wanted(np.asarray(value))


def near(value: Any, dtype: Any, *, terms: float = 1, scale: Any = None, inner: Any = np.float32) -> Wanted:
    """A result rounded to `dtype` that is a sum of `terms` numbers rounded to `inner` whose sizes add up to `scale`.

    The bound is u(dtype) |value| + 1.01 (terms + 2) u(inner) scale: one rounding out, and Higham's bound of a sum in
    any order (Accuracy and Stability, 4.2) with two more roundings for each term.
    """
    value = np.asarray(value, np.float64)
    size = np.abs(value) if scale is None else np.asarray(scale, np.float64)
    bound = unit(dtype) * np.abs(value) + 1.01 * (terms + 2) * unit(inner) * size
    return Wanted(value, bound * (1 + unit(dtype)) + smallest(dtype))


def unit(dtype: Any) -> float:
    """The unit roundoff of a format."""
    return float(ml_dtypes.finfo(dtype).eps) / 2


def smallest(dtype: Any) -> float:
    """Half the distance of the smallest numbers of a format."""
    return float(ml_dtypes.finfo(dtype).smallest_subnormal)
