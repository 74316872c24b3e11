"""Whether arrays are what the reference says, and how close."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from tools.public_kernels.arithmetic import Arithmetic, Number
from tools.public_kernels.case import Array, Run


@dataclass(frozen=True, slots=True)
class Comparison:
    """`how` the buffers were compared; `failures` in words, none if all are equal."""

    how: str
    failures: tuple[str, ...]


def compared(run: Run, before: Mapping[str, Array], after: Mapping[str, Array], contracts: bool = False) -> Comparison:
    """All buffers of a run against its reference; bit for bit only where products are not fused with sums."""
    exact, bounded = Arithmetic(rounded=True), Arithmetic(rounded=False)
    in_order, free = run.reference(exact), run.reference(bounded)
    exact.is_defined &= not (contracts and any(isinstance(number, Number) for number in free.values()))
    failures: list[str] = []
    ratios: list[float] = []
    same_bits = True
    for name, found in after.items():
        ordered, number = in_order.get(name, before[name]), free.get(name)
        wanted = ordered.value if isinstance(ordered, Number) else ordered
        equal = has_equal_bits(found, np.asarray(wanted))
        same_bits &= equal
        if not equal and (exact.is_defined or not isinstance(number, Number)):
            failures.append(f"{name}: {difference(found, np.asarray(wanted))}")
        if isinstance(number, Number):
            ratio = ratio_to_bound(found, number)
            ratios.append(ratio)
            if not ratio <= 1:
                failures.append(f"{name}: error is {ratio:.3g} times the bound; {worst(found, number)}")
    how = "bits" if exact.is_defined else "bound"
    if bounded.heights:
        how += f", sums {' + '.join(bounded.heights)}"
    if ratios:
        how += f", {max(ratios):.1e} of bound"
    if not exact.is_defined:
        how += ", same bits as rounding every function once" if same_bits else ""
    return Comparison(how, tuple(failures))


def has_equal_bits(found: Array, wanted: Array) -> bool:
    """Equal in type, shape and every bit; one NaN is as good as another."""
    if found.dtype != wanted.dtype or found.size != wanted.size:
        return False
    left, right = found.reshape(-1), wanted.reshape(-1)
    if left.dtype.kind in "fV":
        both_nan = np.isnan(left) & np.isnan(right)
        kind = f"u{left.dtype.itemsize}"
        return bool(np.all((left.view(kind) == right.view(kind)) | both_nan))
    return bool(np.array_equal(left, right))


def difference(found: Array, wanted: Array) -> str:
    """The first element that differs."""
    if found.dtype != wanted.dtype or found.size != wanted.size:
        return f"{found.dtype} x {found.size} instead of {wanted.dtype} x {wanted.size}"
    left, right = found.reshape(-1), wanted.reshape(-1)
    places = np.flatnonzero(~((left == right) | ((left != left) & (right != right))))
    if not places.size:
        return "zeros of the other sign"
    return f"{places.size} of {left.size} differ, first [{places[0]}] = {left[places[0]]} instead of {right[places[0]]}"


def ratio_to_bound(found: Array, number: Number) -> float:
    """The largest error in units of its bound; where the value is not finite the element must be the same."""
    value, error = number.value.reshape(-1), np.asarray(number.error).reshape(-1)
    got = found.reshape(-1).astype(np.longdouble)
    if got.size != value.size:
        return float("inf")
    finite = np.isfinite(value)
    same = (got[~finite] == value[~finite]) | (np.isnan(got[~finite]) & np.isnan(value[~finite]))
    if not np.all(same) or not np.all(np.isfinite(got[finite])):
        return float("inf")
    errors = abs(got[finite] - value[finite])
    ratios = np.where(errors == 0, 0, errors / np.where(error[finite] == 0, 1e-300, error[finite]))
    return float(ratios.max(initial=0.0))


def worst(found: Array, number: Number) -> str:
    """The element that lies farthest outside, with its bound."""
    value, error = number.value.reshape(-1), np.asarray(number.error).reshape(-1)
    got = found.reshape(-1).astype(np.longdouble)
    if got.size != value.size:
        return f"{got.size} elements instead of {value.size}"
    with np.errstate(invalid="ignore"):
        excess = np.nan_to_num(abs(got - value) - error, nan=np.inf)
    place = int(np.argmax(excess))
    return f"[{place}] = {got[place]:.9g} instead of {value[place]:.9g} +- {error[place]:.3g}"
