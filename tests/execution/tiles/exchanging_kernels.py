"""Data exchanged between ranks and between the cores of one (second generation)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from tests.execution.tiles.ports import NEW, OLD, Case, normal

WITH_COLLECTIVES = NEW.replace("import nki.isa", "import nki.collectives as ncc\nimport nki.isa")

ON_RANKS = (
    WITH_COLLECTIVES
    + """
def kernel(x):
    n, m = x.shape
    out = nl.ndarray(({shape}), dtype=x.dtype, buffer=nl.shared_hbm)
    own = nl.ndarray((n, m), dtype=x.dtype, buffer=nl.private_hbm)
    nisa.dma_copy(dst=own, src=x)
    groups = ncc.ReplicaGroup([[0, 2], [3, 1]])
    {call}
    return out
"""
)
GROUPS = ((0, 2), (3, 1))
LISTS = "srcs=[own], dsts=[out], replica_group=groups"

Parts = list[Any]


def on_ranks(name: str, call: str, shape: str, of_group: Callable[[Parts], Parts], dtype: Any = np.float32) -> Case:
    """Four ranks in two groups; `of_group` gives what each of a group gets of what they give."""
    given = [normal(300 + rank, 6, 5, dtype=dtype) for rank in range(4)]
    got: dict[int, Any] = {}
    for group in GROUPS:
        got.update(zip(group, of_group([given[rank] for rank in group]), strict=True))
    wanted = tuple(got[rank] for rank in range(4))
    return Case(
        name, ON_RANKS.format(call=call, shape=shape), {"x": given[0]}, lambda _: wanted,
        ranks=tuple({"x": array} for array in given),
    )  # fmt: skip


BF16 = ml_dtypes.bfloat16
COLLECTIVES = (
    on_ranks(
        "all_reduce adds", f"ncc.all_reduce({LISTS}, op=nl.add)", "n, m", lambda parts: [parts[0] + parts[1]] * 2
    ),
    on_ranks(
        "all_reduce adds in float32 and rounds once", f"ncc.all_reduce({LISTS}, op=nl.add)", "n, m",
        lambda parts: [parts[0].astype(np.float64) + parts[1].astype(np.float64)] * 2, dtype=BF16,
    ),
    on_ranks(
        "all_reduce of the smallest", f"ncc.all_reduce({LISTS}, op=nl.minimum)", "n, m",
        lambda parts: [np.minimum(*parts)] * 2,
    ),
    on_ranks(
        "reduce_scatter", f"ncc.reduce_scatter({LISTS}, collective_dim=0, op=nl.maximum)", "n // 2, m",
        lambda parts: list(np.split(np.maximum(*parts), 2)),
    ),
    on_ranks(
        "all_gather in the order of the group", f"ncc.all_gather({LISTS}, collective_dim=0)", "2 * n, m",
        lambda parts: [np.concatenate(parts)] * 2,
    ),
    on_ranks(
        "all_to_all", f"ncc.all_to_all({LISTS}, collective_dim=0)", "n, m",
        lambda parts: [np.concatenate([part[3 * place : 3 * place + 3] for part in parts]) for place in range(2)],
    ),
    on_ranks(
        "collective_permute",
        "ncc.collective_permute(srcs=[own], dsts=[out], source_target_pairs=[(0, 2), (2, 0), (1, 3), (3, 1)])", "n, m",
        lambda parts: parts[::-1],
    ),
    on_ranks(
        "collective_permute_implicit",
        "ncc.collective_permute_implicit(srcs_by_channel=[[own]], dsts_by_channel=[[out]], replica_group=groups)",
        "n, m", lambda parts: [parts[-1], *parts[:-1]],
    ),
    on_ranks(
        "collective_permute_implicit of as many channels as there are rows",
        "gave, got = [], []\n"
        "    for channel in range(n):\n"
        "        gave.append([own[channel : channel + 1]])\n"
        "        got.append([out[n - 1 - channel : n - channel]])\n"
        "    ncc.collective_permute_implicit(srcs_by_channel=gave, dsts_by_channel=got, replica_group=groups)",
        "n, m", lambda parts: [parts[-1][::-1], *(part[::-1] for part in parts[:-1])],
    ),
    on_ranks(
        "collective_permute_implicit_reduce",
        "ncc.collective_permute_implicit_reduce(srcs0_by_channel=[[own]], srcs1_by_channel=[[x]],"
        " dsts_by_channel=[[out]], replica_group=groups, op=nl.add)",
        "n, m", lambda parts: [2 * parts[-1], *(2 * part for part in parts[:-1])],
    ),
)  # fmt: skip

RANK = (
    WITH_COLLECTIVES
    + """
