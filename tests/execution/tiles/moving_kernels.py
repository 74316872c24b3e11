"""Layout: transposes, shuffles, views, access patterns, copies that cast; products in groups; choices by position."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from tests.execution.tiles.ports import NEW, Arrays, Case, normal, whole

X = normal(41, 100, 60)
BF16 = ml_dtypes.bfloat16

TRANSPOSE = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    turned = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.psum)
    nisa.nc_transpose(dst=turned, data=a)
    t = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=t, src=turned)
    nisa.dma_copy(dst=out, src=t)
    return out
"""
)

DMA_TRANSPOSE = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_transpose(dst=t, src=x)
    nisa.dma_copy(dst=out, src=t)
    return out
"""
)

SHUFFLE = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    t = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.nc_stream_shuffle(dst=t, src=a, shuffle_mask=[(i + 5) % 32 for i in range(32)])
    nisa.dma_copy(dst=out, src=t)
    return out
"""
)

EVERY_THIRD = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, (columns + 2) // 3), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    t = nl.ndarray((rows, (columns + 2) // 3), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=t, src=a[:, 0:columns:3])
    nisa.dma_copy(dst=out, src=t)
    return out
"""
)

PATTERN = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, 10), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    t = nl.ndarray((rows, 2, 5), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=t, src=a.ap(pattern=[[columns, rows], [30, 2], [2, 5]], offset=3))
    nisa.dma_copy(dst=out, src=t.reshape((rows, 10)))
    return out
"""
)

RESHAPED = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, 4, 15), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x.reshape((rows, 4, 15)))
    t = nl.ndarray((rows, 15, 4), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=t, src=a.permute((0, 2, 1)))
    nisa.dma_copy(dst=out, src=t.reshape((rows, columns)))
    return out
"""
)

CAST = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=nl.{result}, buffer=nl.shared_hbm)
    t = nl.ndarray((rows, columns), dtype=nl.{result}, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x)
    nisa.dma_copy(dst=out, src=t)
    return out
"""
)

BROADCAST = (
    NEW
    + """
def kernel(x, w):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    b = nl.ndarray((rows, columns), dtype=w.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    nisa.dma_copy(dst=b, src=w.reshape((1, columns)).broadcast(0, rows))
    nisa.tensor_tensor(dst=a, data1=a, data2=b, op=nl.multiply)
    nisa.dma_copy(dst=out, src=a)
    return out
"""
)

SUMMED = (
    NEW
    + """
def kernel(x, y):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_compute(dst=a, srcs=[x, y], reduce_op=nl.add)
    nisa.dma_copy(dst=out, src=a)
    return out
"""
)

IOTA = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=nl.int32, buffer=nl.shared_hbm)
    t = nl.ndarray((rows, columns), dtype=nl.int32, buffer=nl.sbuf)
    nisa.iota(dst=t, pattern=[[3, columns]], offset=7, channel_multiplier=-2)
    nisa.dma_copy(dst=out, src=t)
    return out
"""
)

CAUSAL = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    t = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.affine_select(dst=t, pattern=[[-1, columns]], channel_multiplier=1, on_true_tile=a, on_false_value=-5.0,
                       cmp_op=nl.greater_equal, offset=2)
    nisa.dma_copy(dst=out, src=t)
    return out
"""
)

RANGE = (
    NEW
    + """
def kernel(x, low, high):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.shared_hbm)
    best = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    l = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.sbuf)
    h = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    nisa.dma_copy(dst=l, src=low)
    nisa.dma_copy(dst=h, src=high)
    t = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)
    s = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.range_select(dst=t, on_true_tile=a, comp_op0=nl.greater_equal, comp_op1=nl.less, bound0=l, bound1=h,
                      reduce_cmd=nisa.reduce_cmd.reset_reduce, reduce_res=s, reduce_op=nl.maximum,
                      range_start=10, on_false_value=-3.4028235e38)
    nisa.dma_copy(dst=out, src=t)
    nisa.dma_copy(dst=best, src=s)
    return out, best
"""
)

