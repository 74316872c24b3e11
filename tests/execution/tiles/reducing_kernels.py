"""Reductions, scans, moments (second generation)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from tests.execution.tiles.ports import NEW, Arrays, Case, normal, whole

from portcheck.execution.tiles import SumOrder

REDUCED = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, {width}), dtype=nl.{result}, buffer=nl.shared_hbm)
    for first in range(0, rows, 128):
        m = min(128, rows - first)
        a = nl.ndarray((m, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=a, src=x[first:first + m, 0:columns])
        t = nl.ndarray((m, {width}), dtype=nl.{result}, buffer=nl.sbuf)
        {call}
        nisa.dma_copy(dst=out[first:first + m, 0:{width}], src=t)
    return out
"""
)


def reduced(call: str, result: str = "float32", width: str = "1") -> str:
    return REDUCED.format(call=call, result=result, width=width)


X = normal(31, 150, 70)
SMALL = whole(32, -4, 5, 150, 70).astype(np.float32)
BITS = whole(33, 0, 1 << 31, 150, 70, dtype=np.uint32)


def rows_of(function: Callable[..., Any]) -> Callable[[Arrays], tuple[Any]]:
    return lambda given: (function(given["x"].astype(np.float64), axis=1, keepdims=True),)


def running(given: Arrays) -> tuple[Any]:
    """r = r * x + 0.5 from left to right, in float32."""
    x = given["x"]
    state, made = np.zeros(x.shape[0], np.float32), np.empty(x.shape, np.float32)
    for place in range(x.shape[1]):
        state = (x[:, place] * state).astype(np.float32) + np.float32(0.5)
        made[:, place] = state
    return (made,)


def left_to_right(given: Arrays) -> tuple[Any]:
    """A float32 sum, one term after the other."""
    total = np.zeros(given["x"].shape[0], np.float32)
    for column in given["x"].T:
        total = total + column.astype(np.float32)
    return (total[:, None],)


def moments(given: Arrays) -> tuple[Any]:
    x = given["x"].astype(np.float64)
    return (np.concatenate([x.mean(1, keepdims=True), x.var(1, keepdims=True)], axis=1),)


def halves(given: Arrays) -> tuple[Any]:
    parts = []
    for start in (0, 1):
        part = given["x"].astype(np.float64)[:, start::2]
        parts += [np.full(len(part), part.shape[1]), part.mean(1), part.var(1) * part.shape[1]]
    return (np.stack(parts, axis=1),)


def spread(given: Arrays) -> Any:
    """The sizes that the terms of a mean and of a variance have."""
    x = given["x"].astype(np.float64)
    return np.stack([np.abs(x).mean(1), (x**2).mean(1) * 3], axis=1)


def spread_of_halves(given: Arrays) -> Any:
    parts = []
    for start in (0, 1):
        part = np.abs(given["x"].astype(np.float64)[:, start::2])
        parts += [np.full(len(part), part.shape[1]), part.mean(1), 3 * (part**2).sum(1)]
    return np.stack(parts, axis=1)


def size_of_sum(given: Arrays) -> Any:
    return np.abs(given["x"].astype(np.float64)).sum(1, keepdims=True)


EXACT = {
    "add": (np.sum, SMALL), "maximum": (np.max, X), "minimum": (np.min, X),
    "multiply": (np.prod, np.where(SMALL > 2, 2, 1).astype(np.float32)),
}  # fmt: skip

