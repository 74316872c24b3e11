"""Gathers and scatters, selections, running sums, views of bits, what cores do together."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.execution.tiles.ports import NEW, Arrays, Case, normal, whole

X = normal(71, 96, 40)

ONE = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, {width}), dtype=nl.{result}, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    t = nl.ndarray((rows, {width}), dtype=nl.{result}, buffer=nl.sbuf)
    {call}
    nisa.dma_copy(dst=out, src=t)
    return out
"""
)
TWO = (
    NEW
    + """
def kernel(x, y):
    rows, columns = x.shape
    _, width = y.shape
    out = nl.ndarray((rows, {width}), dtype=nl.{result}, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    b = nl.ndarray((rows, width), dtype=y.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    nisa.dma_copy(dst=b, src=y)
    t = nl.ndarray((rows, {width}), dtype=nl.{result}, buffer=nl.sbuf)
    {call}
    nisa.dma_copy(dst=out, src=t)
    return out
"""
)


def one(call: str, width: str = "columns", result: str = "float32") -> str:
    return ONE.format(call=call, width=width, result=result)


def two(call: str, width: str = "width", result: str = "float32") -> str:
    return TWO.format(call=call, width=width, result=result)


ROWS = (
    NEW
    + """
def kernel(table, index):
    _, columns = table.shape
    rows, _ = index.shape
    out = nl.ndarray((rows, columns), dtype=table.dtype, buffer=nl.shared_hbm)
    which = nl.ndarray((rows, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(dst=which, src=index)
    t = nl.ndarray((rows, columns), dtype=table.dtype, buffer=nl.sbuf)
    {before}nisa.dma_copy(
        dst=t, src=table.ap(pattern=[[columns, rows], [1, columns]], vector_offset=which, indirect_dim=0){mode})
    nisa.dma_copy(dst=out, src=t)
    return out
"""
)

SCATTER = (
    NEW
    + """
def kernel(x, index, height):
    rows, columns = x.shape
    out = nl.ndarray((height, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    which = nl.ndarray((rows, 1), dtype=nl.int32, buffer=nl.sbuf)
    a = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nothing = nl.ndarray((height, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.memset(dst=nothing, value=0.0)
    nisa.dma_copy(dst=out, src=nothing)
    nisa.dma_copy(dst=which, src=index)
    nisa.dma_copy(dst=a, src=x)
    nisa.dma_copy(dst=out.ap(pattern=[[columns, rows], [1, columns]], vector_offset=which, indirect_dim=0), src=a)
    return out
"""
)

BITS = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=nl.uint32, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    nisa.dma_copy(dst=out, src=a.view(nl.uint32))
    return out
"""
)

CORES = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    shared = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    half = rows // 2
    core = nl.program_id(0)
    a = nl.ndarray((half, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x[core * half:(core + 1) * half, :])
    nisa.dma_copy(dst=shared[core * half:(core + 1) * half, :], src=a)
    nisa.core_barrier(data=shared, cores=(0, 1))
    other = nl.ndarray((half, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=other, src=shared[(1 - core) * half:(2 - core) * half, :])
    nisa.dma_copy(dst=out[core * half:(core + 1) * half, :], src=other)
    return out
"""
)

IDENTITY = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((columns, rows), dtype=nl.float32, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    unit = nl.ndarray((rows, rows), dtype=x.dtype, buffer=nl.sbuf)
    nl.shared_identity_matrix(rows, dtype=x.dtype, dst=unit)
    acc = nl.ndarray((columns, rows), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=acc, stationary=a, moving=unit)
    t = nl.ndarray((columns, rows), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=t, src=acc)
    nisa.dma_copy(dst=out, src=t)
    return out
"""
)


def running_sum(given: Arrays) -> tuple[Any]:
    x = given["x"] * np.float32(0.5)
    return (np.add.accumulate(x.astype(np.float32), axis=1),)


def scattered(given: Arrays) -> tuple[Any]:
    made = np.zeros((given["height"], given["x"].shape[1]), np.float32)
    made[given["index"][:, 0]] = given["x"]
    return (made,)


SOME = np.random.default_rng(73).permutation(200)[:96].astype(np.int32)[:, None]
PLACES = np.random.default_rng(74).permutation(100)[:96].astype(np.int32)[:, None]

CASES = (
    Case("tensor_scalar_cumulative", one(
        "nisa.tensor_scalar_cumulative(dst=t, src=a, op0=nl.multiply, op1=nl.add, imm0=0.5, imm1=0.0,"
        " reduce_cmd=nisa.reduce_cmd.reset_reduce)"), {"x": X}, running_sum),
    Case("select_reduce", two(
        "nisa.select_reduce(dst=t, predicate=b, on_true=a, on_false=-7.0)"),
        {"x": X, "y": whole(74, 0, 2, 96, 40, dtype=np.uint8)},
        lambda given: (np.where(given["y"] != 0, given["x"], np.float32(-7)),)),
    Case("rows by index", ROWS.format(before="", mode=""), {"table": normal(76, 200, 12), "index": SOME},
         lambda given: (given["table"][given["index"][:, 0]],)),
    Case("rows by index, those outside left alone", ROWS.format(
        before="nisa.memset(dst=t, value=9.0)\n    ", mode=", oob_mode=nisa.oob_mode.skip"),
        {"table": normal(76, 100, 12), "index": SOME},
        lambda given: (np.where(given["index"] < 100, given["table"][np.minimum(given["index"][:, 0], 99)],
                                np.float32(9)),)),
    Case("rows scattered by index", SCATTER, {"x": X, "index": PLACES, "height": 100}, scattered),
    Case("bits of a float", BITS, {"x": X}, lambda given: (given["x"].view(np.uint32),)),
    Case("cores that wait for each other", CORES, {"x": X}, lambda given: (np.concatenate(
        [given["x"][48:], given["x"][:48]]),), grid=(2,)),
    Case("a product with the identity", IDENTITY, {"x": X}, lambda given: (given["x"].T,)),
)  # fmt: skip
