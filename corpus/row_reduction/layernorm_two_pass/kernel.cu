// LayerNorm, float, two passes over the row (mean first, then centred squares).
#include <cuda_runtime.h>

#define BLOCK 128

__device__ float block_total(float v, float* scratch) {
  scratch[threadIdx.x] = v;
  __syncthreads();
  for (int half = BLOCK / 2; half >= 1; half /= 2) {
    if (threadIdx.x < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];
    __syncthreads();
  }
  float r = scratch[0];
  __syncthreads();
  return r;
}

__global__ void layer_norm(const float* __restrict__ inp, const float* __restrict__ gain,
                           const float* __restrict__ shift, float* __restrict__ outp,
                           int width, float epsilon) {
  __shared__ float scratch[BLOCK];
  const size_t row = (size_t)blockIdx.x * width;

  float part = 0.f;
  for (int k = threadIdx.x; k < width; k += BLOCK) part += inp[row + k];
  const float mean = block_total(part, scratch) / width;

  float sq = 0.f;
  for (int k = threadIdx.x; k < width; k += BLOCK) {
    const float d = inp[row + k] - mean;
    sq += d * d;
  }
  const float rstd = rsqrtf(block_total(sq, scratch) / width + epsilon);

  for (int k = threadIdx.x; k < width; k += BLOCK)
    outp[row + k] = (inp[row + k] - mean) * rstd * gain[k] + shift[k];
}

extern "C" void layer_norm_fwd(const float* inp, const float* gain, const float* shift, float* outp,
                               int rows, int width, float epsilon) {
  layer_norm<<<rows, BLOCK>>>(inp, gain, shift, outp, width, epsilon);
}
