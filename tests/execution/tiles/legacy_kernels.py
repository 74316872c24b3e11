"""The first generation: masks, index grids, block dimensions, tiles as operands, program axes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from tests.execution.tiles.ports import OLD, Arrays, Case, normal, whole

X = normal(61, 300, 50)
A = X[:100]
BF16 = ml_dtypes.bfloat16

BLOCKS = (
    OLD
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    ip = nl.arange(128)[:, None]
    jf = nl.arange(columns)[None, :]
    for block in nl.affine_range((rows + 127) // 128):
        inside = block * 128 + ip < rows
        a = nl.load(x[block * 128 + ip, jf], mask=inside)
        t = {value}
        nl.store(out[block * 128 + ip, jf], value=t, mask=inside)
    return out
"""
)

GRID = (
    OLD
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    ip = nl.program_id(0) * 128 + nl.arange(128)[:, None]
    jf = nl.program_id(1) * 20 + nl.arange(20)[None, :]
    inside = (ip < rows) & (jf < columns)
    a = nl.load(x[ip, jf], mask=inside)
    nl.store(out[ip, jf], value=nl.multiply(a, 2.0), mask=inside)
    return out
"""
)

PARTS = (
    OLD
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = nl.ndarray((2, nl.par_dim(128), columns), dtype=x.dtype, buffer=nl.sbuf)
    for block in nl.affine_range(2):
        tiles[block] = nl.load(x[block * 128:(block + 1) * 128, :])
    for block in nl.affine_range(2):
        nl.store(out[block * 128:(block + 1) * 128, :], tiles[1 - block])
    return out
"""
)

SUMS = (
    OLD
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((128, columns), dtype=nl.float32, buffer=nl.shared_hbm)
    total = nl.zeros((128, columns), dtype=nl.float32, buffer=nl.sbuf)
    for block in nl.sequential_range(rows // 128):
        total += nl.load(x[block * 128:(block + 1) * 128, :])
    nl.store(out, total)
    return out
"""
)

TURNED = (
    OLD
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.load(x)
    nl.store(out, nl.copy({value}))
    return out
"""
)

SCALES = (
    OLD
    + """
def kernel(x, w):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    ip = nl.arange(128)[:, None]
    jf = nl.arange(columns)[None, :]
    wide = nl.load(w.reshape((1, columns))).broadcast_to((128, columns))
    for block in nl.affine_range((rows + 127) // 128):
        inside = block * 128 + ip < rows
        a = nl.load(x[block * 128 + ip, jf], mask=inside)
        square = nl.square(a)
        mean = nl.sum(square, axis=1) / columns
        scale = nl.rsqrt(mean + 1e-5)
        nl.store(out[block * 128 + ip, jf], value=a * scale * wide, mask=inside)
    return out
"""
)

INSTRUCTIONS = (
    OLD
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, {width}), dtype=nl.float32, buffer=nl.shared_hbm)
    a = nl.load(x)
    t = {value}
    nl.store(out, t)
    return out
"""
)

CHOSEN = (
    OLD
    + """
def kernel(x, scale):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x[0:rows, 0:columns])
    nl.store(out[0:rows, 0:columns], tile * ({factor}))
    return out
"""
)

COLUMN = (
    OLD
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    sums = nl.zeros((nl.par_dim(rows), columns), dtype=nl.float32)
    for place in nl.affine_range(columns):
        column = sums[:, place]
        column[:, 0] = nl.load(x[0:rows, place]) * 3.0
    nl.store(out[0:rows, 0:columns], sums)
    return out
"""
)

SCALAR = (
    OLD
    + """
def kernel(x, n):
    out = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    nl.store(out[0:1, 0:1], nl.load(x[0:1, 0:1]) + nisa.iota(n * 3, dtype=nl.float32))
    return out
"""
)


def chosen(name: str, factor: str, scale: float, wanted: float) -> Case:
    """A kernel that multiplies by `factor`, which is `wanted` where `scale` is given."""
    arguments = {"x": A, "scale": scale}
    return Case(name, CHOSEN.format(factor=factor), arguments, lambda given: (given["x"] * np.float32(wanted),))


def blocks(value: str) -> str:
    return BLOCKS.format(value=value)


def instruction(value: str, width: str = "columns") -> str:
    return INSTRUCTIONS.format(value=value, width=width)


def norm(given: Arrays) -> tuple[Any]:
    x = given["x"].astype(np.float64)
    return (x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5) * given["w"],)


def mixed(given: Arrays) -> tuple[Any]:
    return (np.float32(1.2) + given["x"].astype(np.float32),)


