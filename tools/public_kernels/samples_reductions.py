"""cuda-samples: reductions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from tools.public_kernels.arithmetic import FLOAT32, FLOAT64, Arithmetic
from tools.public_kernels.case import Array, Case, Expected, Run
from tools.public_kernels.inputs import integers, normal, untouched
from tools.public_kernels.orders import Fold, Order, Stage, rows_of, sequential, strided, together, warps

_LIBRARY = warps(Fold.ANY)


def reduction(
    random: np.random.Generator, count: int, grid: int, block: int, whole: bool, order: Callable[[int, int], Order],
    shared: int | None = None,
) -> Run:  # fmt: skip
    """One sum a block; integers wrap, so that their order does not matter."""
    data = integers(random, -(2**31), 2**31, count) if whole else normal(random, count)

    def reference(arithmetic: Arithmetic) -> Expected:
        if whole:
            stages = order(grid, block)
            sums = data.astype(np.int64)
            for stage in stages:
                sums = stage.group(sums).sum(-1)
            return {"g_odata": sums.reshape(-1).astype(np.int32)}
        return {"g_odata": arithmetic.of(data).sum(order(grid, block)).reshape(-1)}

    return Run(
        grid=(grid,), block=(block,), shared_bytes=4 * block if shared is None else shared, reference=reference,
        arguments={"g_idata": data, "g_odata": untouched(grid, dtype=data.dtype), "n": count},
    )  # fmt: skip


def one_each(fold: Fold) -> Callable[[int, int], Order]:
    """A block takes `block` neighbours."""
    return lambda grid, block: (Stage(fold, lambda terms: blocks_of(terms, grid, block)),)


def two_each(grid: int, block: int) -> Order:
    """A block takes 2 * `block` neighbours, a thread the elements t and t + `block` of them."""
    return (Stage(Fold.HALVING, lambda terms: blocks_of(terms, grid, 2 * block)),)


def blocks_of(terms: Array, grid: int, width: int) -> Array:
    rows = rows_of(terms, width)
    padded = np.zeros((grid, width), terms.dtype)
    padded[: rows.shape[0]] = rows
    return padded


def over_grid(*then: Stage) -> Callable[[int, int], Order]:
    """A thread strides over the whole grid, then the stages `then` within a block."""
    return lambda grid, block: (
        Stage(Fold.SEQUENTIAL, lambda terms: threads_of(strided(grid * block).group(terms), grid)),
        *then,
    )


def in_pairs_over_grid(*then: Stage) -> Callable[[int, int], Order]:
    """A thread strides over the grid by twice its width and takes two elements, `block` apart, each time."""

    def group(terms: Array, grid: int, block: int) -> Array:
        chunks = rows_of(terms, 2 * block * grid).reshape(-1, grid, 2, block)
        return np.ascontiguousarray(chunks.transpose(1, 3, 0, 2)).reshape(grid, block, -1)

    return lambda grid, block: (Stage(Fold.SEQUENTIAL, lambda terms: group(terms, grid, block)), *then)


def threads_of(groups: Array, grid: int) -> Array:
    return groups.reshape(grid, -1, groups.shape[-1])


def last_block_adds(
    random: np.random.Generator, count: int, grid: int, block: int, in_pairs: Callable[[int, int], Order]
) -> Run:
    data = normal(random, count)

    def reference(arithmetic: Arithmetic) -> Expected:
        sums = arithmetic.of(data).sum(in_pairs(grid, block)).reshape(-1)
        total = sums.sum((strided(block), warps(), sequential()))
        return {"g_odata": sums.where(np.arange(grid) > 0, total)}

    counter = np.zeros(1, np.uint32)  # the kernel sets it back
    return Run(
        grid=(grid,), block=(block,), shared_bytes=4 * block, reference=reference,
        arguments={"g_idata": data, "g_odata": untouched(grid), "n": count, "retirementCount": counter},
    )  # fmt: skip


def cooperative(random: np.random.Generator, count: int, grid: int, block: int) -> Run:
    """Sums in double within a block; the first thread of the grid adds the blocks' in float."""
    data = normal(random, count)

    def reference(arithmetic: Arithmetic) -> Expected:
        sums = arithmetic.of(data).to(FLOAT64).sum((*over_grid(_LIBRARY, sequential())(grid, block),))
        rounded = sums.to(FLOAT32).reshape(-1)
        return {"g_odata": rounded.where(np.arange(grid) > 0, rounded.sum((sequential(),)))}

    return Run(
        grid=(grid,), block=(block,), shared_bytes=8 * block, reference=reference,
        arguments={"g_idata": data, "g_odata": untouched(grid), "n": count},
    )  # fmt: skip


