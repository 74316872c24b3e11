// Total of a float vector: grid-stride partials, warp and block reduction, one atomicAdd per block.
#include <cuda_runtime.h>

template <int TPB>
__global__ void total_kernel(const float* __restrict__ v, float* __restrict__ total, long n) {
  __shared__ float ws[TPB / 32];
  float mine = 0.f;
  for (long i = (long)blockIdx.x * TPB + threadIdx.x; i < n; i += (long)gridDim.x * TPB) mine += v[i];

  for (int o = 16; o; o >>= 1) mine += __shfl_down_sync(0xffffffffu, mine, o);
  if (threadIdx.x % 32 == 0) ws[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    float blk = 0.f;
    for (int w = 0; w < TPB / 32; ++w) blk += ws[w];
    atomicAdd(total, blk);
  }
}

void vector_total(const float* v, float* total, long n, cudaStream_t stream) {
  cudaMemsetAsync(total, 0, sizeof(float), stream);
  long need = (n + 255) / 256;
  int grid = need < 512 ? (int)need : 512;
  total_kernel<256><<<grid, 256, 0, stream>>>(v, total, n);
}
