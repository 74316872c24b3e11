"""cuda-samples: transposes, transforms, votes and other kernels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tools.public_kernels.arithmetic import Arithmetic, Number
from tools.public_kernels.case import Array, Case, Expected, Run, blocks_for
from tools.public_kernels.inputs import integers, normal, untouched
from tools.public_kernels.orders import sequential


def transpose(random: np.random.Generator, width: int, height: int, result: Callable[[Array], Array]) -> Run:
    data = normal(random, height, width)
    moved = np.ascontiguousarray(result(data))
    return Run(
        grid=(width // 32, height // 32), block=(32, 16), reference=lambda arithmetic: {"odata": moved},
        arguments={"odata": untouched(*moved.shape), "idata": data, "width": width, "height": height},
    )  # fmt: skip


def tiles_transposed(data: Array) -> Array:
    """Every tile transposed where it stands."""
    height, width = data.shape
    return data.reshape(height // 32, 32, width // 32, 32).transpose(0, 3, 2, 1).reshape(height, width)


def tiles_moved(data: Array) -> Array:
    """Tiles put in their transposed places as they are."""
    height, width = data.shape
    return data.reshape(height // 32, 32, width // 32, 32).transpose(2, 1, 0, 3).reshape(width, height)


def copied_in_part(random: np.random.Generator, width: int, height: int) -> Run:
    """Copies where a guard on the first row of each pair lets it; a square matrix that tiles do not fill."""
    data = normal(random, height + 16, width)
    rows = np.arange(height + 16)
    copied = (rows % 32 % 16 + rows // 32 * 32) < height
    moved = np.where(copied[:, None], data, np.float32(77))
    return Run(
        grid=(blocks_for(width, 32), blocks_for(height, 32)),
        block=(32, 16),
        reference=lambda arithmetic: {"odata": moved},
        arguments={"odata": untouched(*data.shape), "idata": data, "width": width, "height": height},
    )


def vector_add(random: np.random.Generator, count: int, block: int) -> Run:
    first, second = normal(random, count), normal(random, count)

    def reference(arithmetic: Arithmetic) -> Expected:
        return {"C": arithmetic.of(first) + arithmetic.of(second) + 0.0}

    return Run(
        grid=(blocks_for(count, block),), block=(block,), reference=reference,
        arguments={"A": first, "B": second, "C": untouched(count), "numElements": count},
    )  # fmt: skip


def matrix_product(random: np.random.Generator, rows: int, inner: int, columns: int, tile: int) -> Run:
    left, right = normal(random, rows, inner), normal(random, inner, columns)

    def reference(arithmetic: Arithmetic) -> Expected:
        a, b = arithmetic.of(left), arithmetic.of(np.ascontiguousarray(right.T))
        return {"C": (a[:, None, :] * b[None, :, :]).sum((sequential(),))[..., 0]}

    return Run(
        grid=(columns // tile, rows // tile), block=(tile, tile), reference=reference,
        arguments={"C": untouched(rows, columns), "A": left, "B": right, "wA": inner, "wB": columns},
    )  # fmt: skip


def vote(random: np.random.Generator, block: int, is_all: bool) -> Run:
    inputs = integers(random, 0, 2, block, dtype=np.uint32)
    inputs[:64] = [0] * 32 + [1] * 32
    warps = inputs.reshape(-1, 32) != 0
    votes = warps.all(-1) if is_all else warps.any(-1)
    result = np.repeat(votes, 32).astype(np.uint32)
    return Run(
        grid=(1,), block=(block,), reference=lambda arithmetic: {"result": result},
        arguments={"input": inputs, "result": untouched(block, dtype=np.uint32), "size": block},
    )  # fmt: skip


def vote_on_lanes(random: np.random.Generator, block: int) -> Run:
    before = np.zeros((block, 3), bool)
    later = np.arange(block) >= 48
    warps = later.reshape(-1, 32)
    everyone = np.repeat(warps.all(-1), 32)
    result = np.stack([np.repeat(warps.any(-1), 32), later, everyone], -1)
    return Run(
        grid=(1,), block=(block,), reference=lambda arithmetic: {"info": result},
        arguments={"info": before, "warp_size": 32},
    )  # fmt: skip


def options(random: np.random.Generator, count: int, block: int) -> Run:
    """Black and Scholes: the price of calls and puts."""
    price, strike, years = (
        random.uniform(low, high, count).astype(np.float32) for low, high in ((5, 30), (1, 100), (0.25, 10))
    )
    rate, volatility = np.float32(0.02), np.float32(0.3)

    def reference(arithmetic: Arithmetic) -> Expected:
        s, x, t, r, v = (arithmetic.of(part) for part in (price, strike, years, rate, volatility))
        root = quotient(arithmetic.constant(1.0), t.call("rsqrtf"))
        first = quotient((s / x).call("__logf") + (r + 0.5 * v * v) * t, v * root)
        second = first - v * root
        discounted = x * (-r * t).call("__expf")
        one, two = normal_distribution(first), normal_distribution(second)
        return {
            "d_CallResult": s * one - discounted * two,
            "d_PutResult": discounted * (1.0 - two) - s * (1.0 - one),
        }

    return Run(
        grid=(blocks_for(count // 2, block),), block=(block,), reference=reference,
        arguments={
            "d_CallResult": untouched(count), "d_PutResult": untouched(count), "d_StockPrice": price,
            "d_OptionStrike": strike, "d_OptionYears": years, "Riskfree": rate, "Volatility": volatility, "optN": count,
        },
    )  # fmt: skip


def quotient(numerator: Number, denominator: Number) -> Number:
    """__fdividef: a quotient with an error of 2 units in the last place more."""
    exact = numerator / denominator
    exact.arithmetic.is_defined = False
    if exact.error is None:
        return exact
    return Number(
        exact.arithmetic, exact.dtype, exact.value, exact.error * 1.01 + 2 * 2.0**-23 * abs(exact.value).astype(float)
    )


def normal_distribution(d: Number) -> Number:
    """The polynomial of the sample, in Horner's order."""
    k = quotient(d.arithmetic.constant(1.0), 1.0 + 0.2316419 * d.where(d.value > 0, -d))
    polynomial = d.arithmetic.constant(1.330274429)
    for factor in (-1.821255978, 1.781477937, -0.356563782, 0.31938153):
        polynomial = d.arithmetic.constant(factor) + k * polynomial
    density = 0.39894228040143267793994605993438 * (-0.5 * d * d).call("__expf")
    tail = density * (k * polynomial)
    return (1.0 - tail).where(d.value > 0, tail)


