"""llm.c, dev/cuda: matrix products, the triangular ones, and the gradient of the bias."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from tools.public_kernels.arithmetic import BFLOAT16, FLOAT32, FLOAT64, Arithmetic, Number
from tools.public_kernels.case import Array, Case, Expected, Run, blocks_for
from tools.public_kernels.inputs import normal, untouched
from tools.public_kernels.llmc_elementwise import heads_apart
from tools.public_kernels.llmc_norms import LIBRARY
from tools.public_kernels.orders import Fold, Order, sequential, strided, together, warps


def matmul(
    random: np.random.Generator, rows: int, channels: int, outputs: int, tiled: bool, has_bias: bool = True
) -> Run:
    inputs, weight, bias = normal(random, rows, channels), normal(random, outputs, channels), normal(random, outputs)

    def reference(arithmetic: Arithmetic) -> Expected:
        terms = arithmetic.of(inputs)[:, None, :] * arithmetic.of(weight)[None, :, :]
        if tiled:
            terms = terms.moved(lambda array: rotated(array, (np.arange(rows) % 128 // 8) % 8 * 4, axis=0))
        start = bias if has_bias else np.zeros(outputs, np.float32)
        first = arithmetic.of(np.broadcast_to(start, (rows, outputs)))
        return {"out": with_first(first, terms).sum((sequential(),))[..., 0]}

    grid = (rows // 128, outputs // 128) if tiled else (blocks_for(rows, 16), blocks_for(outputs, 16))
    sizes = {"C": channels, "OC": outputs} if tiled else {"BT": rows, "C": channels, "OC": outputs}
    return Run(
        grid=grid, block=(16, 16), reference=reference,
        arguments={
            "out": untouched(rows, outputs),
            "inp": inputs,
            "weight": weight,
            "bias": bias if has_bias else None,
            **sizes,
        },
    )  # fmt: skip


def with_first(first: Number, terms: Number) -> Number:
    """(..., n) terms after one that the sum starts with."""
    error = None if terms.error is None else np.concatenate([first.error[..., None], terms.error], -1)  # type: ignore[index]
    return Number(terms.arithmetic, terms.dtype, np.concatenate([first.value[..., None], terms.value], -1), error)


def rotated(terms: Array, starts: Array, axis: int) -> Array:
    """Every chunk of 32 terms begun at `starts[i]`, i along `axis`: a thread reads its tile in a circle."""
    chunks = terms.reshape(*terms.shape[:-1], -1, 32)
    places = (starts[:, None] + np.arange(32)) % 32
    shape = [1] * chunks.ndim
    shape[axis], shape[-1] = places.shape
    return np.take_along_axis(chunks, np.broadcast_to(places.reshape(shape), chunks.shape), -1).reshape(terms.shape)


def add_bias(random: np.random.Generator, batch: int, time: int, outputs: int, grid: int, block: int) -> Run:
    before, bias = normal(random, batch * time, outputs), normal(random, outputs)
    return Run(
        grid=(grid,), block=(block,), reference=lambda arithmetic: {"out": arithmetic.of(before) + arithmetic.of(bias)},
        arguments={"out": before, "bias": bias, "B": batch, "T": time, "OC": outputs},
    )  # fmt: skip


def triangular(random: np.random.Generator, batch: int, time: int, heads: int, size: int, rotates: bool) -> Run:
    """Tiles of 8 x 8 on and below the diagonal; the others stay as they were."""
    inputs = normal(random, batch, time, 3, heads, size)
    q, k, _ = heads_apart(inputs)
    tiles = np.arange(time) // 8
    written = np.broadcast_to(tiles[None, :] <= tiles[:, None], (batch, heads, time, time))
    before = untouched(*written.shape)

    def reference(arithmetic: Arithmetic) -> Expected:
        terms = arithmetic.of(q)[..., :, None, :] * arithmetic.of(k)[..., None, :, :]
        if rotates:
            terms = terms.moved(lambda array: rotated(array, np.arange(time) % 128 // 8, axis=2))
        root = arithmetic.constant(size).call("sqrtf").to(FLOAT64)
        factor = (arithmetic.constant(1.0, FLOAT64) / root).to(FLOAT32)
        return {"out": (terms.sum((sequential(),))[..., 0] * factor).where(written, arithmetic.of(before))}

    return Run(
        grid=(time // 128, time // 128, heads * batch), block=(16, 16), reference=reference,
        arguments={"out": before, "inp": inputs, "T": time, "C": heads * size, "NH": heads},
    )  # fmt: skip


def bias_gradient(
    random: np.random.Generator, batch: int, time: int, outputs: int, block: tuple[int, ...], grid: tuple[int, ...],
    order: Order, shared: int = 0, accumulates: Callable[[Number, Number], Number] | None = None, dtype: Any = BFLOAT16,
    **more: int,
) -> Run:  # fmt: skip
    gradient, before = normal(random, batch * time, outputs, dtype=BFLOAT16), normal(random, outputs, dtype=dtype)

    def reference(arithmetic: Arithmetic) -> Expected:
        columns = arithmetic.of(np.ascontiguousarray(gradient.T)).to(FLOAT32)
        total = columns.sum(order)[..., 0]
        if accumulates is not None:
            return {"dbias": accumulates(arithmetic.of(before), total)}
        return {"dbias": (arithmetic.of(before).to(FLOAT32) + total).to(np.dtype(dtype))}

    return Run(
        grid=grid, block=block, shared_bytes=shared, reference=reference,
        arguments={"dbias": before, "dout": gradient, "B": batch, "T": time, "OC": outputs, **more},
    )  # fmt: skip


def bias_by_tree(random: np.random.Generator, batch: int, time: int, outputs: int, block: int) -> Run:
    order = (strided(block), together(Fold.HALVING))
    return bias_gradient(random, batch, time, outputs, (block,), (outputs,), order, shared=4 * block)


def bias_by_warp(random: np.random.Generator, batch: int, time: int, outputs: int, block: int) -> Run:
    grid = (blocks_for(outputs * 32, block),)
    return bias_gradient(random, batch, time, outputs, (block,), grid, (strided(32), LIBRARY))


def bias_by_block(random: np.random.Generator, batch: int, time: int, outputs: int, block: int) -> Run:
    return bias_gradient(random, batch, time, outputs, (block,), (outputs,), (strided(block), LIBRARY, LIBRARY))


def bias_by_columns(random: np.random.Generator, batch: int, time: int, outputs: int, block: int) -> Run:
    order = (strided(block // 32), sequential())
    return bias_gradient(random, batch, time, outputs, (block,), (outputs // 32,), order, shared=4 * block)


def bias_by_atomics(random: np.random.Generator, batch: int, time: int, outputs: int, block: int, grid: int) -> Run:
    """Rows of blocks and warps stride over the rows; shared and then global atomics add them up."""
    order = (strided(grid * (block // 32)), together(Fold.ANY))
    return bias_gradient(
        random, batch, time, outputs, (32, block // 32), (blocks_for(outputs, 256), grid), order, shared=256 * 4,
        accumulates=lambda before, total: with_first(before, total[..., None]).sum((together(Fold.ANY),))[..., 0],
        dtype=np.float32, block_size=block,
    )  # fmt: skip


def bias_by_four(random: np.random.Generator, batch: int, time: int, outputs: int, depth: int) -> Run:
    """Four lanes a column in each of `depth` warps, shuffles of 4, then four lanes over the warps."""
    order = (strided(4 * depth), warps(Fold.ADJACENT, 4), warps(Fold.ADJACENT, 4), sequential())
    return bias_gradient(random, batch, time, outputs, (4, 8, depth), (blocks_for(outputs, 64), 1), order)


def cast_and_add(random: np.random.Generator, count: int, block: int) -> Run:
    before, added = normal(random, count, dtype=BFLOAT16), normal(random, count)

    def reference(arithmetic: Arithmetic) -> Expected:
        return {"dst": (arithmetic.of(before).to(FLOAT32) + arithmetic.of(added)).to(BFLOAT16)}

    return Run(
        grid=(blocks_for(count, block),), block=(block,), reference=reference,
        arguments={"dst": before, "src": added, "n": count},
    )  # fmt: skip


def reduce_add(random: np.random.Generator, count: int, parts: int, block: int) -> Run:
    before, added = normal(random, count, dtype=BFLOAT16), normal(random, parts, count)

    def reference(arithmetic: Arithmetic) -> Expected:
        total = arithmetic.of(np.ascontiguousarray(added.T)).sum((sequential(),))[..., 0]
        return {"dst": (arithmetic.of(before).to(FLOAT32) + total).to(BFLOAT16)}

    return Run(
        grid=(blocks_for(count, 4 * block),), block=(block,), reference=reference,
        arguments={"dst": before, "src": added, "n": count, "m": parts},
    )  # fmt: skip


_FILE, _TRIANGLE, _BIAS = "matmul_forward.cu", "trimat_forward.cu", "matmul_backward_bias.cu"
_SQUARE = ({"batch": 2, "time": 128, "heads": 2, "size": 32}, {"batch": 1, "time": 256, "heads": 2, "size": 64})

CASES = (
    Case(
        file=_FILE,
        kernel="matmul_forward_kernel1",
        build=matmul,
        sizes=(
            {"rows": 32, "channels": 48, "outputs": 64, "tiled": False},
            {"rows": 37, "channels": 29, "outputs": 45, "tiled": False},
            {"rows": 33, "channels": 7, "outputs": 33, "tiled": False, "has_bias": False},
        ),
    ),
    Case(
        file=_FILE,
        kernel="add_bias",
        build=add_bias,
        sizes=(
            {"batch": 2, "time": 32, "outputs": 48, "grid": 4, "block": 256},
            {"batch": 3, "time": 37, "outputs": 29, "grid": 5, "block": 224},
        ),
    ),
    Case(
        file=_FILE,
        kernel="matmul_forward_kernel4",
        build=matmul,
        sizes=({"rows": 256, "channels": 64, "outputs": 256, "tiled": True},),
    ),
    *(
        Case(
            file=_TRIANGLE,
            kernel="trimul_global",
            build=triangular,
            defines=(("matmul_tri", function),),
            label=function,
            sizes=tuple({**size, "rotates": function == "matmul_tri4"} for size in _SQUARE),
        )
        for function in ("matmul_tri_naive", "matmul_tri_registers", "matmul_tri3", "matmul_tri4")
    ),
    Case(
        file=_BIAS,
        kernel="matmul_backward_bias_kernel1",
        build=bias_by_tree,
        sizes=(
            {"batch": 2, "time": 64, "outputs": 16, "block": 64},
            {"batch": 3, "time": 37, "outputs": 19, "block": 64},
        ),
    ),
    Case(
        file=_BIAS,
        kernel="matmul_backward_bias_kernel2",
        build=bias_by_warp,
        sizes=(
            {"batch": 2, "time": 64, "outputs": 32, "block": 128},
            {"batch": 3, "time": 37, "outputs": 35, "block": 128},
        ),
    ),
    Case(
        file=_BIAS,
        kernel="matmul_backward_bias_kernel3",
        build=bias_by_block,
        sizes=(
            {"batch": 2, "time": 64, "outputs": 16, "block": 64},
            {"batch": 3, "time": 37, "outputs": 19, "block": 64},
        ),
    ),
    Case(
        file=_BIAS,
        kernel="matmul_backward_bias_kernel4",
        build=bias_by_columns,
        sizes=(
            {"batch": 2, "time": 64, "outputs": 256, "block": 128},
            {"batch": 3, "time": 37, "outputs": 288, "block": 128},
        ),
    ),
    Case(
        file=_BIAS,
        kernel="matmul_backward_bias_kernel7",
        build=bias_by_atomics,
        sizes=(
            {"batch": 2, "time": 64, "outputs": 512, "block": 512, "grid": 2},
            {"batch": 3, "time": 37, "outputs": 264, "block": 512, "grid": 3},
        ),
    ),
    Case(
        file=_BIAS,
        kernel="matmul_backward_bias_kernel8",
        build=bias_by_four,
        defines=(("OutFloat", "floatX"), ("Atomic", "false")),
        sizes=(
            {"batch": 2, "time": 64, "outputs": 512, "depth": 4},
            {"batch": 3, "time": 37, "outputs": 264, "depth": 8},
        ),
    ),
    Case(
        file=_BIAS,
        kernel="matmul_backward_bias_kernel9",
        build=bias_by_four,
        defines=(("OutFloat", "floatX"), ("UseAuxBuffer", "false")),
        sizes=(
            {"batch": 2, "time": 64, "outputs": 512, "depth": 4},
            {"batch": 3, "time": 37, "outputs": 264, "depth": 8},
        ),
    ),
    Case(
        file=_BIAS,
        kernel="cast_and_add_kernel",
        build=cast_and_add,
        sizes=({"count": 2048, "block": 256}, {"count": 1160, "block": 256}),
    ),
    Case(
        file=_BIAS,
        kernel="reduce_add_sum_kernel",
        build=reduce_add,
        sizes=({"count": 4096, "parts": 5, "block": 256}, {"count": 4200, "parts": 3, "block": 128}),
    ),
)
