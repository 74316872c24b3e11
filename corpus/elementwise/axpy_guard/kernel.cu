// out = alpha * x + y over a flat array of any length.
// One thread per element; the last block is ragged, hence the guard.
#include <cuda_runtime.h>

__global__ void axpy_kernel(const float* __restrict__ x, const float* __restrict__ y,
                            float* __restrict__ out, float alpha, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = alpha * x[i] + y[i];
  }
}

extern "C" void axpy(const float* x, const float* y, float* out, float alpha, int n,
                     cudaStream_t stream) {
  const int threads = 256;
  const int blocks = (n + threads - 1) / threads;
  axpy_kernel<<<blocks, threads, 0, stream>>>(x, y, out, alpha, n);
}
