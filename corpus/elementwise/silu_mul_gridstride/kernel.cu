// Gate of a SwiGLU block: y = silu(gate) * up, half storage, float arithmetic, grid-stride loop.
#include <cuda_fp16.h>

__device__ __forceinline__ float silu(float v) { return v / (1.0f + expf(-v)); }

__global__ void silu_mul(const __half* __restrict__ gate, const __half* __restrict__ up,
                         __half* __restrict__ y, size_t total) {
  const size_t step = (size_t)gridDim.x * blockDim.x;
  for (size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x; k < total; k += step) {
    const float g = __half2float(gate[k]);
    const float u = __half2float(up[k]);
    y[k] = __float2half(silu(g) * u);
  }
}

void silu_mul_launch(const __half* gate, const __half* up, __half* y, int tokens, int width) {
  const size_t total = (size_t)tokens * width;
  const int threads = 512;
  size_t want = (total + threads - 1) / threads;
  const int blocks = want > 1024 ? 1024 : (int)want;
  silu_mul<<<blocks, threads>>>(gate, up, y, total);
}
