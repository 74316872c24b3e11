"""nki-samples: additions, pooling, transposes, products of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from tools.public_ports.case import Array, Case, Run, exact, near
from tools.public_ports.inputs import BFLOAT16, normal, wide

_T = "src/nki_samples/tutorials/"
_MATMUL = _T + "matrix_multiplication/matrix_multiplication_nki_kernels.py"


def addition(random: np.random.Generator, rows: int, columns: int, dtype: Any) -> Run:
    a, b = normal(random, rows, columns, dtype=dtype), normal(random, rows, columns, dtype=dtype)
    return Run(
        arguments={"a_input": a, "b_input": b}, grid=(rows // 128, columns // 512),
        reference=lambda: (exact((wide(a) + wide(b)).astype(dtype)),),
    )  # fmt: skip


def one_tile_addition(random: np.random.Generator, dtype: Any) -> Run:
    run = addition(random, 128, 512, dtype)
    return Run(arguments=run.arguments, reference=run.reference, grid=(1, 1))


def pooling(random: np.random.Generator, channels: int, height: int, width: int, pool: int, dtype: Any) -> Run:
    image = normal(random, channels, height, width, dtype=dtype)
    windows = wide(image).reshape(channels, height // pool, pool, width // pool, pool)
    sizes = np.abs(windows).sum((2, 4)) / pool**2
    return Run(
        arguments={"in_tensor": image, "pool_size": pool},
        # The sum is rounded to the format of the image, and the quotient again.
        reference=lambda: (near(windows.mean((2, 4)), dtype, terms=pool**2, scale=sizes, inner=dtype),),
    )  # fmt: skip


def transpose(random: np.random.Generator, rows: int, first: int, second: int, dtype: Any) -> Run:
    data = normal(random, rows, first * second, dtype=dtype)
    result = data.reshape(rows, first, second).transpose(0, 2, 1).reshape(rows, -1)
    return Run(arguments={"in_tensor": data, "shape2D": (first, second)}, reference=lambda: (exact(result),))


def product(random: np.random.Generator, k: int, m: int, n: int, dtype: Any) -> Run:
    left, right, value, sizes = operands(random, k, m, n, dtype)
    return Run(arguments={"lhsT": left, "rhs": right}, reference=lambda: (near(value, dtype, terms=k, scale=sizes),))


def product_of_blocks(random: np.random.Generator, k: int, m: int, n: int, dtype: Any, block: int) -> Run:
    """The sums of blocks of `block` * 128 terms are added in the format of the operands."""
    left, right, value, sizes = operands(random, k, m, n, dtype)
    tiles = {"TILES_IN_BLOCK_M": 2, "TILES_IN_BLOCK_N": 1, "TILES_IN_BLOCK_K": block}
    return Run(
        arguments={"lhsT": left, "rhs": right, **tiles},
        reference=lambda: (near(value, dtype, terms=k / (block * 128), scale=sizes, inner=dtype),),
    )


def operands(random: np.random.Generator, k: int, m: int, n: int, dtype: Any) -> tuple[Array, ...]:
    """Both operands, their product, and the sum of the sizes of its terms."""
    left, right = normal(random, k, m, dtype=dtype), normal(random, k, n, dtype=dtype)
    return left, right, wide(left).T @ wide(right), np.abs(wide(left)).T @ np.abs(wide(right))


COMMON: tuple[Case, ...] = (
    Case(
        file=_T + "tensor_addition/tensor_addition_nki_kernels.py", kernel="nki_tensor_add_kernel_",
        build=one_tile_addition, sizes=({"dtype": np.float16}, {"dtype": BFLOAT16}),
    ),
    Case(
        file=_T + "tensor_addition/spmd_tensor_addition_nki_kernels.py", kernel="nki_tensor_add_kernel_",
        build=addition, sizes=(
            {"rows": 256, "columns": 1024, "dtype": np.float16}, {"rows": 384, "columns": 512, "dtype": np.float32},
        ),
    ),
    Case(
        file=_T + "average_pool2d/average_pool2d_nki_kernels.py", kernel="tensor_avgpool_kernel", build=pooling,
        sizes=(
            {"channels": 2, "height": 6, "width": 6, "pool": 2, "dtype": np.float16},
            {"channels": 127, "height": 9, "width": 15, "pool": 3, "dtype": np.float32},
        ),
    ),
    Case(
        file=_T + "transpose2d/transpose2d_nki_kernels.py", kernel="tensor_transpose2D_kernel_", build=transpose,
        sizes=(
            {"rows": 2, "first": 3, "second": 4, "dtype": np.float16},
            {"rows": 101, "first": 7, "second": 33, "dtype": BFLOAT16},
        ),
    ),
    Case(
        file=_MATMUL, kernel="nki_matmul_basic_", build=product,
        sizes=({"k": 128, "m": 64, "n": 512, "dtype": BFLOAT16}, {"k": 128, "m": 64, "n": 512, "dtype": np.float32}),
    ),
    Case(
        file=_MATMUL, kernel="nki_matmul_tiled_", build=product,
        sizes=(
            {"k": 256, "m": 384, "n": 1024, "dtype": BFLOAT16}, {"k": 128, "m": 128, "n": 512, "dtype": np.float32},
        ),
    ),
    Case(
        file=_MATMUL, kernel="nki_matmul_hoist_load_", build=product,
        sizes=({"k": 384, "m": 256, "n": 1024, "dtype": BFLOAT16},),
    ),
    Case(
        file=_MATMUL, kernel="nki_matmul_block_free_dimension_", build=product,
        sizes=({"k": 256, "m": 512, "n": 2048, "dtype": BFLOAT16},),
    ),
    Case(
        file=_MATMUL, kernel="nki_matmul_fully_optimized_", build=product_of_blocks,
        sizes=(
            {"k": 512, "m": 512, "n": 1024, "dtype": BFLOAT16, "block": 2},
            {"k": 768, "m": 256, "n": 512, "dtype": np.float32, "block": 1},
        ),
    ),
)  # fmt: skip
