"""Kernels of the first generation: masks, index grids, products with masks, moments, constants, block dimensions."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from tests.execution.tiles.ports import OLD, Arrays, Case, normal, whole

WIDE = np.float64


def kernel(body: str, parameters: str = "x") -> str:
    """A kernel of the first generation with this body."""
    return f"{OLD}def kernel({parameters}):\n{body}"


MASKED_PRODUCT = kernel(
    """
    K, M = a.shape
    N = b.shape[1]
    out = nl.ndarray((M, N), dtype=nl.float32, buffer=nl.shared_hbm)
    k = nl.arange(128)[:, None]
    m = nl.arange(128)[None, :]
    n = nl.arange(512)[None, :]
    left = nl.load(a[k, m], mask=(k < K) & (m < M))
    right = nl.load(b[k, n], mask=(k < K) & (n < N))
    product = nisa.nc_matmul(left[k, m][m < M], right[k, n][n < N], mask=k < K)
    i = nl.arange(128)[:, None]
    nl.store(out[i, n], product, mask=(i < M) & (n < N))
    return out
    """,
    "a, b",
)


def product_of(given: Arrays) -> tuple[Any, ...]:
    return (given["a"].astype(WIDE).T @ given["b"].astype(WIDE),)


TURNED = kernel(
    """
    rows, columns = x.shape
    out = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.shared_hbm)
    again = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.shared_hbm)
    p = nl.arange(128)[:, None]
    f = nl.arange(64)[None, :]
    i = nl.arange(64)[:, None]
    j = nl.arange(128)[None, :]
    tile = nl.load(x[p, f], mask=(p < rows) & (f < columns))
    nl.store(out[i, j], nisa.nc_transpose(tile[p, f], mask=(p < rows) & (f < columns)), mask=(i < columns) & (j < rows))
    late = nl.load_transpose2d(x[p, f], mask=(p < rows) & (f < columns))
    nl.store(again[i, j], late, mask=(i < columns) & (j < rows))
    return out, again
    """
)

MOMENTS = kernel(
    """
    rows, columns = x.shape
    out = nl.ndarray((rows, 2), dtype=nl.float32, buffer=nl.shared_hbm)
    p = nl.arange(128)[:, None]
    f = nl.arange(512)[None, :]
    six = nl.arange(6)[None, :]
    two = nl.arange(2)[None, :]
    chunks = (columns + 511) // 512
    for t in nl.affine_range((rows + 127) // 128):
        parts = nl.ndarray((nl.par_dim(128), 6 * chunks), dtype=nl.float32)
        for c in nl.affine_range(chunks):
            inside = (t * 128 + p < rows) & (c * 512 + f < columns)
            tile = nl.load(x[t * 128 + p, c * 512 + f], mask=inside)
            parts[p, c * 6 + six] = nisa.bn_stats(tile, mask=inside, dtype=nl.float32)
        pair = nisa.bn_aggr(parts, mask=t * 128 + p < rows)
        nl.store(out[t * 128 + p, two], pair[p, two], mask=t * 128 + p < rows)
    return out
    """
)


def moments_of(given: Arrays) -> tuple[Any, ...]:
    x = given["x"].astype(WIDE)
    return (np.stack([x.mean(axis=1), x.var(axis=1)], axis=1),)


MEANS = kernel(
    """
    rows, columns = x.shape
    out = nl.ndarray((rows, 3), dtype=nl.float32, buffer=nl.shared_hbm)
    p = nl.arange(128)[:, None]
    f = nl.arange(64)[None, :]
    one = nl.arange(1)[None, :]
    inside = (p < rows) & (f < columns)
    tile = nl.load(x[p, f], mask=inside)
    found = nl.ndarray((128, 3), dtype=nl.float32)
    found[p, one] = nl.mean(tile, axis=1, mask=inside, dtype=nl.float32)
    found[p, 1 + one] = nl.var(tile, axis=1, mask=inside, dtype=nl.float32)
    found[p, 2 + one] = nisa.tensor_reduce(np.max, tile, axis=[1], mask=inside, dtype=nl.float32, negate=True)
    nl.store(out[p, nl.arange(3)[None, :]], found[p, nl.arange(3)[None, :]], mask=p < rows)
    return out
    """
)


def means_of(given: Arrays) -> tuple[Any, ...]:
    x = given["x"].astype(WIDE)
    return (np.stack([x.mean(axis=1), x.var(axis=1), -x.max(axis=1)], axis=1),)


KEPT_ROWS = kernel(
    """
    out = nl.ndarray((8, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    p = nl.arange(8)[:, None]
    f = nl.arange(16)[None, :]
    tile = nl.load(x[p, f])
    total = nl.full((8, 1), -7.0, dtype=nl.float32)
    total[p, 0] = nisa.tensor_reduce(np.add, tile, axis=1, mask=(p < 5) & (f < 4))
    nl.store(out, total)
    return out
    """
)


def kept_rows_of(given: Arrays) -> tuple[Any, ...]:
    x = given["x"].astype(WIDE)
    result = np.full((8, 1), -7.0)
    result[:5, 0] = x[:5, :4].sum(axis=1)
    return (result,)


CONSTANTS = kernel(
    """
    out = nl.ndarray((16, 16), dtype=nl.float32, buffer=nl.shared_hbm)
    eye = nl.load(nl.shared_constant(np.identity(16, dtype=np.int8), dtype=nl.bfloat16))
    line = nl.load(nl.shared_constant(np.arange(2, 34, 2, dtype=np.int32)[None, :] * 3))
    twice = nl.multiply(nl.load(x), eye, dtype=nl.float32)
    nl.store(out, twice + line.broadcast_to((16, 16)))
    return out
    """
)


def constants_of(given: Arrays) -> tuple[Any, ...]:
    return (given["x"].astype(WIDE) * np.eye(16) + 3 * np.arange(2, 34, 2)[None, :],)


BLOCKS = kernel(
    """
    blocks, rows, columns = x.shape
    out = nl.ndarray((blocks, rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    held = nl.ndarray((4, nl.par_dim(32), 8), dtype=x.dtype, buffer=nl.sbuf)
    for b in nl.affine_range(blocks):
        held[b] = nl.load(x[b])
    w = nl.mgrid[0:32, 0:8]
    for b in nl.affine_range(blocks):
        last = held[blocks - 1 - b, w.p, w.x]
        nl.store(out[b, w.p, w.x], nl.add(last, held[b, :, :]))
    return out
    """
)


def blocks_of(given: Arrays) -> tuple[Any, ...]:
    return (given["x"] + given["x"][::-1],)


POOL = kernel(
    """
    channels, size, _ = x.shape
    out = nl.ndarray((channels, size // 2, size // 2), dtype=x.dtype, buffer=nl.shared_hbm)
    w = nl.mgrid[0:16, 0:4, 0:4, 0:2, 0:2]
    image = nl.load(x)
    top = nl.max(image[w.p, 2 * w.x + w.z, 2 * w.y + w.w], axis=[3, 4])
    nl.store(out, value=top)
    return out
    """
)


def pooled(given: Arrays) -> tuple[Any, ...]:
    return (given["x"].reshape(16, 4, 2, 4, 2).max(axis=(2, 4)),)


PROMOTED = kernel(
    """
    out = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.shared_hbm)
    low = nl.load(x, dtype=nl.bfloat16)
    total = nl.add(low, nl.bfloat16(1.0))
    nl.store(out, nl.add(total, 0.001))
    return out
    """
)


def promoted_of(given: Arrays) -> tuple[Any, ...]:
    low = (given["x"].astype(np.float32) + np.float32(1)).astype(ml_dtypes.bfloat16).astype(np.float32)
    return (low + np.float32(0.001),)


PAIRED = kernel(
    """
    K, two, M = a.shape
    K, two, N = b.shape
    out = nl.ndarray((M, N), dtype=nl.float32, buffer=nl.shared_hbm)
    left, right = nl.load(a), nl.load(b)
    nl.store(out, value=nisa.nc_matmul(left, right, perf_mode="double_row_gen3"))
    return out
    """,
    "a, b",
)

LOOP_REDUCED = kernel(
    """
    rows, columns = x.shape
    out = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    highest = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    total = nl.zeros((nl.par_dim(128), 1), dtype=nl.float32, buffer=nl.sbuf)
    top = nl.full((128, 1), nl.fp32.min, dtype=nl.float32)
    p = nl.arange(128)[:, None]
    f = nl.arange(64)[None, :]
    for c in nl.affine_range((columns + 63) // 64):
        inside = c * 64 + f < columns
        tile = nl.load(x[p, c * 64 + f], mask=inside)
        part = nisa.tensor_reduce(np.add, tile, axis=[1], mask=inside, dtype=nl.float32)
        total[p, 0] = nl.loop_reduce(part, op=np.add, loop_indices=[c], dtype=nl.float32)
        top = nl.loop_reduce(nl.max(tile, axis=1, mask=inside), op=np.max, loop_indices=[c])
    nl.store(out, total)
    nl.store(highest, top)
    return out, highest
    """
)


def loop_reduced(given: Arrays) -> tuple[Any, ...]:
    x = given["x"].astype(WIDE)
    return x.sum(axis=1, keepdims=True), x.max(axis=1, keepdims=True)


ADDED = kernel(
    """
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    n, one = index.shape
    where = nl.load(index)
    f = nl.arange(16)[None, :]
    nl.atomic_rmw(out[where, f], value=nl.load(y), op=np.add)
    return out
    """,
    "x, index, y",
)


def added(given: Arrays) -> tuple[Any, ...]:
    result = given["x"].astype(WIDE)
    np.add.at(result, given["index"][:, 0], given["y"])
    return (result,)


SIGN = kernel(
    """
    out = nl.ndarray((64, 32), dtype=nl.float32, buffer=nl.shared_hbm)
    nl.store(out, nl.load(a) @ nl.load(b))
    return out
    """,
    "a, b",
)

SKIPPED = kernel(
    """
    n, one = index.shape
    rows, columns = x.shape
    out = nl.ndarray((20, 16), dtype=x.dtype, buffer=nl.shared_hbm)
    spread = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(spread, nl.load(x))
    where = nl.load(index)
    f = nl.arange(16)[None, :]
    found = nl.full((20, 16), -1.0, dtype=nl.float32)
    found[:, :] = nl.load(x[where, f], mode=nisa.oob_mode.skip)
    nl.store(out, found)
    nl.store(spread[where, f], nl.load(y), mode=nisa.oob_mode.skip)
    return out, spread
    """,
    "x, index, y",
)


def skipped(given: Arrays) -> tuple[Any, ...]:
    index = given["index"][:, 0]
    inside = (index >= 0) & (index < len(given["x"]))
    taken = np.where(inside[:, None], given["x"][np.where(inside, index, 0)], -1.0)
    spread = given["x"].copy()
    spread[index[inside]] = given["y"][inside]
    return taken, spread


COLUMNS = kernel(
    """
    out = nl.ndarray((16, 4, 8), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x[0:16, 0:32])
    first = nl.multiply(tile[0:16, 0], 2.0)
    total = nl.ndarray((16, 4, 8), dtype=nl.float32)
    total[...] = tile + first[0:16, 0]
    assert tile.itemsize == 4 and tile.size == 512
    nl.store(out, total.as_tile())
    return out
    """
)

NARROW = kernel(
    """
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    p = nl.arange(128)[:, None]
    f = nl.arange(64)[None, :]
    tile = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.sbuf)
    tile[p, nl.arange(100)[None, :]] = nl.load(x[p, nl.arange(100)[None, :]], mask=p < rows)
    for c in nl.affine_range((columns + 63) // 64):
        inside = (c * 64 + f < columns) & (p < rows)
        nl.store(out[p, c * 64 + f], nl.square(tile[p, c * 64 + f], mask=inside), mask=inside)
    return out
    """
)

GROUPED = kernel(
    """
    out = nl.ndarray((2, 16, 8), dtype=nl.float32, buffer=nl.shared_hbm)
    held = nl.ndarray((2, nl.par_dim(16), 8), dtype=nl.float32, buffer=nl.psum)
    for block in nl.affine_range(2):
        for part in nl.affine_range(3):
            held[block] += nisa.nc_matmul(nl.load(a[part, 0:4, 0:16]), nl.load(b[part, 0:4, 0:8]))
        nl.store(out[block, 0:16, 0:8], nl.copy(held[block]))
    return out
    """,
    "a, b",
)


CASES = (
    Case("masked product", MASKED_PRODUCT, {"a": normal(11, 100, 96), "b": normal(12, 100, 300)}, product_of,
         roundings=250, scale=lambda given: np.abs(given["a"]).T.astype(WIDE) @ np.abs(given["b"])),
    Case("masked transposes", TURNED, {"x": normal(13, 100, 50)},
         lambda given: (np.ascontiguousarray(given["x"].T),) * 2),
    Case("moments with tails", MOMENTS, {"x": normal(14, 150, 700)}, moments_of, roundings=900,
         scale=lambda given: np.full((150, 2), 1.0)),
    Case("masked means", MEANS, {"x": normal(15, 100, 50)}, means_of, roundings=200,
         scale=lambda given: np.full((100, 3), 1.0)),
    Case("rows that a masked reduction leaves", KEPT_ROWS, {"x": normal(16, 8, 16)}, kept_rows_of, roundings=20),
    Case("constants of the host", CONSTANTS, {"x": normal(17, 16, 16)}, constants_of, roundings=2),
    Case("blocks before the partition", BLOCKS, {"x": normal(18, 4, 32, 8)}, blocks_of),
    Case("pooling by an index grid", POOL, {"x": normal(19, 16, 8, 8)}, pooled),
    Case("promotion of numbers", PROMOTED, {"x": normal(20, 8, 8, dtype=ml_dtypes.bfloat16)}, promoted_of),
    Case("paired rows", PAIRED, {"a": whole(21, -4, 5, 16, 2, 4).astype(np.float32),
                                 "b": whole(22, -4, 5, 16, 2, 8).astype(np.float32)},
         lambda given: (np.einsum("kli,klj->ij", given["a"], given["b"]),)),
    Case("a sum and a maximum over a loop", LOOP_REDUCED, {"x": normal(23, 128, 200)}, loop_reduced, roundings=400,
         scale=lambda given: np.full((128, 1), 1.0)),
    Case("sums where indices repeat", ADDED, {"x": whole(24, -9, 9, 8, 16).astype(np.float32),
                                             "index": whole(25, 0, 8, 20, 1), "y": whole(26, -9, 9, 20, 16)
                                             .astype(np.float32)}, added),
    Case("product by the sign", SIGN, {"a": whole(27, -9, 9, 64, 96).astype(np.float32),
                                       "b": whole(28, -9, 9, 96, 32).astype(np.float32)},
         lambda given: (given["a"] @ given["b"],)),
    Case("indices outside are skipped", SKIPPED,
         {"x": normal(29, 40, 16), "y": normal(30, 20, 16),
          "index": np.array([[7 * i % 60 - 10] for i in range(20)], np.int32)}, skipped),
    Case("columns and rows of tiles", COLUMNS, {"x": whole(31, -9, 9, 16, 32).astype(np.float32)},
         lambda given: ((given["x"] + 2 * given["x"][:, :1]).reshape(16, 4, 8),)),
    Case("a mask keeps an instruction inside its tile", NARROW, {"x": normal(32, 90, 100)},
         lambda given: (np.square(given["x"]),)),
    Case("the first product of a group", GROUPED, {"a": whole(33, -9, 9, 3, 4, 16).astype(np.float32),
                                                   "b": whole(34, -9, 9, 3, 4, 8).astype(np.float32)},
         lambda given: (np.stack([np.einsum("pki,pkj->ij", given["a"], given["b"])] * 2),)),
)  # fmt: skip