def walsh(random: np.random.Generator, blocks: int, levels: int) -> Run:
    """Walsh transforms of whole numbers: no addition rounds, so that their order does not matter."""
    data = integers(random, -100, 100, blocks, 2**levels, dtype=np.float32)
    result = data
    for level in range(levels):
        halves = result.reshape(blocks, -1, 2, 2**level)
        result = np.stack([halves[:, :, 0] + halves[:, :, 1], halves[:, :, 0] - halves[:, :, 1]], 2).reshape(data.shape)
    return Run(
        grid=(blocks,),
        block=(2**levels // 4,),
        shared_bytes=4 * 2**levels,
        reference=lambda arithmetic: {"d_Output": result},
        arguments={"d_Output": untouched(*data.shape), "d_Input": data, "log2N": levels},
    )


def walsh_pass(random: np.random.Generator, batches: int, blocks: int, stride: int) -> Run:
    """One radix-4 step: additions of additions, in the order written."""
    data = normal(random, batches, blocks * 1024)

    def reference(arithmetic: Arithmetic) -> Expected:
        parts = arithmetic.of(data.reshape(batches, -1, 4, stride))
        d0, d1, d2, d3 = (parts[:, :, place] for place in range(4))
        d0, d2, d1, d3 = d0 + d2, d0 - d2, d1 + d3, d1 - d3
        results = (d0 + d1, d0 - d1, d2 + d3, d2 - d3)
        errors = [part.error for part in results if part.error is not None]
        value = np.stack([part.value for part in results], 2)
        return {"d_Output": Number(arithmetic, d0.dtype, value, np.stack(errors, 2) if errors else None)}

    return Run(
        grid=(blocks, batches), block=(256,), reference=reference,
        arguments={"d_Output": untouched(*data.shape), "d_Input": data, "stride": stride},
    )  # fmt: skip


def modulate(random: np.random.Generator, count: int, grid: int, block: int) -> Run:
    first, second = normal(random, count), normal(random, count)

    def reference(arithmetic: Arithmetic) -> Expected:
        return {"d_A": arithmetic.of(first) * (arithmetic.of(second) * (1.0 / arithmetic.constant(count)))}

    return Run(
        grid=(grid,), block=(block,), reference=reference, arguments={"d_A": first, "d_B": second, "N": count},
    )  # fmt: skip


_TRANSPOSE = "6_Performance/transpose/transpose.cu"
_VOTE = "0_Introduction/simpleVoteIntrinsics/simpleVote_kernel.cuh"
_WALSH = "5_Domain_Specific/fastWalshTransform/fastWalshTransform_kernel.cuh"
_SQUARE = {"width": 64, "height": 64}
_OBLONG = {"width": 96, "height": 64}


def _transposes(names: tuple[str, ...], result: Callable[[Array], Array]) -> list[Case]:
    sizes = tuple({**size, "result": result} for size in (_SQUARE, _OBLONG))
    return [Case(file=_TRANSPOSE, kernel=name, build=transpose, sizes=sizes) for name in names]


CASES = (
    *_transposes(("copy",), lambda data: data),
    Case(
        file=_TRANSPOSE,
        kernel="copySharedMem",
        build=transpose,
        sizes=({**_SQUARE, "result": lambda data: data},),
    ),
    Case(
        file=_TRANSPOSE,
        kernel="copySharedMem",
        build=copied_in_part,
        label="part of a tile",
        sizes=({"width": 50, "height": 50},),
    ),
    *_transposes(
        ("transposeNaive", "transposeCoalesced", "transposeNoBankConflicts", "transposeDiagonal"), lambda data: data.T
    ),
    Case(
        file=_TRANSPOSE,
        kernel="transposeFineGrained",
        build=transpose,
        sizes=({**_SQUARE, "result": tiles_transposed},),
    ),
    *_transposes(("transposeCoarseGrained",), tiles_moved),
    Case(
        file="0_Introduction/vectorAdd/vectorAdd.cu",
        kernel="vectorAdd",
        build=vector_add,
        sizes=({"count": 2048, "block": 256}, {"count": 1101, "block": 256}),
    ),
    Case(
        file="0_Introduction/matrixMul/matrixMul.cu",
        kernel="MatrixMulCUDA",
        build=matrix_product,
        label="16",
        defines=(("BLOCK_SIZE", "16"),),
        sizes=({"rows": 32, "inner": 48, "columns": 64, "tile": 16},),
    ),
    Case(
        file="0_Introduction/matrixMul/matrixMul.cu",
        kernel="MatrixMulCUDA",
        build=matrix_product,
        label="32",
        defines=(("BLOCK_SIZE", "32"),),
        sizes=({"rows": 64, "inner": 96, "columns": 32, "tile": 32},),
    ),
    Case(file=_VOTE, kernel="VoteAnyKernel1", build=vote, sizes=({"block": 1024, "is_all": False},)),
    Case(file=_VOTE, kernel="VoteAllKernel2", build=vote, sizes=({"block": 1024, "is_all": True},)),
    Case(file=_VOTE, kernel="VoteAnyKernel3", build=vote_on_lanes, sizes=({"block": 1024},)),
    Case(
        file="5_Domain_Specific/BlackScholes/BlackScholes_kernel.cuh",
        kernel="BlackScholesGPU",
        build=options,
        sizes=({"count": 2048, "block": 128}, {"count": 2222, "block": 128}),
    ),
    Case(
        file=_WALSH,
        kernel="fwtBatch1Kernel",
        build=walsh,
        sizes=({"blocks": 8, "levels": 9}, {"blocks": 8, "levels": 10}),
    ),
    Case(file=_WALSH, kernel="fwtBatch2Kernel", build=walsh_pass, sizes=({"batches": 2, "blocks": 4, "stride": 1024},)),
    Case(
        file=_WALSH,
        kernel="modulateKernel",
        build=modulate,
        sizes=({"count": 4096, "grid": 8, "block": 128}, {"count": 4999, "grid": 9, "block": 128}),
    ),
)
