"""Kernels whose loops hand something on: counters, flags, lists of tiles."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from tests.execution.tiles.ports import NEW, Arrays, Case, normal

_ROWS = "    n, p, f = x.shape\n    out = nl.ndarray((n, p, f), dtype=x.dtype, buffer=nl.shared_hbm)\n"
_MATRIX = "    p, f = x.shape\n    out = nl.ndarray((p, f), dtype=x.dtype, buffer=nl.shared_hbm)\n"
_TILE = "nl.ndarray((p, f), dtype=x.dtype, buffer=nl.sbuf)"
_COLUMN = "nl.ndarray((p, 1), dtype=x.dtype, buffer=nl.sbuf)"


def _case(name: str, body: str, reference: Callable[[Arrays], object], *shape: int) -> Case:
    text = NEW.replace("@nki.jit\n", "") + body.replace("def k(", "@nki.jit\ndef k(")
    return Case(name, text, {"x": normal(1, *shape)}, lambda given: (reference(given),))


def _reversed(given: Arrays) -> object:
    return given["x"][::-1]


def _added_up(x: Any) -> object:
    return np.concatenate([x[:1], np.cumsum(x[1:], 0)])


def _five_times_one_more(x: Any) -> Any:
    for _ in range(5):
        x = x + np.float32(1)
    return x


def _shuffled(given: Arrays, first: int, place: Callable[..., int], value: Callable[..., int]) -> object:
    x = given["x"]
    made, width = np.full_like(x, 7), x.shape[1]
    for i in range(first, width):
        for group in range(0, len(x), 32):
            made[group + place(i, width) % 32] = x[group + value(i, width)]
    return made


def _same(given: Arrays) -> object:
    return given["x"]


CASES = (
    _case(
        "a list of tiles that grows",
        f"def k(x):\n{_ROWS}    tiles = []\n    for i in range(n):\n        t = {_TILE}\n"
        "        nisa.dma_copy(dst=t, src=x[i])\n        tiles.append(t)\n"
        "    for i, t in enumerate(tiles):\n        nisa.dma_copy(dst=out[n - 1 - i], src=t)\n    return out\n",
        _reversed, 3, 4, 5,
    ),
    _case(
        "a comprehension of tiles",
        f"def k(x):\n{_ROWS}    tiles = [{_TILE} for _ in range(n)]\n    for i in range(n):\n"
        "        nisa.dma_copy(dst=tiles[i], src=x[i])\n    for i in range(n):\n"
        "        nisa.dma_copy(dst=out[i], src=tiles[n - 1 - i])\n    return out\n",
        _reversed, 3, 4, 5,
    ),
    _case(
        "lists of lists of tiles",
        "def k(x):\n    n, m, p, f = x.shape\n    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\n"
        f"    rows = []\n    for i in range(n):\n        row = []\n        for j in range(m):\n"
        f"            row.append({_TILE})\n"
        "            nisa.dma_copy(dst=row[j], src=x[i, j])\n        rows.append(row)\n    for i in range(n):\n"
        "        for j in range(m):\n            nisa.dma_copy(dst=out[n - 1 - i, j], src=rows[i][m - 1 - j])\n"
        "    return out\n",
        lambda given: given["x"][::-1, ::-1], 2, 3, 4, 5,
    ),
    _case(
        "one list from two loops",
        "def k(x):\n    n, m, p, f = x.shape\n    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\n"
        f"    tiles = []\n    for i in range(n):\n        for j in range(m):\n            t = {_TILE}\n"
        "            nisa.dma_copy(dst=t, src=x[i, j])\n            tiles.append(t)\n    for i in range(n):\n"
        "        for j in range(m):\n            nisa.dma_copy(dst=out[i, j], src=tiles[i * m + j])\n    return out\n",
        _same, 2, 3, 4, 5,
    ),
    _case(
        "pairs that a helper lists",
        "def tiled(total, size):\n    made = []\n    for i in range((total + size - 1) // size):\n"
        "        start = i * size\n"
        "        made.append((start, min(size, total - start)))\n    return tuple(made)\n\n\n"
        f"def k(x):\n{_MATRIX}    for start, size in tiled(f, 3):\n"
        "        t = nl.ndarray((p, size), dtype=x.dtype, buffer=nl.sbuf)\n"
        "        nisa.dma_copy(dst=t, src=x[:, start:start + size])\n"
        "        nisa.dma_copy(dst=out[:, start:start + size], src=t)\n    return out\n",
        _same, 4, 7,
    ),
    _case(
        "tiles of different sizes in a list",
        f"def k(x):\n{_MATRIX}    tiles = []\n    n = (f + 2) // 3\n    for i in range(n):\n"
        "        size = min(3, f - i * 3)\n        t = nl.ndarray((p, size), dtype=x.dtype, buffer=nl.sbuf)\n"
        "        nisa.dma_copy(dst=t, src=x[:, i * 3:i * 3 + size])\n        tiles.append(t)\n    for i in range(n):\n"
        "        nisa.dma_copy(dst=out[:, i * 3:i * 3 + min(3, f - i * 3)], src=tiles[i])\n    return out\n",
        _same, 4, 7,
    ),
    _case(
        "objects in a list",
        f"def k(x):\n{_ROWS}    made = []\n    for i in range(n):\n"
        f"        made.append({{'at': n - 1 - i, 'tile': {_TILE}}})\n"
        "    for item in made:\n        nisa.dma_copy(dst=item['tile'], src=x[item['at']])\n"
        "    for item, j in zip(made, range(n)):\n        nisa.dma_copy(dst=out[j], src=item['tile'])\n"
        "    return out\n",
        _reversed, 3, 4, 5,
    ),
    _case(
        "a counter that advances",
        f"def k(x):\n{_MATRIX}    at = 0\n    for i in range(f):\n        t = {_COLUMN}\n"
        "        nisa.dma_copy(dst=t, src=x[:, at:at + 1])\n"
        "        nisa.dma_copy(dst=out[:, f - 1 - at:f - at], src=t)\n        at += 1\n    return out\n",
        lambda given: given["x"][:, ::-1], 4, 7,
    ),
    _case(
        "a counter of two loops and a step",
        f"def k(x):\n{_MATRIX}    at = 0\n    for i in range(0, f, 2):\n        for j in range(2):\n"
        f"            t = {_COLUMN}\n"
        "            nisa.dma_copy(dst=t, src=x[:, at:at + 1])\n"
        "            nisa.dma_copy(dst=out[:, i + 1 - j:i + 2 - j], src=t)\n            at += 1\n    return out\n",
        lambda given: given["x"].reshape(4, 3, 2)[:, :, ::-1].reshape(4, 6), 4, 6,
    ),
    _case(
        "a flag of the first round",
        f"def k(x):\n    n, p, f = x.shape\n    out = nl.ndarray((p, f), dtype=x.dtype, buffer=nl.shared_hbm)\n"
        f"    acc = {_TILE}\n"
        f"    first = True\n    for i in range(n):\n        t = {_TILE}\n        nisa.dma_copy(dst=t, src=x[i])\n"
        "        if first:\n            nisa.tensor_copy(dst=acc, src=t)\n        else:\n"
        "            nisa.tensor_tensor(dst=acc, data1=acc, data2=t, op=nl.maximum)\n        first = False\n"
        "    nisa.dma_copy(dst=out, src=acc)\n    return out\n",
        lambda given: given["x"].max(0), 3, 4, 5,
    ),
    _case(
        "a while that counts",
        f"def k(x):\n{_MATRIX}    at = 0\n    while at < f:\n        t = {_COLUMN}\n"
        "        nisa.dma_copy(dst=t, src=x[:, at:at + 1])\n        nisa.dma_copy(dst=out[:, at:at + 1], src=t)\n"
        "        at += 1\n    return out\n",
        _same, 4, 7,
    ),
    _case(
        "places that a generator gives",
        "def places(total, step):\n    for i in range((total + step - 1) // step):\n"
        "        yield i, i * step, min(step, total - i * step)\n\n\n"
        f"def k(x):\n{_MATRIX}    for i, first, count in places(p, 4):\n"
        "        t = nl.ndarray((4, f), dtype=x.dtype, buffer=nl.sbuf)\n"
        "        nisa.dma_copy(dst=t[:count], src=x[first:first + count])\n"
        "        nisa.tensor_scalar(dst=t[:count], data=t[:count], op0=nl.add, operand0=2.0)\n"
        "        nisa.dma_copy(dst=out[first:first + count], src=t[:count])\n    return out\n",
        lambda given: given["x"] + 2, 10, 5,
    ),
    _case(
        "tiles that take turns",
        f"def k(x):\n{_ROWS}    tiles = [{_TILE} for _ in range(3)]\n    for i in range(n):\n"
        "        nisa.dma_copy(dst=tiles[i % 3], src=x[i])\n"
        "        if i > 1:\n            nisa.tensor_tensor(dst=tiles[i % 3], data1=tiles[i % 3],"
        " data2=tiles[(i - 1) % 3], op=nl.add)\n"
        "        nisa.dma_copy(dst=out[i], src=tiles[i % 3])\n    return out\n",
        lambda given: _added_up(given["x"]), 5, 4, 3,
    ),
    _case(
        "a list that each round makes anew from the one before",
        f"def k(x):\n{_ROWS}    old = []\n    for j in range(n):\n        t = {_TILE}\n"
        "        nisa.dma_copy(dst=t, src=x[j])\n        old.append(t)\n"
        "    for i in range(p):\n        new = []\n        for j in range(n):\n"
        f"            t = {_TILE}\n"
        "            nisa.tensor_scalar(dst=t, data=old[n - 1 - j], op0=nl.add, operand0=1.0)\n"
        "            new.append(t)\n        old = new\n"
        "    for j in range(n):\n        nisa.dma_copy(dst=out[j], src=old[j])\n    return out\n",
        lambda given: _five_times_one_more(given["x"])[::-1], 3, 5, 4,
    ),
    _case(
        "a tile that the last round made",
        f"def k(x):\n{_ROWS}    for i in range(n):\n        t = {_TILE}\n"
        "        nisa.dma_copy(dst=t, src=x[i])\n"
        "    for i in range(n):\n        nisa.dma_copy(dst=out[i], src=t)\n    return out\n",
        lambda given: np.broadcast_to(given["x"][-1:], given["x"].shape), 3, 4, 5,
    ),
    *(
        _case(
            f"a list of which a loop fills {part}",
            f"def k(x):\n{_MATRIX}    t, r = {_TILE}, {_TILE}\n    nisa.dma_copy(dst=t, src=x)\n"
            "    nisa.memset(r, value=7.0)\n    mask = [255] * 32\n"
            f"    for i in range({first}, f):\n        mask[{place}] = {value}\n"
            "    nisa.nc_stream_shuffle(dst=r, src=t, shuffle_mask=mask)\n"
            "    nisa.dma_copy(dst=out, src=r)\n    return out\n",
            partial(_shuffled, first=first, place=eval(f"lambda i, f: {place}"), value=eval(f"lambda i, f: {value}")),
            64, 5,
        )
        for part, first, place, value in (
            ("a part", 0, "3 + i", "2 * i"),
            ("both ends", 0, "i - 2", "i + f"),
            ("nothing", 5, "i", "0"),
        )
    ),
)  # fmt: skip
