"""Loops that count down by what has no sign, as host code and indices of CUDA make it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.execution.running import executed

KERNEL = """
__global__ void k(float* out, const float* x, int n) {{
  float sum = 0.f;
  int turns = 0;
  for ({}) {{ sum += x[i]; ++turns; }}
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum + 1000 * turns;
}}
"""
HEADS = {
    "a stride without sign": "int i = n + threadIdx.x - blockDim.x; i >= 0; i -= blockDim.x",
    "a stride of a variable": "int i = n - 1 - threadIdx.x, s = blockDim.x; i >= 0; i -= s",
    "a counter without sign": "unsigned i = n - 1 - threadIdx.x % 7; i > 6; i -= 7",
}
VISITED = {
    "a stride without sign": lambda n, t: range(n + t - 64, -1, -64),
    "a stride of a variable": lambda n, t: range(n - 1 - t, -1, -64),
    "a counter without sign": lambda n, t: range(n - 1 - t % 7, 6, -7),
}


@pytest.mark.parametrize("head", HEADS)
def test_loop_counts_down_to_its_bound(head: str) -> None:
    n = 333
    x = np.random.default_rng(6).integers(-9, 9, n).astype(np.float32)
    wanted = []
    for thread in range(64):
        visited = list(VISITED[head](n, thread))
        wanted.append(x[visited].sum() + 1000 * len(visited))
    done = executed(KERNEL.format(HEADS[head]), {"out": np.zeros(17 * 64, np.float32), "x": x, "n": n}, 17, 64)
    assert done.faults == ()
    np.testing.assert_array_equal(done.arrays["out"], np.tile(np.float32(wanted), 17))