def kernel(x):
    n, m = x.shape
    out = nl.ndarray((n, m), dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray((n, m), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x)
    nisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0=ncc.rank_id())
    nisa.dma_copy(dst=out, src=t)
    return out
"""
)
SWAP = (
    NEW
    + """
def kernel(x):
    n, m = x.shape
    me = nl.program_id(0)
    half = n // nl.num_programs(0)
    out = nl.ndarray((n, m), dtype=x.dtype, buffer=nl.shared_hbm)
    mine = nl.ndarray((half, m), dtype=x.dtype, buffer=nl.sbuf)
    other = nl.ndarray((half, m), dtype=x.dtype, buffer=nl.sbuf)
    for step in range(3):
        nisa.dma_copy(dst=mine, src=x[nl.ds(me * half, half), :])
        nisa.sendrecv(src=mine, dst=other, send_to_rank=1 - me, recv_from_rank=1 - me, pipe_id=0)
        nisa.tensor_tensor(dst=other, data1=other, data2=mine, op=nl.subtract)
    nisa.dma_copy(dst=out[nl.ds(me * half, half), :], src=other)
    return out
"""
)
OWN = (
    NEW
    + """
def kernel(x):
    n, m = x.shape
    me = nl.program_id(0)
    half = n // 2
    out = nl.ndarray((n, m), dtype=x.dtype, buffer=nl.shared_hbm)
    scratch = nl.ndarray((half, m), dtype=x.dtype, buffer=nl.private_hbm)
    nisa.dma_copy(dst=scratch, src=x[nl.ds(me * half, half), :])
    nisa.core_barrier(data=out, cores=(0, 1))
    nisa.dma_copy(dst=out[nl.ds(me * half, half), :], src=scratch)
    return out
"""
)
X = normal(310, 14, 5)
SINGLE = (
    Case(
        "rank_id", RANK, {"x": X}, lambda _: (X, X + np.float32(1)), ranks=({"x": X}, {"x": X}),
    ),
    Case(
        "sendrecv", SWAP, {"x": X}, lambda given: (np.roll(given["x"], 7, 0) - given["x"],), grid=(2,),
    ),
    Case("private memory is not seen by the other core", OWN, {"x": X}, lambda given: (given["x"],), grid=(2,)),
)  # fmt: skip

ALONG = (
    OLD
    + """
def kernel(x):
    a, b, n, m = x.shape
    out = nl.ndarray((a, b, n, m), dtype=x.dtype, buffer=nl.shared_hbm)
    i, j = nl.program_id(0), nl.program_id(1)
    f = nl.arange(8)[None, :]
    p = nl.arange(n)[:, None]
    t = nl.load(x[i, j, p, f], mask=f < m)
    {call}
    nl.store(out[i, j, p, f], t, mask=f < m)
    return out
"""
)
GRID = normal(320, 2, 3, 6, 5)
HALVES = normal(321, 2, 3, 6, 5, dtype=BF16)


def along(name: str, call: str, given: Any, combined: Callable[[Any], Any]) -> Case:
    """A grid of 2 by 3 program instances, each with a tile of its own."""
    return Case(
        name, ALONG.format(call=call), {"x": given},
        lambda arrays: (np.broadcast_to(combined(arrays["x"].astype(np.float64)), given.shape),), grid=(2, 3),
    )  # fmt: skip


PROGRAMS = (
    along(
        "instances add along the first axis of the grid",
        "t = nl.all_reduce(t, op=np.add, program_axes=[i], mask=f < m)", GRID, lambda x: x.sum(0, keepdims=True),
    ),
    along(
        "instances find the largest along the second axis",
        "t = nl.all_reduce(t, np.max, 1, mask=f < m)", GRID, lambda x: x.max(1, keepdims=True),
    ),
    along(
        "instances find the smallest of the whole grid, twice",
        "for r in nl.sequential_range(2):\n        t[...] = nl.all_reduce(t, np.min, program_axes=(j, i), mask=f < m)",
        GRID, lambda x: x.min((0, 1), keepdims=True),
    ),
    along(
        "instances add in float32 and round once", "t = nl.all_reduce(t, np.add, program_axes=j, mask=f < m)",
        HALVES, lambda x: x.sum(1, keepdims=True),
    ),
)  # fmt: skip

CASES = (*COLLECTIVES, *SINGLE, *PROGRAMS)
