"""llm.c, dev/cuda: layer normalisation, alone and fused with a residual, and the global norm."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from tools.public_kernels.arithmetic import BFLOAT16, FLOAT32, Arithmetic, Number
from tools.public_kernels.case import Array, Case, Expected, Run, blocks_for
from tools.public_kernels.inputs import normal, untouched
from tools.public_kernels.orders import Fold, Order, Stage, rows_of, sequential, strided, together, warps

LIBRARY = warps(Fold.ANY)
"""`cg::reduce` over a warp: its order is not stated."""
_EPSILON = 1e-5


def statistics(
    x: Number, order: Order, *, one_pass: bool, width: int = 1, mean_of: Number | None = None, root: bool = True
) -> tuple[Number, Number]:
    """Mean and reciprocal standard deviation of rows; lanes read `width` neighbours at a time."""
    count = float(x.shape[-1])
    mean = packed(x if mean_of is None else mean_of, width).sum(order) / count
    if one_pass:
        variance = packed(x * x, width).sum(order) / count - mean * mean
    else:
        apart = x - mean
        variance = packed(apart * apart, width).sum(order) / count
    shifted = variance + _EPSILON
    return mean, 1.0 / shifted.call("sqrtf") if root else shifted.call("rsqrtf")


def packed(terms: Number, width: int) -> Number:
    """Terms in the order in which 32 lanes that read `width` neighbours each add them, lane beside lane."""
    if width == 1:
        return terms

    def change(array: Array) -> Array:
        chunks = rows_of(array, 32 * width)
        moved = np.swapaxes(chunks.reshape(*chunks.shape[:-1], 32, width), -1, -2)
        return moved.reshape(*array.shape[:-1], -1)

    return terms.moved(change)


def layernorm(
    random: np.random.Generator,
    rows: int,
    columns: int,
    block: tuple[int, ...],
    grid: int,
    order: Order,
    one_pass: bool,
    root: bool,
    width: int = 1,
    shared: int = 0,
    dtype: Any = np.float32,
) -> Run:
    inputs = normal(random, rows, columns, dtype=dtype) + np.asarray(0.5, dtype)
    weight, bias = normal(random, columns, dtype=dtype), normal(random, columns, dtype=dtype)

    def reference(arithmetic: Arithmetic) -> Expected:
        x, w, b = (arithmetic.of(array).to(FLOAT32) for array in (inputs, weight, bias))
        mean, deviation = statistics(x, order, one_pass=one_pass, width=width, root=root)
        scaled = deviation * (x - mean) * w + b
        results = {"out": scaled, "mean": mean[..., 0], "rstd": deviation[..., 0]}
        return {name: result.to(np.dtype(dtype)) for name, result in results.items()}

    return Run(
        grid=(grid,),
        block=block,
        shared_bytes=shared,
        reference=reference,
        arguments={
            "out": untouched(rows, columns, dtype=dtype),
            "mean": untouched(rows, dtype=dtype),
            "rstd": untouched(rows, dtype=dtype),
            "inp": inputs,
            "weight": weight,
            "bias": bias,
            "N": rows,
            "C": columns,
        },
    )


def by_thread(random: np.random.Generator, rows: int, columns: int, block: int, dtype: Any = np.float32) -> Run:
    grid = blocks_for(rows, block)
    return layernorm(random, rows, columns, (block,), grid, (sequential(),), one_pass=False, root=True, dtype=dtype)


def by_warp(
    random: np.random.Generator, rows: int, columns: int, block: int, one_pass: bool, has_statistics: bool = True
) -> Run:
    grid = blocks_for(rows * 32, block)
    run = layernorm(random, rows, columns, (block,), grid, (strided(32), LIBRARY), one_pass=one_pass, root=False)
    if has_statistics:
        return run
    return replace(run, arguments={**run.arguments, "mean": None, "rstd": None})


def by_block(random: np.random.Generator, rows: int, columns: int, block: int) -> Run:
    order = (strided(block), LIBRARY, LIBRARY)
    return layernorm(random, rows, columns, (block,), rows, order, one_pass=True, root=False)


def in_shared_memory(random: np.random.Generator, rows: int, columns: int, per_block: int) -> Run:
    return layernorm(
        random, rows, columns, (32, per_block), blocks_for(rows, per_block), (strided(32), warps()), one_pass=False,
        root=False, width=4, shared=(2 + per_block) * columns * 4,
    )  # fmt: skip


def moment(random: np.random.Generator, rows: int, columns: int, block: int, is_mean: bool) -> Run:
    inputs, means = normal(random, rows, columns), normal(random, rows)
    order = (strided(block), together(Fold.HALVING))

    def reference(arithmetic: Arithmetic) -> Expected:
        x, count = arithmetic.of(inputs), float(columns)
        if is_mean:
            return {"mean": (x.sum(order) / count)[..., 0]}
        apart = x - arithmetic.of(means[:, None])
        return {"rstd": (1.0 / ((apart * apart).sum(order) / count + _EPSILON).call("sqrtf"))[..., 0]}

    outputs = {"mean": untouched(rows) if is_mean else means} | ({} if is_mean else {"rstd": untouched(rows)})
    return Run(
        grid=(rows,), block=(block,), shared_bytes=4 * block, reference=reference,
        arguments={**outputs, "inp": inputs, "N": rows, "C": columns, "block_size": block},
    )  # fmt: skip


def normalization(random: np.random.Generator, batch: int, time: int, columns: int, block: int) -> Run:
    inputs, means = normal(random, batch * time, columns), normal(random, batch * time)
    deviations, weight, bias = abs(normal(random, batch * time)), normal(random, columns), normal(random, columns)

    def reference(arithmetic: Arithmetic) -> Expected:
        x, mean, deviation = arithmetic.of(inputs), arithmetic.of(means[:, None]), arithmetic.of(deviations[:, None])
        return {"out": deviation * (x - mean) * arithmetic.of(weight) + arithmetic.of(bias)}

    return Run(
        grid=(batch * time * columns // block,), block=(block,), reference=reference,
        arguments={
            "out": untouched(batch * time, columns), "inp": inputs, "mean": means, "rstd": deviations, "weight": weight,
            "bias": bias, "B": batch, "T": time, "C": columns,
        },
    )  # fmt: skip


def fused_residual(
    random: np.random.Generator,
    rows: int,
    columns: int,
    block: tuple[int, ...],
    grid: int,
    order: Order,
    one_pass: bool,
    root: bool,
    width: int = 1,
    shared: int = 0,
    mean_of_rounded: bool = True,
) -> Run:
    first, second = normal(random, rows, columns, dtype=BFLOAT16), normal(random, rows, columns, dtype=BFLOAT16)
    weight, bias = normal(random, columns, dtype=BFLOAT16), normal(random, columns, dtype=BFLOAT16)

    def reference(arithmetic: Arithmetic) -> Expected:
        wide = arithmetic.of(first).to(FLOAT32) + arithmetic.of(second).to(FLOAT32)
        # What the kernel reads back is a fixed array of bfloat16: its rounding is decided once, not twice.
        stored = arithmetic.of((first.astype(np.float32) + second.astype(np.float32)).astype(BFLOAT16))
        x = stored.to(FLOAT32)
        mean, deviation = statistics(
            x, order, one_pass=one_pass, width=width, root=root, mean_of=None if mean_of_rounded else wide
        )
        scaled = deviation * (x - mean) * arithmetic.of(weight).to(FLOAT32) + arithmetic.of(bias).to(FLOAT32)
        results = {"normed": scaled, "mean": mean[..., 0], "rstd": deviation[..., 0]}
        return {"residual": stored} | {name: result.to(BFLOAT16) for name, result in results.items()}

    outputs = {"residual": (rows, columns), "normed": (rows, columns), "mean": (rows,), "rstd": (rows,)}
    return Run(
        grid=(grid,),
        block=block,
        shared_bytes=shared,
        reference=reference,
        arguments={
            **{name: untouched(*shape, dtype=BFLOAT16) for name, shape in outputs.items()},
            "inp1": first,
            "inp2": second,
            "weight": weight,
            "bias": bias,
            "N": rows,
            "C": columns,
        },
    )


def fused_by_thread(random: np.random.Generator, rows: int, columns: int, block: int) -> Run:
    return fused_residual(
        random, rows, columns, (block,), blocks_for(rows, block), (sequential(),), one_pass=False, root=True,
        mean_of_rounded=False,
    )  # fmt: skip


def fused_by_warp(
    random: np.random.Generator, rows: int, columns: int, per_block: int, one_pass: bool, root: bool, width: int,
    mean_of_rounded: bool = True, in_shared: bool = False,
) -> Run:  # fmt: skip
    return fused_residual(
        random,
        rows,
        columns,
        (32, per_block),
        blocks_for(rows, per_block),
        (strided(32), warps()),
        one_pass=one_pass,
        root=root,
        width=width,
        mean_of_rounded=mean_of_rounded,
        shared=(2 + per_block) * columns * 2 if in_shared else 0,
    )


def fused_by_warps(
    random: np.random.Generator, rows: int, columns: int, warps_a_row: int, depth: int, grid: int
) -> Run:
    """Several warps a row: lane (x, y) reads 8 neighbours at 8 * (x + 32 y), the next 256 * warps further on."""
    shared = (2 + depth) * columns * 2 + 64 * 4 * depth
    lanes = 32 * warps_a_row

    def group(terms: Array) -> Array:
        chunks = rows_of(terms, lanes * 8)
        moved = np.moveaxis(chunks.reshape(*chunks.shape[:-1], lanes, 8), -3, -2)
        return moved.reshape(*terms.shape[:-1], lanes, -1)

    order = (Stage(Fold.SEQUENTIAL, group), warps(), warps())
    return fused_residual(
        random, rows, columns, (32, warps_a_row, depth), grid, order, one_pass=False, root=False, shared=shared
    )


def global_norm(random: np.random.Generator, count: int, grid: int, block: int, library: bool, ends: str) -> Run:
    """Sum of squares: each thread strides over all, then warps, then blocks; `ends` says who adds to the output."""
    data = normal(random, count, dtype=BFLOAT16)
    across = LIBRARY if library else warps()

    def reference(arithmetic: Arithmetic) -> Expected:
        x = arithmetic.of(data).to(FLOAT32)
        lanes = (x * x).sum((strided(grid * block),)).reshape(grid, block)
        partial = lanes.sum((across,) if ends == "warp" else (across, across)).reshape(1, -1)
        return {"out": partial[0] if ends == "none" else partial.sum((together(Fold.ANY),))[0]}

    size = grid if ends == "none" else 1
    return Run(
        grid=(grid,), block=(block,), reference=reference,
        arguments={"out": np.zeros(size, np.float32), "data": data, "count": count},
    )  # fmt: skip


def norm_aggregate(random: np.random.Generator, count: int) -> Run:
    sums = abs(normal(random, 1024))

    def reference(arithmetic: Arithmetic) -> Expected:
        total = arithmetic.of(sums[:count]).sum((strided(1024), warps(), warps()))
        return {"out": arithmetic.of(sums).where(np.arange(1024) > 0, total)}

    return Run(
        grid=(1,), block=(1024,), reference=reference, arguments={"out": sums, "count": count},
    )  # fmt: skip


_FILE, _FUSED, _NORM = "layernorm_forward.cu", "fused_residual_forward.cu", "global_norm.cu"
_WIDTH = (("T", "floatX"),)
_THREADS = ({"rows": 1024, "columns": 24, "block": 128}, {"rows": 1031, "columns": 19, "block": 128})
_WARPS = ({"rows": 32, "columns": 256, "block": 128}, {"rows": 37, "columns": 131, "block": 128})
_BLOCKS = ({"rows": 8, "columns": 512, "block": 128}, {"rows": 11, "columns": 333, "block": 128})
_ONE_ROW_OVER = {"out-of-bounds": "its guard is idx > N, so the thread after the last row runs"}


def _with(sizes: Any, **more: Any) -> tuple[dict[str, Any], ...]:
    return tuple({**size, **more} for size in sizes)


CASES = (
    Case(file=_FILE, kernel="layernorm_forward_kernel1", build=by_thread, sizes=_THREADS),
    Case(file=_FILE, kernel="mean_kernel", build=moment, sizes=_with(_BLOCKS, is_mean=True)),
    Case(file=_FILE, kernel="rstd_kernel", build=moment, sizes=_with(_BLOCKS, is_mean=False)),
    Case(
        file=_FILE,
        kernel="normalization_kernel",
        build=normalization,
        sizes=(
            {"batch": 2, "time": 16, "columns": 48, "block": 256},
            {"batch": 3, "time": 64, "columns": 29, "block": 96},
        ),
    ),
    Case(
        file=_FILE,
        kernel="layernorm_forward_kernel3",
        build=by_warp,
        sizes=(*_with(_WARPS, one_pass=False), *_with(_WARPS[:1], one_pass=False, has_statistics=False)),
    ),
    Case(file=_FILE, kernel="layernorm_forward_kernel4", build=by_warp, sizes=_with(_WARPS, one_pass=True)),
    Case(file=_FILE, kernel="layernorm_forward_kernel5", build=by_block, sizes=_BLOCKS),
    Case(
        file=_FILE,
        kernel="layernorm_forward_kernel6",
        build=in_shared_memory,
        sizes=({"rows": 32, "columns": 256, "per_block": 4}, {"rows": 37, "columns": 140, "per_block": 4}),
    ),
    Case(file=_FUSED, kernel="layernorm_forward_kernel1", build=by_thread, sizes=_with(_THREADS, dtype=BFLOAT16)),
    Case(
        file=_FUSED,
        kernel="fused_residual_forward2",
        build=fused_by_thread,
        sizes=_THREADS,
        explained=_ONE_ROW_OVER,
    ),
    Case(
        file=_FUSED,
        kernel="fused_residual_forward3",
        build=fused_by_warp,
        explained=_ONE_ROW_OVER,
        sizes=_with(
            ({"rows": 32, "columns": 256, "per_block": 4}, {"rows": 37, "columns": 131, "per_block": 4}),
            one_pass=False,
            root=True,
            width=1,
            mean_of_rounded=False,
        ),
    ),
    Case(
        file=_FUSED,
        kernel="fused_residual_forward_kernel4",
        build=fused_by_warp,
        explained=_ONE_ROW_OVER,
        sizes=_with(
            ({"rows": 32, "columns": 512, "per_block": 4}, {"rows": 37, "columns": 264, "per_block": 4}),
            one_pass=True,
            root=False,
            width=8,
        ),
    ),
    Case(
        file=_FUSED,
        kernel="fused_residual_forward_kernel5",
        build=fused_by_warp,
        explained=_ONE_ROW_OVER,
        sizes=_with(
            ({"rows": 32, "columns": 512, "per_block": 4}, {"rows": 37, "columns": 264, "per_block": 4}),
            one_pass=False,
            root=False,
            width=8,
            in_shared=True,
        ),
    ),
    Case(
        file=_FUSED,
        kernel="fused_residual_forward_kernel6",
        build=fused_by_warps,
        sizes=(
            {"rows": 32, "columns": 1024, "warps_a_row": 2, "depth": 2, "grid": 8},
            {"rows": 40, "columns": 776, "warps_a_row": 3, "depth": 2, "grid": 10},
        ),
    ),
    *(
        Case(
            file=_NORM,
            kernel=f"norm_kernel{number}",
            build=global_norm,
            defines=_WIDTH,
            sizes=_with(({"count": 8192}, {"count": 5003}), grid=8, block=128, library=library, ends=ends),
        )
        for number, library, ends in ((1, True, "block"), (2, True, "warp"), (3, False, "block"), (4, False, "none"))
    ),
    Case(
        file=_NORM, kernel="global_norm_aggregate_kernel", build=norm_aggregate, sizes=({"count": 1000}, {"count": 27})
    ),
)
