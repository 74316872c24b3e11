// Row-wise maximum, used to shift logits. A warp owns a row; every lane ends with the result.
#include <math_constants.h>

static __device__ float warp_max(float v) {
  for (int offset = 16; offset > 0; offset >>= 1)
    v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, offset, 32));
  return v;
}

__global__ void row_max(const float* logits, float* peak, int nrow, int ncol) {
  const int wid = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
  const int lane = threadIdx.x & 31;
  if (wid < nrow) {
    const float* p = logits + (size_t)wid * ncol;
    float best = -CUDART_INF_F;
    for (int k = lane; k < ncol; k += 32) best = fmaxf(best, p[k]);
    best = warp_max(best);
    if (lane == 0) peak[wid] = best;
  }
}
