// Rescale and clip a float buffer: dst = clamp(src * gain + offset, lo, hi).
#include <cuda_runtime.h>

__global__ void affine_clip(float* dst, const float* src, float gain, float offset, float lo,
                            float hi, unsigned int count) {
  const unsigned int idx = threadIdx.x + blockDim.x * blockIdx.x;
  if (idx >= count) return;
  const float v = src[idx] * gain + offset;
  dst[idx] = fminf(fmaxf(v, lo), hi);
}
