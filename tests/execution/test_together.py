"""What threads do together through libraries computes what NumPy does: CUB, groups, pipelines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.execution.running import executed

Array = np.ndarray[Any, np.dtype[Any]]
X = np.random.default_rng(7).integers(-100, 100, 128).astype(np.int32)

BLOCKS: dict[str, tuple[str, Array]] = {
    "a sum": (
        "typedef cub::BlockReduce<int, 128> Reduce; __shared__ typename Reduce::TempStorage s;"
        "int r = Reduce(s).Sum(x[t]); if (t == 0) y[0] = r;",
        np.array([X.sum()]),
    ),
    "a maximum of the first ones": (
        "using Reduce = cub::BlockReduce<float, 128>; __shared__ Reduce::TempStorage s;"
        "float r = Reduce(s).Reduce((float)x[t], cub::Max(), 50); if (t == 0) y[0] = (int)r;",
        np.array([X[:50].max()]),
    ),
    "a sum of the first ones": (
        "typedef cub::BlockReduce<int, 128> Reduce; __shared__ typename Reduce::TempStorage s;"
        "int r = Reduce(s).Sum(x[t], 50); if (t == 0) y[0] = r;",
        np.array([X[:50].sum()]),
    ),
    "one sum of each warp": (
        "typedef cub::WarpReduce<int> Reduce; __shared__ typename Reduce::TempStorage s[4];"
        "int r = Reduce(s[t / 32]).Sum(x[t]); if (t % 32 == 0) y[t / 32] = r;",
        X.reshape(4, 32).sum(1),
    ),
    "a running sum without the thread's own": (
        "typedef cub::BlockScan<int, 128> Scan; __shared__ typename Scan::TempStorage s;"
        "int r, all; Scan(s).ExclusiveSum(x[t], r, all); y[t] = r + all;",
        np.concatenate([[0], np.cumsum(X)[:-1]]) + X.sum(),
    ),
    "storage of several in a union": (
        "typedef cub::BlockReduce<int, 128> Reduce; typedef cub::BlockScan<int, 128> Scan;"
        "__shared__ union { typename Reduce::TempStorage a; typename Scan::TempStorage b; } s;"
        "int r; Scan(s.b).InclusiveSum(x[t], r); __syncthreads();"
        "int all = Reduce(s.a).Sum(x[t]); if (t == 0) y[0] = all; else y[t] = r;",
        np.concatenate([[X.sum()], np.cumsum(X)[1:]]),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), BLOCKS.values(), ids=BLOCKS)
def test_block_works_together_through_cub(body: str, expected: Array) -> None:
    text = f"#include <cub/cub.cuh>\n__global__ void k(const int* x, int* y) {{ int t = threadIdx.x; {body} }}"
    run = executed(text, {"x": X, "y": np.zeros(128, np.int32)}, 1, 128)
    assert not run.faults
    assert not run.stopped
    np.testing.assert_array_equal(run.arrays["y"][: len(expected)], expected)


def _positions(chosen: Array) -> Array:
    return np.concatenate([np.cumsum(row) - row for row in chosen.reshape(-1, 32)])


GROUPS: dict[str, tuple[str, Array]] = {
    "those that run this": (
        "if (x[t] > 0) { auto g = cg::coalesced_threads(); y[t] = 100 * g.size() + g.thread_rank(); }",
        np.where(X > 0, 100 * np.repeat((X > 0).reshape(4, 32).sum(1), 32) + _positions((X > 0).astype(int)), 0),
    ),
    "the first of those that run this": (
        "if (x[t] > 0) { auto g = cg::coalesced_threads(); int r = 0; if (g.thread_rank() == 0) r = t;"
        "y[t] = g.shfl(r, 0) + 1; }",
        np.where(X > 0, np.repeat(np.arange(0, 128, 32) + (X > 0).reshape(4, 32).argmax(1), 32) + 1, 0),
    ),
    "those with one label": (
        "auto tile = cg::tiled_partition<32>(cg::this_thread_block()); int label = x[t] & 3;"
        "auto g = cg::labeled_partition(tile, label); y[t] = g.size() + 100 * cg::reduce(g, x[t], cg::plus<int>());",
        np.concatenate([
            np.array([(row & 3 == v & 3).sum() + 100 * row[row & 3 == v & 3].sum() for v in row])
            for row in X.reshape(4, 32)
        ]),
    ),
    "a running sum in a tile": (
        "auto tile = cg::tiled_partition<16>(cg::this_thread_block());"
        "y[t] = cg::inclusive_scan(tile, x[t]) + cg::exclusive_scan(tile, x[t], cg::plus<int>());",
        (2 * np.cumsum(X.reshape(8, 16), axis=1) - X.reshape(8, 16)).reshape(-1),
    ),
    "whether all hold one number": (
        "int same; unsigned m = __match_all_sync(0xffffffffu, t < 32 ? 5 : x[t], &same);"
        "y[t] = m == 0xffffffffu ? same : -1;",
        np.where(np.arange(128) < 32, 1, -1),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), GROUPS.values(), ids=GROUPS)
def test_groups_of_lanes_work_together(body: str, expected: Array) -> None:
    text = f"""#include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    __global__ void k(const int* x, int* y) {{ int t = threadIdx.x; {body} }}"""
    run = executed(text, {"x": X, "y": np.zeros(128, np.int32)}, 1, 128)
    assert not run.faults
    assert not run.stopped
    np.testing.assert_array_equal(run.arrays["y"], expected)


