// RMSNorm for float rows; warp sums by shuffle-down, combined by warp 0 and shared with the block.
#include <cuda_runtime.h>

__inline__ __device__ float warp_sum(float v) {
  for (int o = warpSize / 2; o > 0; o /= 2) v += __shfl_down_sync(0xffffffff, v, o);
  return v;
}

__global__ void rmsnorm_f32(const float* x, const float* g, float* y, int d, float eps) {
  __shared__ float part[32];
  const int lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
  x += (long)blockIdx.x * d;
  y += (long)blockIdx.x * d;

  float s = 0.f;
  for (int i = threadIdx.x; i < d; i += blockDim.x) s += x[i] * x[i];
  s = warp_sum(s);
  if (lane == 0) part[wid] = s;
  __syncthreads();
  if (wid == 0) {
    s = threadIdx.x < blockDim.x / 32 ? part[lane] : 0.f;
    s = warp_sum(s);
    if (lane == 0) part[0] = s;
  }
  __syncthreads();
  const float r = rsqrtf(part[0] / d + eps);
  for (int i = threadIdx.x; i < d; i += blockDim.x) y[i] = x[i] * r * g[i];
}

extern "C" void rmsnorm_f32_run(const float* x, const float* g, float* y, int n, int d, float eps) {
  const int threads = 256;
  rmsnorm_f32<<<n, threads>>>(x, g, y, d, eps);
}
