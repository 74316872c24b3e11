"""The functions of `nl` that return tiles (second generation), and how control flow reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.execution.tiles.ports import NEW, Arrays, Case, normal, whole

X = normal(51, 100, 30)

ONE = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, {width}), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.load(x)
    nl.store(out, {value})
    return out
"""
)
TWO = (
    NEW
    + """
def kernel(x, y):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.load(x)
    b = nl.load(y)
    nl.store(out, {value})
    return out
"""
)

LOOPS = (
    NEW
    + """
def kernel(x, rounds):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    for i in nl.{loop}(rounds):
        nisa.tensor_scalar(dst=a, data=a, op0=nl.multiply, operand0=0.5, op1=nl.add, operand1=1.0)
    nisa.dma_copy(dst=out, src=a)
    return out
"""
)

CHOSEN = (
    NEW
    + """
def kernel(x, flag, cfg):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    if flag:
        nisa.tensor_scalar(dst=a, data=a, op0=nl.multiply, operand0=cfg.scale)
    else:
        nisa.activation(dst=a, op=nl.relu, data=a)
    nisa.dma_copy(dst=out, src=a)
    return out
"""
)

HELPED = (
    NEW.replace("@nki.jit\n", "")
    + """
def twice(tile):
    made = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.sbuf)
    nisa.tensor_tensor(dst=made, data1=tile, data2=tile, op=nl.add)
    return made


@nki.jit
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = []
    for i in range(3):
        part = nl.ndarray((rows, 10), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=part, src=x[:, i * 10:(i + 1) * 10])
        tiles.append(twice(part))
    for i, tile in enumerate(tiles):
        nisa.dma_copy(dst=out[:, i * 10:(i + 1) * 10], src=tile)
    return out
"""
)

CORES = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    half = rows // 2
    core = nl.program_id(0)
    a = nl.ndarray((half, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x[core * half:(core + 1) * half, :])
    nisa.dma_copy(dst=out[core * half:(core + 1) * half, :], src=a)
    return out
"""
)


SWAPPED = (
    NEW
    + """
class Pair(nl.NKIObject):
    def __init__(self, first, second):
        self.first = first
        self.second = second


@nki.jit
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.load(x)
    b = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=b, data=a, op0=nl.multiply, operand0=2.0)
    {text}
    nl.store(out, first)
    return out
"""
).replace("@nki.jit\n\nclass", "\nclass")
SWAPS = {
    "a list": "t = [a, b]\n    t[0], t[1] = t[1], t[0]\n    first = t[0]",
    "a dictionary": "t = {'u': a, 'v': b}\n    t['u'], (t['v'], _) = t['v'], (t['u'], 0)\n    first = t['u']",
    "an object": "t = Pair(a, b)\n    t.first, t.second = t.second, t.first\n    first = t.first",
    "a loop": "t = [a, a]\n    for t[0], t[1] in ((a, b), (b, a)):\n        first = t[0]",
}


def one(value: str, width: str = "columns") -> str:
    return ONE.format(value=value, width=width)


def norm(given: Arrays) -> tuple[Any]:
    x = given["x"].astype(np.float64)
    return (x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6) * given["y"],)


def normalised(given: Arrays) -> tuple[Any]:
    power = np.exp(given["x"].astype(np.float64) - given["x"].max(1, keepdims=True))
    return (power / power.sum(1, keepdims=True),)


def halved(given: Arrays) -> tuple[Any]:
    value = given["x"]
    for _ in range(given["rounds"]):
        value = (value * np.float32(0.5)).astype(np.float32) + np.float32(1)
    return (value,)


CASES = (
    Case("nl.exp", one("nl.exp(a)"), {"x": X}, lambda given: (np.exp(given["x"].astype(float)),), roundings=1.01),
    Case("nl.add", TWO.format(value="nl.add(a, b)"), {"x": X, "y": X * 3}, lambda given: (given["x"] + given["y"],)),
    Case("nl.maximum with a number", one("nl.maximum(a, 0.5)"), {"x": X}, lambda given: (np.maximum(given["x"], 0.5),)),
    Case("nl.square", one("nl.square(a)"), {"x": X}, lambda given: (given["x"] ** 2,)),
    Case("nl.floor", one("nl.floor(a)"), {"x": X * 5}, lambda given: (np.floor(given["x"]),)),
    Case("nl.negative", one("nl.negative(a)"), {"x": X}, lambda given: (-given["x"],)),
    Case("nl.max", one("nl.max(a, axis=1, keepdims=True)", "1"), {"x": X},
         lambda given: (given["x"].max(1, keepdims=True),)),
    Case("nl.sum", one("nl.sum(a, axis=1, keepdims=True)", "1"), {"x": whole(52, -9, 9, 100, 30).astype(np.float32)},
         lambda given: (given["x"].sum(1, keepdims=True),)),
    Case(  # 30 terms, a product with 1 / 30
        "nl.mean", one("nl.mean(a, axis=1, keepdims=True)", "1"), {"x": X},
        lambda given: (given["x"].astype(float).mean(1, keepdims=True),), roundings=32,
        scale=lambda given: np.abs(given["x"]).mean(1, keepdims=True),
    ),
    Case(
        "nl.var", one("nl.var(a, axis=1)", "1"), {"x": X},
        lambda given: (given["x"].astype(float).var(1, keepdims=True),), roundings=40,
        scale=lambda given: 3 * (given["x"] ** 2).mean(1, keepdims=True),
    ),
    Case("nl.softmax", one("nl.softmax(a, axis=1)"), {"x": X}, normalised, roundings=50),
    Case(
        "nl.rms_norm", TWO.format(value="nl.rms_norm(a, b, axis=1, n=columns)"), {"x": X, "y": normal(53, 100, 30)},
        norm, roundings=40,
    ),
    Case(
        "nl.where", TWO.format(value="nl.where(nl.greater(a, b), a, b)"), {"x": X, "y": normal(54, 100, 30)},
        lambda given: (np.maximum(given["x"], given["y"]),),
    ),
    Case("nl.copy into another dtype and back", one("nl.copy(nl.copy(a, dtype=nl.int32), dtype=nl.float32)"),
         {"x": X * 9}, lambda given: (np.rint(given["x"]),)),
    *(
        Case(f"nl.{loop}", LOOPS.format(loop=loop), {"x": X, "rounds": 5}, halved)
        for loop in ("affine_range", "sequential_range", "static_range", "dynamic_range")
    ),
    Case(
        "a branch that is taken", CHOSEN, {"x": X, "flag": True, "cfg": {"scale": 3.0, "unused": 1}},
        lambda given: (given["x"] * np.float32(3),),
    ),
    Case("a branch that is not", CHOSEN, {"x": X, "flag": False, "cfg.scale": 3.0},
         lambda given: (np.maximum(given["x"], 0),)),
    *(
        Case(f"tiles change places in {name}", SWAPPED.replace("{text}", text), {"x": X},
             lambda given: (given["x"] * 2,))
        for name, text in SWAPS.items()
    ),
    Case("a helper and a list of tiles", HELPED, {"x": X}, lambda given: (given["x"] * 2,)),
    Case("two cores", CORES, {"x": X}, lambda given: (given["x"],), grid=(2,)),
)  # fmt: skip
