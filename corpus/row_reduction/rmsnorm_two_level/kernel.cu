// RMSNorm forward, half activations, float weight. One block per token.
// Two-level sum: butterfly inside each warp, then one warp over the warp totals.
#include <cuda_fp16.h>

#define FULL 0xffffffffu

template <int NT>
__global__ void rms_forward(__half* __restrict__ out, const __half* __restrict__ in,
                            const float* __restrict__ weight, int hidden, float eps) {
  constexpr int NW = NT / 32;
  __shared__ float warp_tot[NW];
  __shared__ float inv_rms;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const __half* src = in + (size_t)blockIdx.x * hidden;
  __half* dst = out + (size_t)blockIdx.x * hidden;

  float acc = 0.0f;
  for (int j = threadIdx.x; j < hidden; j += NT) {
    const float v = __half2float(src[j]);
    acc += v * v;
  }
#pragma unroll
  for (int d = 16; d >= 1; d /= 2) acc += __shfl_xor_sync(FULL, acc, d);
  if (lane == 0) warp_tot[warp] = acc;
  __syncthreads();

  if (warp == 0) {
    float t = lane < NW ? warp_tot[lane] : 0.0f;
    for (int d = 16; d >= 1; d /= 2) t += __shfl_xor_sync(FULL, t, d);
    if (lane == 0) inv_rms = rsqrtf(t / hidden + eps);
  }
  __syncthreads();

  const float s = inv_rms;
  for (int j = threadIdx.x; j < hidden; j += NT)
    dst[j] = __float2half(__half2float(src[j]) * s * weight[j]);
}

void rms_forward_launch(__half* out, const __half* in, const float* weight, int tokens, int hidden,
                        float eps, cudaStream_t st) {
  rms_forward<512><<<tokens, 512, 0, st>>>(out, in, weight, hidden, eps);
}
