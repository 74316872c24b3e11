// Row sums of a bfloat16 matrix; everything between load and store is float.
#include <cuda_bf16.h>

constexpr int kThreads = 256;

__global__ void bf16_row_sum(const __nv_bfloat16* in, float* out, int cols) {
  __shared__ float buf[kThreads];
  const __nv_bfloat16* p = in + (size_t)blockIdx.x * cols;
  float acc = 0.f;
  for (int i = threadIdx.x; i < cols; i += kThreads) acc += __bfloat162float(p[i]);
  buf[threadIdx.x] = acc;
  __syncthreads();
  for (int s = kThreads / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) buf[threadIdx.x] += buf[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = buf[0];
}

void bf16_row_sum_host(const __nv_bfloat16* in, float* out, int rows, int cols) {
  bf16_row_sum<<<rows, kThreads>>>(in, out, cols);
}
