"""Shared memory of helpers and of arrays that are sized at launch."""

from __future__ import annotations

import numpy as np
from tests.execution.running import executed

TWO_INSTANCES = """
__device__ float larger(float a, float b) { return fmaxf(a, b); }
__device__ float total(float a, float b) { return a + b; }
template <float (*combine)(float, float)>
__device__ float of_block(float value) {
  __shared__ float kept[64];
  kept[threadIdx.x] = value;
  __syncthreads();
  float result = kept[0];
  for (int i = 1; i < 64; ++i) result = combine(result, kept[i]);
  return result;
}
__global__ void k(float* out, const float* x) {
  float value = x[blockIdx.x * 64 + threadIdx.x];
  float top = of_block<larger>(value);
  float sum = of_block<total>(value);
  if (threadIdx.x == 0) out[blockIdx.x] = sum - 64 * top;
}
"""
CARVED = """
__global__ void k(int* out, int n) {
  extern __shared__ char bytes[];
  float* numbers = reinterpret_cast<float*>(bytes);
  int* counts = reinterpret_cast<int*>(bytes + 64 * sizeof(float));
  numbers[threadIdx.x] = threadIdx.x * 0.5f;
  counts[threadIdx.x] = threadIdx.x * 3;
  __syncthreads();
  int other = 63 - threadIdx.x;
  out[blockIdx.x * 64 + threadIdx.x] = (int)(2.f * numbers[other]) + counts[other] + n;
}
"""


def test_shared_array_of_a_helper_is_one_for_each_instance() -> None:
    x = np.random.default_rng(1).integers(-50, 50, (17, 64)).astype(np.float32)
    done = executed(TWO_INSTANCES, {"out": np.zeros(17, np.float32), "x": x}, 17, 64)
    assert done.faults == ()
    np.testing.assert_array_equal(done.arrays["out"], x.sum(1) - 64 * x.max(1))


def test_helper_that_uses_its_shared_array_twice_without_a_barrier_races() -> None:
    text = TWO_INSTANCES.replace("of_block<total>", "of_block<larger>")
    done = executed(text, {"out": np.zeros(1, np.float32), "x": np.zeros(64, np.float32)}, 1, 64)
    assert [event.kind for event in done.faults] == ["race"]


def test_views_of_memory_that_is_sized_at_launch() -> None:
    done = executed(CARVED, {"out": np.zeros(17 * 64, np.int32), "n": 5}, 17, 64, 2 * 64 * 4)
    assert done.faults == ()
    np.testing.assert_array_equal(done.arrays["out"], np.tile(np.arange(63, -1, -1) * 4 + 5, 17))


def test_view_ends_where_the_memory_of_the_launch_does() -> None:
    done = executed(CARVED, {"out": np.zeros(64, np.int32), "n": 5}, 1, 64, 2 * 64 * 4 - 4)
    assert {event.kind for event in done.faults} == {"out-of-bounds"}