CASES = (
    chosen("a number or another", "scale or 0.5", 3.0, 3.0),
    chosen("no number or another", "scale or 0.5", 0.0, 0.5),
    chosen("a number and another", "scale and 0.5", 3.0, 0.5),
    chosen("no number and another", "scale and 0.5", 0.0, 0.0),
    Case("legacy iota of a number", SCALAR, {"x": A, "n": 5}, lambda given: (given["x"][:1, :1] + 15,)),
    Case("a column of a column", COLUMN, {"x": A}, lambda given: (given["x"] * 3,)),
    Case("tiles as operands", blocks("a * 2.0 + a"), {"x": X}, lambda given: (given["x"] * 2 + given["x"],)),
    Case("a tile after a number", blocks("1.0 - a"), {"x": X}, lambda given: (1 - given["x"],)),
    Case("a function of a masked tile", blocks("nl.tanh(a, mask=inside)"), {"x": X},
         lambda given: (np.tanh(given["x"].astype(float)),), roundings=1.01),
    Case("a maximum without a mask of padding", blocks("nl.maximum(a, 0.1)"), {"x": X},
         lambda given: (np.maximum(given["x"], np.float32(0.1)),)),
    Case("program axes with tails", GRID, {"x": X}, lambda given: (given["x"] * 2,), grid=(3, 3)),
    Case("block dimensions", PARTS, {"x": normal(62, 256, 20)},
         lambda given: (np.concatenate([given["x"][128:], given["x"][:128]]),)),
    Case("a sum over a loop", SUMS, {"x": whole(63, -9, 9, 384, 20).astype(np.float32)},
         lambda given: (given["x"].reshape(3, 128, 20).sum(0),)),
    Case("nl.transpose", TURNED.format(value="nl.transpose(a)"), {"x": A}, lambda given: (given["x"].T,)),
    Case("nisa.nc_transpose", TURNED.format(value="nisa.nc_transpose(a)"), {"x": A}, lambda given: (given["x"].T,)),
    # 50 squares summed, a quotient, a root, two products
    Case("rms norm by operators", SCALES, {"x": X, "w": normal(64, 50)}, norm, roundings=60),
    Case("bfloat16 and a number give float32", instruction("a + 1.2"), {"x": A.astype(BF16)}, mixed),
    Case("legacy tensor_tensor", instruction("nisa.tensor_tensor(a, a, op=np.multiply)"), {"x": A},
         lambda given: (given["x"] ** 2,)),
    Case("legacy tensor_scalar", instruction("nisa.tensor_scalar(a, np.subtract, 1.0, False, np.multiply, 2.0)"),
         {"x": A}, lambda given: ((given["x"] - 1) * 2,)),
    Case("legacy tensor_reduce", instruction("nisa.tensor_reduce(np.max, a, axis=(1,), keepdims=True)", "1"), {"x": A},
         lambda given: (given["x"].max(1, keepdims=True),)),
    Case("legacy activation", instruction("nisa.activation(op=nl.exp, data=a, scale=0.5)"), {"x": A},
         lambda given: (np.exp(given["x"].astype(float) * 0.5),), roundings=1.01),
    Case("legacy static_cast", instruction("nl.static_cast(nl.static_cast(a, nl.bfloat16), nl.float32)"), {"x": A},
         lambda given: (given["x"].astype(BF16).astype(np.float32),)),
    Case("legacy iota", instruction(
        "nisa.iota(nl.arange(columns)[None, :] * 2 + nl.arange(100)[:, None], dtype=nl.float32)"),
         {"x": A}, lambda given: ((2.0 * np.arange(50) + np.arange(100)[:, None]),)),
    Case("legacy affine_select", instruction(
        "nisa.affine_select(pred=nl.arange(100)[:, None] >= nl.arange(columns)[None, :], on_true_tile=a,"
        " on_false_value=-1.0)"),
        {"x": A}, lambda given: (np.where(np.arange(100)[:, None] >= np.arange(50), given["x"], np.float32(-1)),)),
    Case("legacy where", instruction("nl.where(a > 0.5, a, 0.0)"), {"x": A},
         lambda given: (np.where(given["x"] > 0.5, given["x"], 0),)),
    Case("legacy softmax", instruction("nl.softmax(a, axis=1)"), {"x": A}, lambda given: (
        np.exp(given["x"].astype(float)) / np.exp(given["x"].astype(float)).sum(1, keepdims=True),), roundings=64),
    Case("legacy matmul", instruction("nl.copy(nl.matmul(a, a, transpose_x=True))").replace("(rows, col", "(50, col"),
         {"x": whole(65, -8, 9, 100, 50).astype(np.float32)}, lambda given: (given["x"].T @ given["x"],)),
)  # fmt: skip
