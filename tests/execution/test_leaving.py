"""Threads that leave an iteration, where later operations still hold what the iteration before gave them."""

from __future__ import annotations

import numpy as np
from tests.execution.running import executed

SKIPPED = """
__global__ void k(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.f;
  for (int j = 0; j < 6; ++j) {
    if ((i * 7 + j * 5) % 6 < j) continue;
    float value = x[(i + j) % n] * 2.f;
    if (value > 0.f) {
      float twice = value + value;
      sum += twice + x[i % n];
    }
    sum += value * j;
  }
  out[i] = sum;
}
"""


def test_values_of_the_iteration_before_do_not_count_for_those_who_stay() -> None:
    n = 37
    x = np.random.default_rng(2).integers(-9, 9, n).astype(np.float32)
    wanted = np.zeros(1280, np.float32)
    for i in range(1280):
        for j in range(6):
            if (i * 7 + j * 5) % 6 < j:
                continue
            value = x[(i + j) % n] * 2
            if value > 0:
                wanted[i] += value + value + x[i % n]
            wanted[i] += value * j
    done = executed(SKIPPED, {"out": np.zeros(1280, np.float32), "x": x, "n": n}, 5, 256)
    assert done.faults == ()
    np.testing.assert_array_equal(done.arrays["out"], wanted)


def test_threads_leave_inside_a_branch_that_all_take() -> None:
    text = """
    __global__ void k(int* o, const int* a, int n) {
      int i = threadIdx.x;
      int v = a[i], w = v * 3;
      if (n > 2) {
        if (v > 40) return;
        o[i] = v + w;
        if (v < 10) { o[i] = 7; return; }
      }
      o[i] += w;
    }"""
    a = np.arange(64, dtype=np.int32)[::-1].copy()
    run = executed(text, {"o": np.full(64, -1, np.int32), "a": a, "n": 4}, 1, 64)
    expected = np.where(a > 40, -1, np.where(a < 10, 7, a * 7))
    np.testing.assert_array_equal(run.arrays["o"], expected)
