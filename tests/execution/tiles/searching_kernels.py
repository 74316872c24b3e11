"""Kernels that search, sort, gather within partitions and shuffle between them."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.execution.tiles.ports import NEW, OLD, Arrays, Case, normal, whole

REPEATED = np.array(
    [[1, 2, 3, 4, 8, 8, 8, 8, 8, 8, 8, 0], [5, 5, 1, 5, 9, 9, 0, -1, 2, 5, 9, 5]] + [list(range(12))] * 2, np.float32
)
SEGMENTS = np.array([[0, 1, 1, 2, 2, 2, 0, 3, 3], [4, 4, 4, 0, 0, 1, 1, 1, 1]], np.int32)[:1]


def _tile(name: str, source: str, rows: int, columns: int, dtype: str = "nl.float32") -> str:
    return (
        f"    {name} = nl.ndarray(({rows}, {columns}), dtype={dtype}, buffer=nl.sbuf)\n"
        + (f"    nisa.dma_copy(dst={name}, src={source})\n" if source else "")
    )  # fmt: skip


def _handed_back(name: str, rows: int, columns: int, dtype: str) -> str:
    return (
        f"    out = nl.ndarray(({rows}, {columns}), dtype={dtype}, buffer=nl.shared_hbm)\n"
        f"    nisa.dma_copy(dst=out, src={name})\n    return out\n"
    )


def _largest(values: Any, count: int = 8) -> Any:
    return -np.sort(-values, axis=1)[:, :count]


def _found(row: Any, values: Any, *, from_last: bool) -> list[int]:
    """Where each of some values is found first, each element once."""
    left = list(row)
    places = [-1] * len(values)
    for at in reversed(range(len(values))) if from_last else range(len(values)):
        if values[at] in left:
            places[at] = left.index(values[at])
            left[places[at]] = np.nan
    return places


def _positions(given: Arrays, *, from_last: bool) -> Any:
    rows = zip(given["x"], given["v"], strict=True)
    return np.array([_found(row, values, from_last=from_last) for row, values in rows], np.int64)


def _replaced(given: Arrays) -> tuple[Any, Any]:
    places, made = _positions(given, from_last=True), given["x"].copy()
    for row, found in zip(made, places, strict=True):
        row[[place for place in found if place >= 0]] = -7.0
    return made, places.astype(np.uint32)


def _nonzero(given: Arrays) -> tuple[Any]:
    made = np.full((32, 9), 5, np.int32)
    for row in (0, 16):
        found = np.flatnonzero(given["x"][row]) + 100
        made[row, :8] = -3
        made[row, : len(found)] = found
        made[row, 8] = len(found)
    return (made,)


def _bounds(given: Arrays) -> tuple[Any]:
    (row,) = given["x"]
    count = len(row)
    first, last = np.full(count, count), np.full(count, -1)
    for place, segment in enumerate(row):
        if segment:
            run = place
            while run and row[run - 1] == segment:
                run -= 1
            first[place] = run
            while run < count and row[run] == segment:
                run += 1
            last[place] = run
    return (np.stack([first, last]).astype(np.int32),)


def _of_streams(given: Arrays, width: int, count: int) -> Any:
    made = []
    for first in range(0, len(given["x"]), 16):
        found = given["i"][first : first + 16].flatten(order="F")[:count]
        taken = [given["x"][first : first + 16, place : place + width] for place in found]
        made.append(np.stack(taken, axis=1).reshape(16, -1))
    return np.concatenate(made)


def _shuffled(given: Arrays) -> tuple[Any]:
    made = given["y"].copy()
    pattern = [31 - lane if lane % 4 else 255 for lane in range(32)]
    for start in (0, 32):
        for lane, source in enumerate(pattern):
            if source != 255:
                made[start + lane] = given["x"][start + source]
    return (made,)


OLDER = (
    OLD
    + """