PARTITION = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((1, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    t = nl.ndarray((1, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_partition_reduce(dst=t, op=nl.{operator}, data=a)
    nisa.dma_copy(dst=out, src=t)
    return out
"""
)

THREE = (
    NEW
    + """
def kernel(x):
    rows, middle, columns = x.shape
    out = nl.ndarray((rows, {width}), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, middle, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    t = nl.ndarray((rows, {width}), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=t, op=nl.maximum, data=a, axis={axis})
    nisa.dma_copy(dst=out, src=t)
    return out
"""
)

BESIDE = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.shared_hbm)
    sums = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    t = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)
    s = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    {call}
    nisa.dma_copy(dst=out, src=t)
    nisa.dma_copy(dst=sums, src=s)
    return out, sums
"""
)


def doubled_and_summed(given: Arrays) -> tuple[Any, Any]:
    double = given["x"].astype(np.float32) * np.float32(2)
    return double, double.astype(np.float64).sum(1, keepdims=True)


def squared_and_summed(given: Arrays) -> tuple[Any, Any]:
    square = given["x"] * given["x"]
    return square, square.astype(np.float64).sum(1, keepdims=True)


CASES = (
    *(
        Case(f"tensor_reduce {name}", reduced(f"nisa.tensor_reduce(dst=t, op=nl.{name}, data=a, axis=1)"),
             {"x": given}, rows_of(function))
        for name, (function, given) in EXACT.items()
    ),
    Case(
        "tensor_reduce negated", reduced("nisa.tensor_reduce(dst=t, op=nl.maximum, data=a, axis=1, negate=True)"),
        {"x": X}, rows_of(lambda x, **how: -np.max(x, **how)),
    ),
    Case(
        "tensor_reduce of bits", reduced("nisa.tensor_reduce(dst=t, op=nl.bitwise_or, data=a, axis=1)", "uint32"),
        {"x": BITS}, lambda given: (np.bitwise_or.reduce(given["x"], axis=1, keepdims=True),),
    ),
    Case(
        "a sum of bfloat16 is kept in float32", reduced(
            "nisa.tensor_reduce(dst=t, op=nl.add, data=a, axis=1)", "bfloat16"),
        {"x": X.astype(ml_dtypes.bfloat16)}, left_to_right,
    ),
    Case(
        "a sum in the order that was chosen", reduced("nisa.tensor_reduce(dst=t, op=nl.add, data=a, axis=1)"),
        {"x": X}, lambda given: left_to_right({"x": given["x"][:, ::-1]}), options={"sums": SumOrder.REVERSED},
    ),
    Case(
        "a sum rounded once", reduced("nisa.tensor_reduce(dst=t, op=nl.add, data=a, axis=1)"),
        {"x": X}, rows_of(np.sum), options={"sums": SumOrder.EXACT},
    ),
    Case(
        "tensor_reduce over the last of three", THREE.format(width="middle", axis="2"), {"x": normal(34, 100, 5, 9)},
        lambda given: (given["x"].max(2),),
    ),
    Case(
        "tensor_reduce over the last two of three", THREE.format(width="1", axis="(1, 2)"),
        {"x": normal(34, 100, 5, 9)}, lambda given: (given["x"].max((1, 2))[:, None],),
    ),
    Case(
        "tensor_partition_reduce add", PARTITION.format(operator="add"), {"x": SMALL[:100]},
        lambda given: (given["x"].sum(0, keepdims=True),),
    ),
    Case(
        "tensor_partition_reduce maximum", PARTITION.format(operator="maximum"), {"x": X[:100]},
        lambda given: (given["x"].max(0, keepdims=True),),
    ),
    Case(
        "tensor_scalar_reduce", BESIDE.format(
            call="nisa.tensor_scalar_reduce(dst=t, data=a, op0=nl.multiply, operand0=2.0, reduce_op=nl.add,"
                 " reduce_res=s)"),
        {"x": SMALL[:100]}, doubled_and_summed,
    ),
    Case(
        "activation_reduce", BESIDE.format(
            call="nisa.activation_reduce(dst=t, op=nl.square, data=a, reduce_op=nl.add, reduce_res=s)"),
        {"x": SMALL[:100]}, squared_and_summed,
    ),
    Case(
        "tensor_tensor_scan", reduced(
            "b = nl.ndarray((m, columns), dtype=nl.float32, buffer=nl.sbuf)\n"
            "        nisa.memset(dst=b, value=0.5)\n"
            "        nisa.tensor_tensor_scan(dst=t, data0=a, data1=b, initial=0.0, op0=nl.multiply, op1=nl.add)",
            width="columns"),
        {"x": X}, running,
    ),
    # a sum of 35 terms, a product with 1 / count, differences, squares, another sum
    Case(
        "bn_stats", reduced("nisa.bn_stats(dst=t, data=a)", width="6"), {"x": X}, halves, roundings=80,
        scale=spread_of_halves,
    ),
    Case(
        "bn_aggr", reduced(
            "s = nl.ndarray((m, 6), dtype=nl.float32, buffer=nl.sbuf)\n        nisa.bn_stats(dst=s, data=a)\n"
            "        nisa.bn_aggr(dst=t, data=s)", width="2"),
        {"x": X}, moments, roundings=90, scale=spread,
    ),
)  # fmt: skip
