"""llm.c, dev/cuda: softmax over rows, in every order it is written in."""

from __future__ import annotations

from typing import Any

import numpy as np
from tools.public_kernels.arithmetic import BFLOAT16, FLOAT32, FLOAT64, Arithmetic
from tools.public_kernels.case import Case, Expected, Run, blocks_for
from tools.public_kernels.inputs import normal, untouched
from tools.public_kernels.orders import Fold, Order, sequential, strided, together, warps


def softmax(
    random: np.random.Generator, rows: int, columns: int, block: int, grid: int, order: Order, shared: int = 0,
    in_double: bool = False,
) -> Run:  # fmt: skip
    inputs = normal(random, rows, columns) * np.float32(3)

    def reference(arithmetic: Arithmetic) -> Expected:
        x = arithmetic.of(inputs)
        powers = (x - x.largest()).call("expf")
        terms = powers.to(FLOAT64) if in_double else powers
        return {"out": powers / terms.sum(order).to(FLOAT32)}

    return Run(
        grid=(grid,), block=(block,), shared_bytes=shared, reference=reference,
        arguments={"out": untouched(rows, columns), "inp": inputs, "N": rows, "C": columns},
    )  # fmt: skip


def by_thread(random: np.random.Generator, rows: int, columns: int, block: int) -> Run:
    grid = blocks_for(rows, block)
    return softmax(random, rows, columns, block, grid, (sequential(),), in_double=True)


def by_block(random: np.random.Generator, rows: int, columns: int, block: int, levels: str) -> Run:
    orders = {
        "shared tree": (strided(block), together(Fold.HALVING)),
        "one warp": (strided(32), warps()),
        "warps, then one thread": (strided(block), warps(), sequential()),
    }
    return softmax(random, rows, columns, block, rows, orders[levels], shared=4 * block)


def online(
    random: np.random.Generator,
    rows: int,
    columns: int,
    block: int,
    by_warp: bool,
    combined: int,
    in_double: bool = False,
) -> Run:
    """Maximum and sum in one pass; a term passes the steps of its lane and `combined` more between lanes."""
    inputs = normal(random, rows, columns) * np.float32(3)
    steps = (blocks_for(columns, 32) if by_warp else columns) + combined

    def reference(arithmetic: Arithmetic) -> Expected:
        x = arithmetic.of(inputs)
        largest = x.largest()
        total = x.online_sum(largest, steps)
        powers = (x - largest).call("expf")
        return {"out": (powers.to(FLOAT64) / total.to(FLOAT64)).to(FLOAT32) if in_double else powers / total}

    threads = rows * 32 if by_warp else rows
    return Run(
        grid=(blocks_for(threads, block),), block=(block,), reference=reference,
        arguments={"out": untouched(rows, columns), "inp": inputs, "N": rows, "C": columns},
    )  # fmt: skip


def triangular(random: np.random.Generator, count: int, time: int, block: int, dtype: Any = np.float32) -> Run:
    """Row t of a (T, T) matrix over its first t + 1 elements, scaled; the others stay as they were."""
    inputs = normal(random, count, time, time, dtype=dtype)
    before = untouched(count, time, time, dtype=dtype)
    visible = np.tril(np.ones((time, time), bool))
    scale = np.float32(0.37)
    steps = 5 * blocks_for(time, 128) + 2 + 1 + 31

    def reference(arithmetic: Arithmetic) -> Expected:
        x = arithmetic.of(np.where(visible, inputs.astype(np.float32), np.float32(-np.inf)))
        largest = x.largest()
        total = x.online_sum(largest, steps, scale=float(scale))
        powers = (arithmetic.of(scale) * (x - largest)).call("expf")
        probabilities = (powers * (1.0 / total)).to(np.dtype(dtype))
        return {"out": probabilities.where(np.broadcast_to(visible, before.shape), arithmetic.of(before))}

    return Run(
        grid=(blocks_for(count * time * 32, block),), block=(block,), reference=reference,
        arguments={"out": before, "inv_temperature": scale, "inp": inputs, "N": count, "T": time},
    )  # fmt: skip


_ROWS = (
    {"rows": 8, "columns": 512, "block": 128},
    {"rows": 11, "columns": 333, "block": 128},
    {"rows": 3, "columns": 1031, "block": 512},
)
_WARPS = ({"rows": 32, "columns": 256, "block": 128}, {"rows": 37, "columns": 131, "block": 128})
_THREADS = ({"rows": 1024, "columns": 32, "block": 128}, {"rows": 1031, "columns": 19, "block": 128})
_FILE = "softmax_forward.cu"

CASES = (
    Case(file=_FILE, kernel="softmax_forward_kernel1", build=by_thread, sizes=_THREADS),
    Case(
        file=_FILE,
        kernel="softmax_forward_kernel2",
        build=by_block,
        sizes=tuple({**size, "levels": "shared tree"} for size in _ROWS),
    ),
    Case(
        file=_FILE,
        kernel="softmax_forward_kernel3",
        build=by_block,
        sizes=(
            {"rows": 32, "columns": 96, "block": 32, "levels": "one warp"},
            {"rows": 33, "columns": 109, "block": 32, "levels": "one warp"},
        ),
    ),
    *(
        Case(
            file=file,
            kernel=kernel,
            build=by_block,
            sizes=tuple({**size, "levels": "warps, then one thread"} for size in _ROWS),
        )
        for file, kernel in ((_FILE, "softmax_forward_kernel7"), ("attention_forward.cu", "softmax_forward_kernel4"))
    ),
    Case(
        file=_FILE,
        kernel="softmax_forward_kernel4",
        build=by_block,
        sizes=tuple({**size, "levels": "warps, then one thread"} for size in _ROWS),
        explained={
            "race": "element 0 holds the maximum, which threads read, and then a warp's sum, with no barrier between"
        },
    ),
    Case(
        file=_FILE,
        kernel="softmax_forward_online_kernel1",
        build=online,
        sizes=tuple({**size, "by_warp": False, "combined": 0, "in_double": True} for size in _THREADS),
    ),
    Case(
        file=_FILE,
        kernel="softmax_forward_online_kernel2",
        build=online,
        sizes=tuple({**size, "by_warp": True, "combined": 31} for size in _WARPS),
    ),
    Case(
        file=_FILE,
        kernel="softmax_forward_online_kernel8",
        build=online,
        sizes=tuple({**size, "by_warp": True, "combined": 5} for size in _WARPS),
    ),
    Case(
        file="attention_forward.cu",
        kernel="softmax_forward_kernel5",
        build=triangular,
        sizes=({"count": 2, "time": 16, "block": 128}, {"count": 1, "time": 140, "block": 96}),
    ),
    Case(
        file="attention_forward.cu",
        kernel="softmax_forward_kernel5_lowp",
        build=triangular,
        sizes=(
            {"count": 2, "time": 16, "block": 128, "dtype": BFLOAT16},
            {"count": 1, "time": 140, "block": 96, "dtype": BFLOAT16},
        ),
    ),
)
