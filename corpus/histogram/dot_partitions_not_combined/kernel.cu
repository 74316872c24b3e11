// Dot product: strided products per thread, halving tree per block, one atomicAdd per block.
#include <cuda_runtime.h>

#define DOT_TPB 256

__global__ void dot_kernel(const float* __restrict__ p, const float* __restrict__ q, float* out, int n) {
  __shared__ float cache[DOT_TPB];
  const int t = threadIdx.x;
  float acc = 0.f;
  for (int i = blockIdx.x * DOT_TPB + t; i < n; i += gridDim.x * DOT_TPB) acc += p[i] * q[i];
  cache[t] = acc;
  __syncthreads();
  for (int k = DOT_TPB / 2; k != 0; k /= 2) {
    if (t < k) cache[t] += cache[t + k];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, cache[0]);
}

void dot(const float* p, const float* q, float* out, int n) {
  cudaMemset(out, 0, sizeof(float));
  int blocks = (n + DOT_TPB - 1) / DOT_TPB;
  dot_kernel<<<blocks < 128 ? blocks : 128, DOT_TPB>>>(p, q, out, n);
}
