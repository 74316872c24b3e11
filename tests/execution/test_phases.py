"""Barriers that are objects, copies that are waited for, fragments that are made where they are asked for."""

from __future__ import annotations

import numpy as np
import pytest
from tests.execution.running import executed, lowered
from tests.frontends.cuda.reading import body, not_understood

from portcheck.ir import Atomic, Barrier, kernel_operations

THREADS = 128
X = np.arange(THREADS, dtype=np.float32) + 1
HEAD = """#include <cuda/barrier>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;
__device__ void meet(barrier& b) { barrier::arrival_token token = b.arrive(); b.wait(std::move(token)); }
"""
SET_UP = "__shared__ barrier bar; auto block = cg::this_thread_block(); if (t == 0) init(&bar, block.size());"
TURNED = {
    "arrive and wait at once": "s[t] = x[t]; bar.arrive_and_wait(); y[t] = s[127 - t];",
    "arrive, then wait": "s[t] = x[t]; auto token = bar.arrive(); float v = t; bar.wait(std::move(token));"
                         "y[t] = s[127 - t] + v - t;",
    "wait for what arriving gives": "s[t] = x[t]; bar.wait(bar.arrive()); y[t] = s[127 - t];",
    "in a helper": "s[t] = x[t]; meet(bar); y[t] = s[127 - t];",
    "a copy of each thread": "cuda::memcpy_async(s + t, x + t, cuda::aligned_size_t<4>(sizeof(float)), bar);"
                             "bar.arrive_and_wait(); y[t] = s[127 - t];",
    "a copy of the block": "cuda::memcpy_async(block, s, x, sizeof(float) * 128, bar); bar.arrive_and_wait();"
                           "y[t] = s[127 - t];",
    "a copy of so many elements": "cg::memcpy_async(block, s, 128, x, 128); cg::wait(block); y[t] = s[127 - t];",
    "a size that is aligned": "auto size = cuda::aligned_size_t<16>(512); cg::memcpy_async(block, s, x, size);"
                                         "cg::wait(block); y[t] = s[127 - t];",
}  # fmt: skip


@pytest.mark.parametrize("name", TURNED)
def test_threads_wait_for_each_other(name: str) -> None:
    text = f"""{HEAD}__global__ void k(const float* x, float* y) {{
      __shared__ float s[128]; int t = threadIdx.x; {SET_UP} block.sync(); {TURNED[name]} }}"""
    done = executed(text, {"x": X, "y": np.zeros(THREADS, np.float32)}, 1, THREADS)
    assert done.faults == (), done.faults
    np.testing.assert_array_equal(done.arrays["y"], X[::-1])


def test_the_smaller_number_of_elements_is_copied() -> None:
    text = f"""{HEAD}__global__ void k(const float* x, float* y) {{
      auto block = cg::this_thread_block(); cg::memcpy_async(block, y, 100, x, 40); cg::wait(block); }}"""
    done = executed(text, {"x": X, "y": np.zeros(THREADS, np.float32)}, 1, THREADS)
    np.testing.assert_array_equal(done.arrays["y"], np.where(np.arange(THREADS) < 40, X, 0))


def test_some_of_the_threads_wait() -> None:
    text = f"""{HEAD}__global__ void k(float* y) {{
      __shared__ barrier bar; if (threadIdx.x == 0) init(&bar, 64); __syncthreads();
      if (threadIdx.x < 64) bar.arrive_and_wait(); }}"""
    found = [op.participants for op in kernel_operations(lowered(text)) if isinstance(op, Barrier)]
    assert [getattr(count, "value", None) for count in found] == [None, 64]
    assert executed(text, {"y": np.zeros(1, np.float32)}, 1, THREADS).faults == ()


NOT_WAITED = {
    "nobody takes it": "bar.arrive();",
    "nobody waits": "auto token = bar.arrive(); y[t] = t;",
    "some drop out": "bar.arrive_and_drop();",
}


@pytest.mark.parametrize("name", NOT_WAITED)
def test_arriving_without_waiting_is_not_a_barrier(name: str) -> None:
    found = not_understood(body(f"int t = threadIdx.x; {SET_UP} {NOT_WAITED[name]}", "float* y", HEAD))
    assert len(found) == 1
    assert found[0].startswith("cuda::barrier::arrive")


