// 256-bin histogram of a byte buffer: block-private counters in shared memory, merged at the end.
#include <cuda_runtime.h>

#define BINS 256

__global__ void byte_histogram(const unsigned char* __restrict__ data, int* __restrict__ hist, int n) {
  __shared__ int local[BINS];
  for (int b = threadIdx.x; b < BINS; b += blockDim.x) local[b] = 0;
  __syncthreads();

  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[data[i]], 1);
  __syncthreads();

  for (int b = threadIdx.x; b < BINS; b += blockDim.x)
    if (local[b] != 0) atomicAdd(&hist[b], local[b]);
}

extern "C" void byte_histogram_run(const unsigned char* data, int* hist, int n, cudaStream_t s) {
  cudaMemsetAsync(hist, 0, BINS * sizeof(int), s);
  int blocks = (n + 255) / 256;
  if (blocks > 240) blocks = 240;
  byte_histogram<<<blocks, 256, 0, s>>>(data, hist, n);
}