COPIES = {
    "a group and its wait": (
        "auto b = cg::this_thread_block(); cg::memcpy_async(b, tile, x, sizeof(int) * 128); cg::wait(b);"
    ),
    "each thread its part": (
        "__pipeline_memcpy_async(&tile[t], &x[t], sizeof(int)); __pipeline_commit(); __pipeline_wait_prior(0);"
        "__syncthreads();"
    ),
    "a pipeline of the thread": (
        "cuda::pipeline<cuda::thread_scope_thread> p = cuda::make_pipeline(); p.producer_acquire();"
        "cuda::memcpy_async(&tile[t], &x[t], cuda::aligned_size_t<4>(4), p); p.producer_commit(); p.consumer_wait();"
        "__syncthreads(); p.consumer_release();"
    ),
    "a pipeline of the block": (
        "__shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;"
        "auto b = cg::this_thread_block(); auto p = cuda::make_pipeline(b, &state); p.producer_acquire();"
        "cuda::memcpy_async(b, tile, x, sizeof(int) * 128, p); p.producer_commit(); p.consumer_wait();"
    ),
}


@pytest.mark.parametrize("lines", COPIES.values(), ids=COPIES)
def test_asynchronous_copy_has_landed_where_it_was_waited_for(lines: str) -> None:
    text = f"""#include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    __global__ void k(const int* x, int* y) {{
      __shared__ int tile[128];
      int t = threadIdx.x;
      {lines}
      y[t] = tile[127 - t];
    }}"""
    run = executed(text, {"x": X, "y": np.zeros(128, np.int32)}, 1, 128)
    assert not run.faults
    assert not run.stopped
    np.testing.assert_array_equal(run.arrays["y"], X[::-1])


RANKS = {
    "a group": "auto b = cg::this_thread_block(); int r = b.thread_rank();",
    "a tile": (
        "auto b = cg::this_thread_block(); auto g = cg::tiled_partition<8>(b);"
        "int r = 8 * g.meta_group_rank() + g.thread_rank();"
    ),
    "a register": (
        'unsigned lane, warp; asm("mov.u32 %0, %%laneid;" : "=r"(lane)); asm("mov.u32 %0, %%warpid;" : "=r"(warp));'
        "int r = 32 * warp + lane;"
    ),
}


@pytest.mark.parametrize("lines", RANKS.values(), ids=RANKS)
@pytest.mark.parametrize("is_launched", [False, True], ids=["looked at afterwards", "launched so"])
def test_threads_are_numbered_in_all_dimensions_of_their_block(lines: str, is_launched: bool) -> None:
    at = "r" if is_launched else "threadIdx.x + 16 * threadIdx.y"
    text = f"""#include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    __global__ void k(int* y) {{ {lines} y[{at}] = r; }}
    {"void f(int* y) { k<<<1, dim3(16, 4)>>>(y); }" if is_launched else ""}"""
    geometry = () if is_launched else (1, (16, 4))
    run = executed(text, {"y": np.zeros(64, np.int32)}, *geometry)
    assert not run.faults
    np.testing.assert_array_equal(run.arrays["y"], np.arange(64))
