// RMS normalisation without weight, bfloat16, warp butterfly then one slot per warp.
#include <cuda_bf16.h>

__global__ void rms_plain(const __nv_bfloat16* __restrict__ x, __nv_bfloat16* __restrict__ y,
                          int n, float eps) {
  __shared__ float slots[32];
  const __nv_bfloat16* xr = x + (size_t)blockIdx.x * n;
  __nv_bfloat16* yr = y + (size_t)blockIdx.x * n;

  float ssq = 0.f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float f = __bfloat162float(xr[i]);
    ssq += f * f;
  }
  for (int m = 1; m < 32; m <<= 1) ssq += __shfl_xor_sync(0xffffffff, ssq, m);
  if ((threadIdx.x & 31) == 0) slots[threadIdx.x >> 5] = ssq;
  __syncthreads();

  float all = 0.f;
  for (int w = 0; w < (int)(blockDim.x >> 5); ++w) all += slots[w];
  const float k = rsqrtf(all / (float)n + eps);
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    yr[i] = __float2bfloat16(__bfloat162float(xr[i]) * k);
}

void rms_plain_launch(const __nv_bfloat16* x, __nv_bfloat16* y, int rows, int n, float eps) {
  rms_plain<<<rows, 256>>>(x, y, n, eps);
}
