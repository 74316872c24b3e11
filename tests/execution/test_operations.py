"""Operations of the IR that CUDA's own syntax reaches seldom, run from its text form."""

import numpy as np
import pytest
from tests.execution.orders import Array, halving

from portcheck.execution import EventKind, Execution, Geometry, run
from portcheck.ir.text import parse_program

BLOCKS, THREADS = 8, 256
N = BLOCKS * THREADS
X = np.random.default_rng(9).standard_normal(N).astype(np.float32)
HEAD = """\
program cuda "kernel.cu"
symbols uint32: gridDim.x, blockDim.x, threadIdx.x, blockIdx.x
launch k
kernel k
  buffer x: float32 global const
  buffer y: float32 global
  axis blockIdx.x: grid < gridDim.x
  axis threadIdx.x: block < blockDim.x
  %1 = load x[blockIdx.x * blockDim.x + threadIdx.x] -> float32
"""
TILE = """\
  %2: alloc t: float32[4, 3]
  %3: store t[p, q] over(p: free < 4, q: free < 3) = %1
  %4: copy t[p, q] over(p: free < 4, q: free < 3) = x[threadIdx.x + p * 3 + q] over(p: free < 4, q: free < 3)
  %5 = load t[p, q] over(p: free < 4, q: free < 3) -> float32[4, 3]
"""
TILES = X[np.arange(THREADS)[:, None, None] + np.arange(12).reshape(4, 3)]
"""What each thread of a block has in `t`."""


def executed(lines: str, y: Array) -> Execution:
    return run(parse_program(HEAD + lines), {"x": X, "y": y}, Geometry.of(BLOCKS, THREADS))


def ran(lines: str, each: int = 1) -> Array:
    """What each thread stores: `each` numbers."""
    done = executed(lines, np.zeros(N * each, np.float32))
    assert done.faults == (), done.faults
    found: Array = done.arrays["y"]
    return found


def per_thread(lines: str) -> Array:
    return ran(lines + "  %90: store y[blockIdx.x * blockDim.x + threadIdx.x] = %80\n")


def tiles(lines: str, rows: int, columns: int) -> Array:
    """The tile %80 of every thread of the first block."""
    place = f"(blockIdx.x * blockDim.x + threadIdx.x) * {rows * columns} + p * {columns} + q"
    store = f"  %90: store y[{place}] over(p: free < {rows}, q: free < {columns}) = %80\n"
    return ran(TILE + lines + store, rows * columns).reshape(N, rows, columns)[:THREADS]


def same(found: Array, wanted: Array) -> None:
    np.testing.assert_array_equal(found, wanted.astype(np.float32))


def running(values: Array) -> Array:
    return np.add.accumulate(values, axis=-1)


SCANS = {
    "over a warp": ("lanes(32)", running(X.reshape(-1, 32))),
    "over eights": ("lanes(8)", running(X.reshape(-1, 8))),
    "over a block": ("lanes(256) scope(block)", running(X.reshape(-1, 256))),
    "from the end": ("lanes(32) reverse", running(X.reshape(-1, 32)[:, ::-1])[:, ::-1]),
}


@pytest.mark.parametrize("name", SCANS)
def test_scans_over_lanes(name: str) -> None:
    fields, wanted = SCANS[name]
    same(per_thread(f"  %80 = scan add(%1) {fields} -> float32\n"), wanted.reshape(-1))


def test_a_scan_without_the_own_element_begins_with_the_initial_value() -> None:
    found = per_thread("  %80 = scan add(%1) lanes(32) initial(0.0) exclusive -> float32\n").reshape(-1, 32)
    same(found[:, 1:], running(X.reshape(-1, 32))[:, :-1])
    same(found[:, 0], np.zeros(N // 32))


def test_reductions_over_a_block_and_over_some_lanes() -> None:
    found = per_thread("  %80 = reduce add(%1) lanes(256) scope(block) accumulate(float32) -> float32\n")
    same(found, np.repeat(halving(X.reshape(-1, 256)), 256))
    some = per_thread("  %80 = reduce maximum(%1) lanes(32) lanes_mask(255) accumulate(float32) -> float32\n")
    same(some.reshape(-1, 32)[:, :8], np.repeat(X.reshape(-1, 32)[:, :8].max(axis=1), 8).reshape(-1, 8))


def test_tiles_are_copied_transposed_and_multiplied() -> None:
    same(tiles("  %80 = transpose %5 permutation(1, 0) -> float32[3, 4]\n", 3, 4), TILES.transpose(0, 2, 1))
    total = np.zeros((THREADS, 3, 3), np.float32)
    for term in range(4):
        total += TILES[:, term, :, None] * TILES[:, term, None, :]
    same(tiles("  %80 = matmul %5, %5 accumulate(float32[3, 3]) -> float32[3, 3]\n", 3, 3), total)


def test_tiles_are_reduced_and_scanned_along_a_dimension() -> None:
    sums = (TILES[..., 0] + TILES[..., 1]) + TILES[..., 2]
    same(
        tiles("  %80 = reduce add(%5) dimensions(1) accumulate(float32[4, 1]) -> float32[4, 1]\n", 4, 1),
        sums[..., None],
    )
    wanted = np.empty_like(TILES)
    wanted[:, 0] = TILES[:, 0]
    for row in range(1, 4):
        wanted[:, row] = TILES[:, row] * wanted[:, row - 1] + TILES[:, row]
    same(tiles("  %80 = scan add(%5, %5) dimension(0) multiplier(multiply) -> float32[4, 3]\n", 4, 3), wanted)


OUTSIDE = {
    "clamp": np.where(np.arange(N) < 100, X[0], X[np.arange(N) - 100]),
    "wrap": X[np.arange(N) - 100],
    "skip": np.where(np.arange(N) < 100, 7, X[np.arange(N) - 100]),
    "border": np.where(np.arange(N) < 100, 7, X[np.arange(N) - 100]),
}


@pytest.mark.parametrize("outside", OUTSIDE)
def test_what_lies_outside_is_as_the_access_says(outside: str) -> None:
    index = "(blockIdx.x * blockDim.x + threadIdx.x + 0:int64):int64 - 100:int64"
    same(per_thread(f"  %80 = load x[{index}] outside({outside}) fill(7.0) -> float32\n"), OUTSIDE[outside])


def test_stores_that_add_add_every_element() -> None:
    found = ran("  %80: store y[threadIdx.x] += 1.0\n")
    same(found[:THREADS], np.full(THREADS, BLOCKS))


def test_what_cannot_be_run_ends_the_run() -> None:
    done = executed("  %80 = random curand_uniform() -> float32\n", np.zeros(N, np.float32))
    assert done.stopped is not None
    assert done.stopped.kind is EventKind.NOT_EXECUTED
