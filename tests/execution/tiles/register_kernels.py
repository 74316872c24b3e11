"""Kernels whose bounds, addresses and conditions stand in registers."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.execution.tiles.ports import NEW, Arrays, Case, normal

COUNT = (
    "    c = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)\n    nisa.dma_copy(dst=c, src=n[0:1, 0:1])\n"
    "    r = nisa.register_alloc()\n    nisa.register_load(r, c)\n"
)
TILE = "    t = nl.ndarray((8, 16), dtype=nl.float32, buffer=nl.sbuf)\n    nisa.dma_copy(dst=t, src=x[0:8, 0:16])\n"
OUT = "    out = nl.ndarray((8, 16), dtype=nl.float32, buffer=nl.shared_hbm)\n"
BACK = "    nisa.dma_copy(dst=out, src=t)\n    return out\n"

LOOPED = (
    NEW
    + """
def k(x, n):
    t = nl.ndarray((8, 16), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x[0:8, 0:16])
    c = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(dst=c, src=n[0:1, 0:1])
    r = nisa.register_alloc()
    nisa.register_load(r, c)

    def shift(i):
        nisa.tensor_copy(dst=t[:, nl.ds(i, 1)], src=t[:, nl.ds(i + 1, 1)])

    nl.fori_loop(2, 10, shift, step=2)

    def halve(left):
        nisa.tensor_scalar(dst=t, data=t, op0=nl.multiply, operand0=0.5)
        nisa.tensor_scalar(dst=c, data=c, op0=nl.subtract, operand0=1.0)
        nisa.register_load(left, c)
        return left

    nl.while_loop(r, halve)
    out = nl.ndarray((8, 16), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=t)
    return out
"""
)


def _looped(given: Arrays) -> tuple[Any]:
    made = given["x"].copy()
    for place in range(2, 10, 2):
        made[:, place] = made[:, place + 1]
    return (made / 2 ** int(given["n"][0, 0]),)


CASES = (
    Case("loops whose body is a function", LOOPED, {"x": normal(5, 8, 16), "n": np.array([[3]], np.int32)}, _looped),
    Case(
        "a loop that may not run at all", LOOPED, {"x": normal(6, 8, 16), "n": np.array([[0]], np.int32)}, _looped
    ),
    Case(
        "a loop as long as a register says",
        NEW + "def k(x, n):\n" + TILE + COUNT + "    for i in nl.dynamic_range(r):\n"
        + "        nisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0=1.0)\n" + OUT + BACK,
        {"x": np.round(normal(1, 8, 16)), "n": np.array([[5]], np.int32)},
        lambda given: (given["x"] + 5,),
    ),
    Case(
        "a loop until a register is zero",
        NEW + "def k(x, n):\n" + TILE + COUNT + "    while r:\n"
        + "        nisa.tensor_scalar(dst=t, data=t, op0=nl.multiply, operand0=2.0)\n"
        + "        nisa.tensor_scalar(dst=c, data=c, op0=nl.subtract, operand0=1.0)\n"
        + "        nisa.register_load(r, c)\n" + OUT + BACK,
        {"x": normal(2, 8, 16), "n": np.array([[3]], np.int32)},
        lambda given: (given["x"] * 8,),
    ),
    Case(
        "an address in a register, read where it is used",
        NEW + "def k(x, n):\n" + TILE + COUNT + "    q = nisa.register_alloc(1)\n    v = x[nl.ds(r, 2), 0:16]\n"
        + "    w = x.ap(pattern=[[16, 1], [1, 16]], scalar_offset=q, indirect_dim=0)\n    nisa.register_move(q, 6)\n"
        + "    nisa.dma_copy(dst=t[0:2, :], src=v)\n    nisa.dma_copy(dst=t[2:3, :], src=w)\n" + OUT + BACK,
        {"x": normal(3, 8, 16), "n": np.array([[4]], np.int32)},
        lambda given: (np.concatenate([given["x"][4:6], given["x"][6:7], given["x"][3:]]),),
    ),
    Case(
        "registers moved and stored",
        NEW + "def k(n):\n" + COUNT + "    q = nisa.register_alloc(7)\n    nisa.register_store(c, q)\n"
        + "    d = nl.ndarray((1, 2), dtype=nl.int32, buffer=nl.sbuf)\n    nisa.register_store(d[0:1, 1:2], r)\n"
        + "    nisa.register_move(q, r)\n    nisa.register_store(d[0:1, 0:1], q)\n"
        + "    out = nl.ndarray((2, 2), dtype=nl.int32, buffer=nl.shared_hbm)\n"
        + "    nisa.dma_copy(dst=out[0:1, :], src=d)\n    nisa.dma_copy(dst=out[1:2, 0:1], src=c)\n"
        + "    nisa.dma_copy(dst=out[1:2, 1:2], src=c)\n    return out\n",
        {"n": np.array([[4]], np.int32)},
        lambda given: (np.array([[4, 4], [7, 7]], np.int32),),
    ),
)  # fmt: skip