GROUPS = (
    NEW
    + """
def kernel(a, b):
    K, M = a.shape
    _, N = b.shape
    out = nl.ndarray((M, N), dtype=nl.float32, buffer=nl.shared_hbm)
    left = nl.ndarray((K, M), dtype=a.dtype, buffer=nl.sbuf)
    right = nl.ndarray((K, N), dtype=b.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=left, src=a)
    nisa.dma_copy(dst=right, src=b)
    acc = nl.ndarray((M, N), dtype=nl.float32, buffer=nl.psum)
{products}
    t = nl.ndarray((M, N), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=t, src=acc)
    nisa.dma_copy(dst=out, src=t)
    return out
"""
)
PRODUCT = "    nisa.nc_matmul(dst=acc, stationary=left, moving=right{flag})"
SMALL = {
    "a": whole(42, -8, 9, 90, 20).astype(np.float32), "b": whole(43, -8, 9, 90, 70).astype(np.float32),
}  # fmt: skip


def groups(*flags: str) -> str:
    return GROUPS.format(products="\n".join(PRODUCT.format(flag=flag) for flag in flags))


def times(count: int) -> Any:
    return lambda given: (count * (given["a"].T @ given["b"]),)


def shuffled(given: Arrays) -> tuple[Any]:
    lanes = np.arange(len(given["x"]))
    return (given["x"][lanes - lanes % 32 + (lanes + 5) % 32],)


def in_range(given: Arrays) -> tuple[Any, Any]:
    place = np.arange(given["x"].shape[1]) + 10
    is_inside = (place >= given["low"]) & (place < given["high"])
    kept = np.where(is_inside, given["x"], np.float32(-3.4028235e38))
    return kept, kept.max(1, keepdims=True)


def causal(given: Arrays) -> tuple[Any]:
    rows, columns = given["x"].shape
    value = 2 + np.arange(rows)[:, None] - np.arange(columns)
    return (np.where(value >= 0, given["x"], np.float32(-5)),)


CASES = (
    Case("nc_transpose", TRANSPOSE, {"x": X}, lambda given: (given["x"].T,)),
    Case("dma_transpose", DMA_TRANSPOSE, {"x": X.astype(BF16)}, lambda given: (given["x"].T,)),
    Case("nc_stream_shuffle", SHUFFLE, {"x": normal(44, 64, 9)}, shuffled),
    Case("a slice with a step", EVERY_THIRD, {"x": X[:, :59]}, lambda given: (given["x"][:, ::3],)),
    Case(
        "an access pattern", PATTERN, {"x": X},
        lambda given: (np.stack([given["x"][:, 3 + 30 * i + 2 * j] for i in range(2) for j in range(5)], axis=1),),
    ),
    Case(
        "reshaped and permuted", RESHAPED, {"x": X},
        lambda given: (given["x"].reshape(-1, 4, 15).transpose(0, 2, 1).reshape(-1, 60),),
    ),
    Case("a row for all partitions", BROADCAST, {"x": X, "w": normal(45, 60)},
         lambda given: (given["x"] * given["w"],)),
    Case("dma_copy into bfloat16", CAST.format(result="bfloat16"), {"x": X}, lambda given: (given["x"],)),
    Case("dma_copy out of float16", CAST.format(result="float32"), {"x": X.astype(np.float16)},
         lambda given: (given["x"],)),
    Case(
        "dma_copy of int32 goes through float32", CAST.format(result="uint32"),
        {"x": whole(46, 1 << 25, 1 << 26, 9, 5)},
        lambda given: (given["x"].astype(np.float32).astype(np.uint32),),
    ),
    Case("dma_compute", SUMMED, {"x": X, "y": normal(47, 100, 60)}, lambda given: (given["x"] + given["y"],)),
    Case(
        "iota", IOTA, {"x": X},
        lambda given: ((7 + 3 * np.arange(60) - 2 * np.arange(100)[:, None]).astype(np.int32),),
    ),
    Case("affine_select", CAUSAL, {"x": X}, causal),
    Case(
        "range_select", RANGE, {"x": X, "low": whole(48, 10, 30, 100, 1).astype(np.float32),
                                "high": whole(49, 30, 75, 100, 1).astype(np.float32)}, in_range,
    ),
    Case("a group of products adds up", groups("", "", ""), SMALL, times(3)),
    Case("accumulate=False begins a group", groups("", ", accumulate=False", ""), SMALL, times(2)),
    Case("accumulate=True goes on", groups(", accumulate=False", ", accumulate=True"), SMALL, times(2)),
)  # fmt: skip
