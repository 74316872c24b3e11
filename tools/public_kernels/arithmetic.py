"""Two arithmetics for one reference: in the kernel's own order and format, and in high precision with an error bound.

A reference is written once, over `Number`s. With rounded numbers it computes what the kernel must give bit for bit;
with bounded ones it computes the exact value, free of any order, and how far a faithful kernel may be from it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from tools.public_kernels.orders import Fold, Order, Stage, folded, height

from portcheck.knowledge import ErrorBound, load

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
FLOAT32, FLOAT64, BFLOAT16 = np.dtype(np.float32), np.dtype(np.float64), np.dtype(ml_dtypes.bfloat16)
_FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "expf": np.exp, "__expf": np.exp, "logf": np.log, "__logf": np.log, "tanhf": np.tanh,
    "rsqrtf": lambda value: 1 / np.sqrt(value), "sqrtf": np.sqrt,
}  # fmt: skip


class Arithmetic:
    """Where numbers come from.

    `is_defined` until something is used whose bits no document fixes. `heights` are those of all stages of sums.
    """

    def __init__(self, *, rounded: bool) -> None:
        self.rounded = rounded
        self.is_defined = True
        self.heights: dict[str, None] = {}

    def of(self, values: Any) -> Number:
        """Exact inputs."""
        array = np.asarray(values)
        wide = array if self.rounded else array.astype(np.longdouble)
        return Number(self, array.dtype, wide, None if self.rounded else np.zeros(array.shape))

    def constant(self, value: float, dtype: np.dtype[Any] = FLOAT32) -> Number:
        """A literal of the source, rounded to its format."""
        return self.of(np.asarray(value, dtype))


def unit(dtype: np.dtype[Any]) -> float:
    """Unit roundoff: half a unit in the last place of 1."""
    return float(ml_dtypes.finfo(dtype).eps) / 2


def least(dtype: np.dtype[Any]) -> float:
    """Half the smallest subnormal."""
    return float(ml_dtypes.finfo(dtype).smallest_subnormal) / 2


class Number:
    """An array of numbers of one format; `error` bounds how far a faithful kernel's are from `value`."""

    __slots__ = ("arithmetic", "dtype", "error", "value")

    def __init__(self, arithmetic: Arithmetic, dtype: np.dtype[Any], value: Array, error: Array | None) -> None:
        self.arithmetic, self.dtype, self.value, self.error = arithmetic, dtype, value, error

    # Elements.

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    def __getitem__(self, index: Any) -> Number:
        return Number(self.arithmetic, self.dtype, self.value[index], None if self.error is None else self.error[index])

    def moved(self, change: Callable[[Array], Array]) -> Number:
        """Elements rearranged: nothing is rounded."""
        return Number(
            self.arithmetic, self.dtype, change(self.value), None if self.error is None else change(self.error)
        )

    def reshape(self, *shape: int) -> Number:
        return self.moved(lambda array: array.reshape(*shape))

    def where(self, condition: Array, other: Number) -> Number:
        """This where `condition` holds, else `other`."""
        error = None if self.error is None else np.where(condition, self.error, other.error)
        return Number(self.arithmetic, self.dtype, np.where(condition, self.value, other.value), error)

    def maximum(self, other: Number) -> Number:
        """The larger of two: exact."""
        error = None if self.error is None else np.maximum(self.error, other.error)
        return Number(self.arithmetic, self.dtype, np.maximum(self.value, other.value), error)

    def largest(self) -> Number:
        """The largest along the last axis, which is kept."""
        error = None if self.error is None else self.error.max(-1, keepdims=True)
        return Number(self.arithmetic, self.dtype, self.value.max(-1, keepdims=True), error)

    # Operations that round.

    def to(self, dtype: np.dtype[Any]) -> Number:
        """Converted to another format."""
        if self.error is None:
            return Number(self.arithmetic, dtype, self.value.astype(dtype), None)
        is_wider = unit(dtype) <= unit(self.dtype) and self.dtype.kind in "fV"
        result = Number(self.arithmetic, dtype, self.value, self.error)
        return result if is_wider else result._rounded(self.value, self.error)

    def __neg__(self) -> Number:
        return (
            self.moved(np.negative)
            if self.error is None
            else Number(self.arithmetic, self.dtype, -self.value, self.error)
        )

    def __add__(self, other: Number | float) -> Number:
        return self._binary(other, np.add, lambda a, b, ea, eb: ea + eb)

    def __sub__(self, other: Number | float) -> Number:
        return self._binary(other, np.subtract, lambda a, b, ea, eb: ea + eb)

    def __mul__(self, other: Number | float) -> Number:
        return self._binary(other, np.multiply, lambda a, b, ea, eb: abs(a) * eb + abs(b) * ea + ea * eb)

    def __truediv__(self, other: Number | float) -> Number:
        return self._binary(other, np.divide, lambda a, b, ea, eb: (ea + abs(a / b) * eb) / (abs(b) - eb))

    def __radd__(self, other: float) -> Number:
        return self.arithmetic.constant(other) + self

    def __rsub__(self, other: float) -> Number:
        return self.arithmetic.constant(other) - self

    def __rmul__(self, other: float) -> Number:
        return self.arithmetic.constant(other) * self

    def __rtruediv__(self, other: float) -> Number:
        return self.arithmetic.constant(other) / self

    def fused(self, factor: Number, addend: Number) -> Number:
        """self * factor + addend, rounded once."""
        if self.error is None or factor.error is None or addend.error is None:
            exact = self.value.astype(np.longdouble) * factor.value + addend.value
            return Number(self.arithmetic, self.dtype, exact.astype(self.dtype), None)
        spread = abs(self.value) * factor.error + abs(factor.value) * self.error + self.error * factor.error
        return self._rounded(self.value * factor.value + addend.value, spread + addend.error)

    def call(self, name: str) -> Number:
        """A function of CUDA called `name`, with the error its documentation states."""
        bound, function = _documented(name), _FUNCTIONS[name]
        self.arithmetic.is_defined &= not bound.is_inexact
        if self.error is None:
            wide = function(self.value.astype(np.longdouble if self.dtype == FLOAT64 else np.float64))
            return Number(self.arithmetic, self.dtype, wide.astype(self.dtype), None)
        value = function(self.value)
        ends = [abs(function(self.value + end) - value) for end in (-self.error, self.error)]  # all are monotonic
        spread = np.where(np.isfinite(value), np.nan_to_num(np.maximum(*ends), nan=np.inf), 0).astype(np.float64)
        magnitude = np.where(np.isfinite(self.value), abs(self.value), 0).astype(np.float64) + self.error
        ulps = float(bound.max_ulp or 0) + np.floor(abs(bound.ulp_slope) * magnitude)
        return self._rounded(value, spread + (bound.max_absolute or 0), 1 + 2 * ulps)

    def sum(self, order: Order) -> Number:
        """Partial sums along the last axis, stage after stage; a reduction is a tree (Higham, ch. 4).

        The error of a stage is that of its terms and gamma(height) times the sum of their magnitudes.
        """
        number = self
        for stage in order:
            number = number._stage(stage)
        return number

    def _stage(self, stage: Stage) -> Number:
        groups = stage.group(self.value)
        if self.error is None:
            self.arithmetic.is_defined &= stage.fold is not Fold.ANY
            return Number(self.arithmetic, self.dtype, folded(stage.fold, groups), None)
        most = height(stage.fold, groups.shape[-1])
        self.arithmetic.heights[f"{stage.fold} {most}"] = None
        roundings = most * unit(self.dtype)
        error = stage.group(self.error).sum(-1)
        magnitude = abs(groups).astype(np.float64).sum(-1) + error
        growth = roundings / (1 - roundings)
        return Number(self.arithmetic, self.dtype, groups.sum(-1), error + growth * magnitude)

    def online_sum(self, largest: Number, steps: int, scale: float = 1.0) -> Number:
        """The sum of exp(scale * (self - largest)) along the last axis as online softmax forms it, in any order.

        A term passes at most `steps` times a product with an exponential and an addition. The arguments of those
        exponentials have one sign and add up to its scaled distance from the largest; each is rounded at most twice.
        """
        self.arithmetic.is_defined = False
        distance = (self.value - largest.value) * scale
        terms = np.exp(distance)
        if self.error is None or largest.error is None:
            return Number(self.arithmetic, self.dtype, terms.sum(-1, keepdims=True), None)
        self.arithmetic.heights[f"online {steps}"] = None
        ulps = float(_documented("expf").max_ulp or 0)
        spread = abs(distance).astype(np.float64) * unit(self.dtype) * 2 * (1 + 2**-20) + scale * (
            self.error + largest.error
        )
        growth = np.expm1(steps * (3 + 2 * ulps) * unit(self.dtype) * (1 + 2**-20) + np.where(terms > 0, spread, 0))
        lost = terms.shape[-1] * steps * least(self.dtype)
        return Number(
            self.arithmetic, self.dtype, terms.sum(-1, keepdims=True),
            (growth * terms.astype(np.float64)).sum(-1, keepdims=True) + lost,
        )  # fmt: skip

    def _binary(self, other: Number | float, exact: Callable[..., Array], spread: Callable[..., Array]) -> Number:
        right = other if isinstance(other, Number) else self.arithmetic.constant(other)
        dtype = np.result_type(self.dtype, right.dtype)
        if self.error is None:
            return Number(self.arithmetic, dtype, exact(self.value, right.value), None)
        carried = spread(self.value, right.value, self.error, right.error).astype(np.float64)
        return Number(self.arithmetic, dtype, self.value, self.error)._rounded(exact(self.value, right.value), carried)

    def _rounded(self, value: Array, carried: Array, halves: Array | float = 1.0) -> Number:
        """`value`, reached with an error of at most `carried` and rounded with one of `halves` units of roundoff."""
        size = np.where(np.isfinite(value), abs(value), 0).astype(np.float64)
        error = carried + halves * (unit(self.dtype) * (size + carried) + least(self.dtype))
        return Number(self.arithmetic, self.dtype, value, error)


def _documented(name: str) -> ErrorBound:
    construct = load().construct(name)
    if construct is None or not isinstance(construct.error.max_ulp, int | float):
        raise ValueError(f"the mappings state no error of {name}")
    return construct.error
