"""Kernels that a host function launches one after the other, run as it launches them."""

from __future__ import annotations

import numpy as np
from tests.execution.running import executed, lowered

from portcheck.execution import Uninitialised, run
from portcheck.ir.linking import linked
from portcheck.ir.verify import verify

SUM = """
__global__ void collect(const float* in, float* sums, int n) {
  __shared__ float box[128];
  int t = threadIdx.x;
  float own = 0.f;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) own += in[i];
  box[t] = own;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) { if (t < s) box[t] += box[t + s]; __syncthreads(); }
  if (t == 0) sums[blockIdx.x] = box[0];
}
__global__ void finish(const float* in, float* out, int n, float scale) {
  if (threadIdx.x != 0) return;
  float own = 0.f;
  for (int i = 0; i < n; ++i) own += in[i];
  out[0] = own * scale;
}
void total(const float* x, float* y, int n) {
  const int blocks = (n + 511) / 512;
  float* sums = nullptr;
  cudaMalloc((void**)&sums, blocks * sizeof(*sums));
  collect<<<blocks, 128>>>(x, sums, n);
  finish<<<1, 32>>>(sums, y, blocks, 0.25f);
  cudaFree(sums);
}
"""
NORMALISE = """
__global__ void mean_of(const float* a, float* m, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0.f;
  for (int c = 0; c < cols; ++c) s += a[r * cols + c];
  m[r] = s / cols;
}
__global__ void rstd_of(const float* a, const float* m, float* r, int cols, float eps) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0.f;
  for (int c = 0; c < cols; ++c) { float d = a[row * cols + c] - m[row]; s += d * d; }
  r[row] = rsqrtf(s / cols + eps);
}
__global__ void scaled(float* b, const float* a, const float* m, const float* r, int n, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = (a[i] - m[i / width]) * r[i / width];
}
void normalise(float* out, const float* in, float* mean, float* rstd, int rows, int c, cudaStream_t stream) {
  dim3 block(16);
  mean_of<<<rows / 16, block, 0, stream>>>(in, mean, c);
  rstd_of<<<rows / 16, block, 0, stream>>>(in, mean, rstd, c, 1e-5f);
  cudaGetLastError();
  scaled<<<(rows * c + 255) / 256, 256, 0, stream>>>(out, in, mean, rstd, rows * c, c);
}
"""
TWICE = """
__global__ void halve(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[2 * i] + in[2 * i + 1];
}
void quarter(const float* x, float* y, float* z, int n) {
  halve<<<n / 64, 32>>>(x, y, n / 2);
  halve<<<n / 128, 32>>>(y, z, n / 4);
}
"""


def test_two_kernels_that_finish_one_sum() -> None:
    x = np.random.default_rng(3).standard_normal(5000).astype(np.float32)
    done = executed(SUM, {"x": x, "y": Uninitialised((1,)), "sums": Uninitialised((10,)), "n": 5000})
    assert done.faults == ()
    np.testing.assert_allclose(done.arrays["y"][0], 0.25 * x.astype(np.float64).sum(), rtol=1e-4)


def test_a_normalisation_in_three_kernels() -> None:
    x = np.random.default_rng(4).standard_normal((32, 48)).astype(np.float32)
    arguments = {"in": x, "out": Uninitialised(x.shape), "mean": Uninitialised((32,)), "rstd": Uninitialised((32,))}
    done = executed(NORMALISE, {**arguments, "rows": 32, "c": 48})
    assert done.faults == ()
    mean = x.mean(axis=1, dtype=np.float64)
    rstd = 1 / np.sqrt(x.var(axis=1, dtype=np.float64) + 1e-5)
    np.testing.assert_allclose(done.arrays["mean"], mean, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(done.arrays["rstd"], rstd, rtol=1e-4)
    np.testing.assert_allclose(done.arrays["out"], (x - mean[:, None]) * rstd[:, None], rtol=1e-3, atol=1e-5)


def test_a_kernel_that_is_launched_twice_on_what_it_left() -> None:
    x = np.arange(256, dtype=np.float32)
    done = executed(TWICE, {"x": x, "y": Uninitialised((128,)), "z": Uninitialised((64,)), "n": 256})
    assert done.faults == ()
    np.testing.assert_array_equal(done.arrays["z"], x.reshape(64, 4).sum(axis=1))


def test_linked_programs_compute_the_same() -> None:
    x = np.random.default_rng(5).standard_normal(3000).astype(np.float32)
    cases = {
        SUM: {"x": x, "y": Uninitialised((1,)), "sums": Uninitialised((6,)), "n": 3000},
        TWICE: {"x": x[:2048], "y": Uninitialised((1024,)), "z": Uninitialised((512,)), "n": 2048},
    }
    for text, arguments in cases.items():
        program = linked(lowered(text))
        assert verify(program) == ()
        assert all(not launch.arguments and not launch.values for launch in program.launches)
        before, after = executed(text, arguments), run(program, arguments)
        assert after.faults == ()
        for name, array in before.arrays.items():
            np.testing.assert_array_equal(after.arrays[name], array)