def test_a_fragment_is_made_where_it_is_asked_for() -> None:
    text = """#include <mma.h>
    using namespace nvcuda;
    __global__ void k(const half* a, const half* b, float* y) {
      auto left = wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major>();
      auto right = wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major>();
      auto sum = wmma::fragment<wmma::accumulator, 16, 16, 16, float>();
      wmma::load_matrix_sync(left, a, 16); wmma::load_matrix_sync(right, b, 16);
      wmma::mma_sync(sum, left, right, sum); wmma::store_matrix_sync(y, sum, 16, wmma::mem_row_major); }"""
    a, b = (np.random.default_rng(seed).integers(-4, 4, (16, 16)).astype(np.float16) for seed in (1, 2))
    done = executed(text, {"a": a, "b": b, "y": np.zeros((16, 16), np.float32)}, 1, 32)
    np.testing.assert_array_equal(done.arrays["y"], a.astype(np.float32) @ b.T.astype(np.float32))


def test_a_function_object_is_a_variable() -> None:
    text = """#include <cub/cub.cuh>
    typedef cub::KeyValuePair<int, float> Pair;
    __global__ void k(const float* x, int* y) {
      cub::ArgMax larger; Pair best, one; best.key = 0; best.value = x[0];
      for (int i = 1; i < 128; ++i) { one.key = i; one.value = x[i]; best = larger(one, best); }
      y[0] = best.key; cub::Max most; y[1] = most(3, 5);
      y[2] = std::less<int>()(3, 5) + 10 * cuda::std::minus<int>{}(9, 2); }"""
    done = executed(text, {"x": np.sin(X), "y": np.zeros(3, np.int32)}, 1, 1)
    assert done.arrays["y"].tolist() == [int(np.sin(X).argmax()), 5, 71]


def test_arguments_are_evaluated_once() -> None:
    program = body("int t = n; x[0] = __hadd(t++, 3); x[1] = t; other(atomicAdd(x, 1.0f));", "float* x, int n")
    assert len([op for op in program if isinstance(op, Atomic)]) == 1
    text = "__global__ void k(int* y) { int t = 5; y[0] = __hadd(t++, 3); y[1] = t; }"
    assert executed(text, {"y": np.zeros(2, np.int32)}, 1, 1).arrays["y"].tolist() == [4, 6]


def test_the_first_argument_of_a_copy_or_a_wait_is_evaluated_once() -> None:
    text = """#include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    __device__ cg::thread_block block_of(int* y) { ++*y; return cg::this_thread_block(); }
    __global__ void k(int* y, const int* x) {
      int at = 4; __pipeline_memcpy_async(y + at++, x + 1, 4); __pipeline_commit(); __pipeline_wait_prior(0);
      __pipeline_memcpy_async(y + at++, x + 2, 4); __pipeline_commit(); __pipeline_wait_prior(at++ - 6);
      y[0] = at; cg::wait(block_of(y + 1)); cg::memcpy_async(block_of(y + 2), y + 8, x, 4); }"""
    done = executed(text, {"y": np.zeros(9, np.int32), "x": np.arange(5, 9, dtype=np.int32)}, 1, 1)
    assert done.arrays["y"].tolist() == [7, 1, 1, 0, 6, 7, 0, 0, 5]


def test_limits_of_integers_are_known() -> None:
    text = """__global__ void k(int* y) {
      y[0] = std::numeric_limits<int8_t>::max(); y[1] = std::numeric_limits<short>::lowest();
      y[2] = std::numeric_limits<unsigned char>::max(); y[3] = std::numeric_limits<int8_t>::min(); }"""
    done = executed(text, {"y": np.zeros(4, np.int32)}, 1, 1)
    assert done.arrays["y"].tolist() == [127, -32768, 255, -128]


def test_variables_that_are_exchanged_change() -> None:
    text = """__global__ void k(int* y) {
      int t = threadIdx.x, a = t, b = 2 * t; if (t > 3) std::swap(a, b); y[t] = 100 * a + b; }"""
    done = executed(text, {"y": np.zeros(8, np.int32)}, 1, 8)
    assert done.arrays["y"].tolist() == [102 * t if t <= 3 else 201 * t for t in range(8)]
