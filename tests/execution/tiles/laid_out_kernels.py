"""Kernels whose tiles are laid out differently beside each other, and copies between formats."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.execution.tiles.ports import NEW, Arrays, Case, normal

BESIDE = (
    NEW
    + """
def k(x, y):
    a = nl.ndarray((8, 12), dtype=nl.float32, buffer=nl.sbuf)
    b = nl.ndarray((8, 3, 4), dtype=nl.float32, buffer=nl.sbuf)
    c = nl.ndarray((8, 4, 3), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x[0:8, 0:12])
    nisa.dma_copy(dst=b, src=y[0:8, 0:12])
    nisa.tensor_tensor(dst=c, data1=a, data2=b, op=nl.subtract)
    nisa.scalar_tensor_tensor(dst=b, data=b, op0=nl.multiply, operand0=2.0, op1=nl.add, operand1=a)
    out = nl.ndarray((16, 12), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out[0:8, :], src=c)
    nisa.dma_copy(dst=out[8:16, :], src=b)
    return out
"""
)
AFFINE = (
    NEW
    + """
def k(x):
    t = nl.ndarray((8, 4, 6), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x[0:8, 0:24])
    nisa.affine_select(dst=t, pattern=[[5, 3], [-2, 8]], offset=-1, channel_multiplier=2, on_true_tile=t,
                       on_false_value=-1.5, cmp_op=nl.greater)
    i = nl.ndarray((8, 4, 6), dtype=nl.int32, buffer=nl.sbuf)
    nisa.iota(dst=i, pattern=[[7, 4], [1, 6]], offset=3, channel_multiplier=100)
    j = nl.ndarray((8, 24), dtype=nl.float32, buffer=nl.sbuf)
    nisa.iota(dst=j, pattern=[[100, 2], [10, 3], [1, 4]], offset=0)
    out = nl.ndarray((24, 24), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out[0:8, :], src=t)
    nisa.dma_copy(dst=out[8:16, :], src=i)
    nisa.dma_copy(dst=out[16:24, :], src=j)
    return out
"""
)
COPIES = (
    NEW
    + """
def k(n):
    t = nl.ndarray((1, 6), dtype=nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=n[0:1, 0:6])
    b = nl.ndarray((1, 6), dtype=nl.int8, buffer=nl.sbuf)
    nisa.tensor_copy(dst=b, src=t)
    s = nl.ndarray((1, 6), dtype=nl.int32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=s, src=t)
    out = nl.ndarray((2, 6), dtype=nl.int32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out[0:1, :], src=b)
    nisa.dma_copy(dst=out[1:2, :], src=s)
    return out
"""
)
ONE_PARTITION = (
    NEW
    + """
def k(x):
    counted = nl.ndarray((1, 12), dtype=nl.int32, buffer=nl.sbuf)
    nisa.iota(dst=counted, pattern=[[1, 12]])
    a = nl.ndarray((1, 12), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x[0:1, 0:12])
    t = nl.ndarray((1, 32), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=t, value=-1.0)
    nisa.scalar_tensor_tensor(dst=t.ap([[32, 1], [8, 3], [1, 4]]), data=a, op0=nl.multiply, operand0=2.0, op1=nl.add,
                              operand1=counted)
    out = nl.ndarray((1, 32), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=t)
    return out
"""
)
THERE_AND_BACK = (
    NEW.replace("@nki.jit", "class Tiles:\n    def __init__(self, t):\n        self.t = t\n\n\n@nki.jit")
    + """
def k(x, n: int):
    tiles = Tiles(nl.ndarray((8, 3, 4), dtype=nl.float32, buffer=nl.sbuf))
    nisa.dma_copy(dst=tiles.t, src=x[0:8, 0:12])
    for i in range(n):
        tiles.t = tiles.t.reshape((8, 12))
        nisa.tensor_scalar(dst=tiles.t[:, 5:12], data=tiles.t[:, 0:7], op0=nl.add, operand0=1.0)
        tiles.t = tiles.t.reshape((8, 3, 4))
        nisa.tensor_scalar(dst=tiles.t[:, 1, :], data=tiles.t[:, 2, :], op0=nl.multiply, operand0=2.0)
    out = nl.ndarray((8, 12), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=tiles.t)
    return out
"""
)
NUMBERS = np.array([[1, -2, 300, -300, (1 << 24) + 1, -(1 << 31)]], np.int32)


def _beside(given: Arrays) -> tuple[Any]:
    x, y = given["x"], given["y"]
    return (np.concatenate([x - y, 2 * y + x]),)


def _spread(given: Arrays) -> tuple[Any]:
    found = np.full((1, 32), -1.0)
    found.reshape(1, 4, 8)[:, :3, :4] = (2 * given["x"] + np.arange(12)).reshape(1, 3, 4)
    return (found,)


def _there_and_back(given: Arrays) -> tuple[Any]:
    t = given["x"].copy()
    for _ in range(given["n"]):
        t[:, 5:12] = t[:, 0:7] + 1
        t[:, 4:8] = 2 * t[:, 8:12]
    return (t,)


def _affine(given: Arrays) -> tuple[Any]:
    partition, place = np.arange(8)[:, None], np.arange(24)[None, :]
    chosen = -1 + 2 * partition + 5 * (place // 8) - 2 * (place % 8) > 0
    counted = 3 + 100 * partition + 7 * (place // 6) + place % 6
    digits = np.broadcast_to(100 * (place // 12) + 10 * (place // 4 % 3) + place % 4, (8, 24))
    return (np.concatenate([np.where(chosen, given["x"], -1.5), counted, digits]),)


CASES = (
    Case(
        "tiles of other shapes beside each other", BESIDE,
        {"x": np.round(normal(1, 8, 12) * 8), "y": np.round(normal(2, 8, 12) * 8)}, _beside,
    ),
    Case("a tile of one partition put into parts of another", ONE_PARTITION, {"x": normal(4, 1, 12)}, _spread),
    Case(
        "a tile that is in another shape for a part of each round", THERE_AND_BACK,
        {"x": np.round(normal(5, 8, 12) * 8), "n": 3}, _there_and_back,
    ),
    Case("affine patterns that are not the shape of the tile", AFFINE, {"x": normal(3, 8, 24)}, _affine),
    Case(
        "integers copied into narrower ones saturate, and are kept exactly where the format is",
        COPIES, {"n": NUMBERS}, lambda given: (np.concatenate([np.clip(given["n"], -128, 127), given["n"]]),),
    ),
)  # fmt: skip
