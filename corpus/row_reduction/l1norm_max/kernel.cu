// L1 norm of every row, one warp per row, butterfly sum of absolute values.
#include <math.h>

__global__ void l1_rows(const float* __restrict__ mat, float* __restrict__ norm, int r, int c) {
  const int gwarp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int ln = threadIdx.x % 32;
  if (gwarp >= r) return;
  float t = 0.f;
  for (int j = ln; j < c; j += 32) t += fabsf(mat[(size_t)gwarp * c + j]);
  for (int bit = 1; bit <= 16; bit *= 2) t += __shfl_xor_sync(~0u, t, bit);
  if (ln == 0) norm[gwarp] = t;
}