def k(x, v, i):
    t = nl.load(x[0:4, 0:12])
    w = nl.load(v[0:4, 0:8])
    places = nl.ndarray((4, 8), dtype=nl.uint32, buffer=nl.shared_hbm)
    nl.store(places, value=nisa.nc_find_index8(data=t, vals=w))
    rest = nl.ndarray((4, 12), dtype=nl.float32, buffer=nl.shared_hbm)
    nl.store(rest, value=nisa.nc_match_replace8(data=t, vals=w, imm=-7.0))
    taken = nl.ndarray((4, 5), dtype=nl.float32, buffer=nl.shared_hbm)
    nl.store(taken, value=nl.gather_flattened(data=t, indices=nl.load(i[0:4, 0:5])))
    return places, rest, taken
"""
)
OLDER_STREAM = (
    OLD
    + """
def k(x, i):
    t = nl.load(x[0:32, 0:24])
    out = nl.ndarray((32, 20, 4), dtype=nl.float32, buffer=nl.shared_hbm)
    nl.store(out, value=nisa.local_gather(t, nl.load(i[0:32, 0:2]), 4, 20))
    return out
"""
)


def _older(given: Arrays) -> tuple[Any, Any, Any]:
    rest, _ = _replaced(given)
    taken = np.take_along_axis(given["x"], given["i"].astype(np.int64), 1)
    return _positions(given, from_last=False).astype(np.uint32), rest, taken


CASES = (
    Case(
        "searches of the first generation", OLDER,
        {"x": REPEATED, "v": np.array([[3] + [8] * 7, [5, 9, 5, 5, 7, 5, 9, 9], [11] * 8, list(range(8))], np.float32),
         "i": whole(10, 0, 12, 4, 5, dtype=np.uint32)},
        _older,
    ),
    Case(
        "gathers by sixteen partitions in the first generation", OLDER_STREAM,
        {"x": normal(11, 32, 24), "i": whole(12, 0, 20, 32, 2, dtype=np.uint16)},
        lambda given: (_of_streams(given, 4, 20).reshape(32, 20, 4),),
    ),
    Case(
        "max8 in descending order",
        NEW + "def k(x):\n" + _tile("t", "x[0:4, 0:40]", 4, 40) + _tile("m", "", 4, 8)
        + "    nisa.max8(dst=m, src=t)\n" + _handed_back("m", 4, 8, "nl.float32"),
        {"x": np.round(normal(1, 4, 40) * 4)},
        lambda given: (_largest(given["x"]),),
    ),
    Case(
        "max8 over two free dimensions of the first generation",
        OLD + "def k(x):\n    t = nl.load(x[0:4, 0:3, 0:8])\n    m = nisa.max8(src=t)\n"
        + _handed_back("m", 4, 8, "nl.float32").replace("nisa.dma_copy(dst=out, src=m)", "nl.store(out, value=m)"),
        {"x": normal(2, 4, 3, 8)},
        lambda given: (_largest(given["x"].reshape(4, 24)),),
    ),
    Case(
        "positions of eight values",
        NEW + "def k(x, v):\n" + _tile("t", "x[0:4, 0:12]", 4, 12) + _tile("w", "v[0:4, 0:8]", 4, 8)
        + _tile("p", "", 4, 8, "nl.uint32") + "    nisa.nc_find_index8(dst=p, data=t, vals=w)\n"
        + _handed_back("p", 4, 8, "nl.uint32"),
        {"x": REPEATED, "v": np.array([[3] + [8] * 7, [5, 9, 5, 5, 7, 5, 9, 9], [11] * 8, list(range(8))], np.float32)},
        lambda given: (_positions(given, from_last=False).astype(np.uint32),),
    ),
    Case(
        "eight values replaced",
        NEW + "def k(x, v):\n" + _tile("t", "x[0:4, 0:12]", 4, 12) + _tile("w", "v[0:4, 0:8]", 4, 8)
        + _tile("p", "", 4, 8, "nl.uint32") + "    nisa.nc_match_replace8(dst=t, data=t, vals=w, imm=-7.0, dst_idx=p)\n"
        + _handed_back("t", 4, 12, "nl.float32").replace("    return out\n", "")
        + _handed_back("p", 4, 8, "nl.uint32").replace("out", "places").replace("return places", "return out, places"),
        {"x": REPEATED, "v": np.array([[3] + [8] * 7, [5, 9, 5, 5, 7, 5, 9, 9], [11] * 8, list(range(8))], np.float32)},
        _replaced,
    ),
    Case(
        "positions of what is not zero",
        NEW + "def k(x):\n" + _tile("t", "x[0:32, 0:8]", 32, 8) + _tile("p", "", 32, 9, "nl.int32")
        + "    nisa.memset(p, value=5)\n    nisa.nonzero_with_count(dst=p, src=t, index_offset=100, padding_val=-3)\n"
        + _handed_back("p", 32, 9, "nl.int32"),
        {"x": (np.arange(256).reshape(32, 8) % 3 % 2).astype(np.float32)},
        _nonzero,
    ),
    Case(
        "bounds of segments",
        NEW + "def k(x):\n" + _tile("t", "x[0:1, 0:9]", 1, 9, "nl.int32")
        + "    b = nl.ndarray((1, 2, 9), dtype=nl.int32, buffer=nl.sbuf)\n"
        + "    nisa.sequence_bounds(dst=b, segment_ids=t)\n"
        + _handed_back("b", 2, 9, "nl.int32"),
        {"x": SEGMENTS},
        _bounds,
    ),
    Case(
        "elements gathered within partitions",
        NEW + "def k(x, i):\n" + _tile("t", "x[0:8, 0:24]", 8, 24) + _tile("j", "i[0:8, 0:5]", 8, 5, "nl.uint32")
        + _tile("g", "", 8, 5) + "    nisa.nc_n_gather(dst=g, data=t.reshape((8, 4, 6)), indices=j)\n"
        + "    h = nl.gather_flattened(t, j)\n    nisa.tensor_tensor(dst=g, data1=g, data2=h, op=nl.add)\n"
        + _handed_back("g", 8, 5, "nl.float32"),
        {"x": normal(3, 8, 24), "i": whole(4, 0, 24, 8, 5, dtype=np.uint32)},
        lambda given: (2 * np.take_along_axis(given["x"], given["i"].astype(np.int64), 1),),
    ),
    Case(
        "elements gathered by the indices of sixteen partitions",
        NEW + "def k(x, i):\n" + _tile("t", "x[0:32, 0:24]", 32, 24) + _tile("j", "i[0:32, 0:2]", 32, 2, "nl.uint16")
        + _tile("g", "", 32, 80)
        + "    nisa.local_gather(dst=g, src_buffer=t, index=j, num_elem_per_idx=4, num_valid_indices=20)\n"
        + _handed_back("g", 32, 80, "nl.float32"),
        {"x": normal(5, 32, 24), "i": whole(6, 0, 20, 32, 2, dtype=np.uint16)},
        lambda given: (_of_streams(given, 4, 20),),
    ),
    Case(
        "partitions shuffled, some of them kept",
        NEW + "def k(x, y):\n" + _tile("t", "x[0:64, 0:8]", 64, 8) + _tile("d", "y[0:64, 0:8]", 64, 8)
        + "    pattern = [31 - lane if lane % 4 else 255 for lane in range(32)]\n"
        + "    nisa.nc_stream_shuffle(dst=d, src=t, shuffle_mask=pattern)\n" + _handed_back("d", 64, 8, "nl.float32"),
        {"x": normal(7, 64, 8), "y": normal(8, 64, 8)},
        _shuffled,
    ),
    Case(
        "one partition spread over thirty-two",
        NEW + "def k(x):\n" + _tile("t", "x[0:1, 0:8]", 1, 8) + _tile("d", "", 32, 8)
        + "    nisa.nc_stream_shuffle(dst=d, src=t, shuffle_mask=[0] * 32)\n" + _handed_back("d", 32, 8, "nl.float32"),
        {"x": normal(9, 1, 8)},
        lambda given: (np.repeat(given["x"], 32, axis=0),),
    ),
)  # fmt: skip