_REDUCTION = "2_Concepts_and_Techniques/reduction/reduction_kernel.cu"
_FENCE = "2_Concepts_and_Techniques/threadFenceReduction/threadFenceReduction_kernel.cuh"
_COOPERATIVE = "2_Concepts_and_Techniques/reductionMultiBlockCG/reductionMultiBlockCG.cu"
_HALVING = together(Fold.HALVING)


def _cases(
    kernel: str, order: Callable[[int, int], Order], per_thread: int, block: int = 256, **fixed: str
) -> list[Case]:
    """A kernel with int and with float, at a size that fills its blocks and at one that does not."""
    defines = {name: text.format(block=block) for name, text in fixed.items()}
    grid = 2048 // block
    sizes = ({"count": 2048 * per_thread}, {"count": (grid - 1) * block * per_thread + 37})
    if fixed.get("nIsPow2") == "true":
        sizes = sizes[:1]
    return [
        Case(
            file=_REDUCTION,
            kernel=kernel,
            build=reduction,
            label=", ".join((name, *defines.values())),
            defines=(("T", name), *defines.items()),
            sizes=tuple(
                {**size, "grid": grid, "block": block, "whole": name == "int", "order": order} for size in sizes
            ),
        )
        for name in ("int", "float")
    ]


def _fenced(kernel: str, build: Callable[..., Run], power_of_two: bool, **more: Any) -> Case:
    grid, block = 8, 128
    count = 8192 if power_of_two else 5003
    label = "true" if power_of_two else "false"
    return Case(
        file=_FENCE, kernel=kernel, build=build, label=label, defines=(("blockSize", str(block)), ("nIsPow2", label)),
        sizes=({"count": count, "grid": grid, "block": block, **more},),
    )  # fmt: skip


_FENCED_ORDER = in_pairs_over_grid(warps(), sequential())
CASES = (
    *_cases("reduce0", one_each(Fold.ADJACENT), 1),
    *_cases("reduce1", one_each(Fold.ADJACENT), 1),
    *_cases("reduce2", one_each(Fold.HALVING), 1),
    *_cases("reduce3", two_each, 2),
    *_cases("reduce4", two_each, 2, blockSize="{block}"),
    *_cases("reduce5", two_each, 2, blockSize="{block}"),
    *_cases("reduce6", in_pairs_over_grid(_HALVING), 4, blockSize="{block}", nIsPow2="true"),
    *_cases("reduce6", over_grid(_HALVING), 3, blockSize="{block}", nIsPow2="false"),
    *_cases("reduce7", in_pairs_over_grid(warps(), warps()), 4, 1024, blockSize="{block}", nIsPow2="true"),
    *_cases("reduce7", over_grid(warps(), warps()), 3, 1024, blockSize="{block}", nIsPow2="false"),
    *_cases("cg_reduce", over_grid(together(Fold.ANY)), 3),
    *_cases("multi_warp_cg_reduce", over_grid(together(Fold.ANY)), 3, BlockSize="{block}", MultiWarpGroupSize="64"),
    _fenced("reduceMultiPass", reduction, True, whole=False, order=_FENCED_ORDER),
    _fenced("reduceMultiPass", reduction, False, whole=False, order=_FENCED_ORDER),
    _fenced("reduceSinglePass", last_block_adds, True, in_pairs=_FENCED_ORDER),
    _fenced("reduceSinglePass", last_block_adds, False, in_pairs=_FENCED_ORDER),
    Case(
        file=_COOPERATIVE, kernel="reduceSinglePassMultiBlockCG", build=cooperative,
        sizes=({"count": 8192, "grid": 8, "block": 128}, {"count": 5003, "grid": 8, "block": 128}),
    ),
)  # fmt: skip
