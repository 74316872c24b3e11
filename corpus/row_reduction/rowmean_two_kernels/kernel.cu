// Means of the rows of a wide matrix. Several blocks share a row; a second kernel adds what they found.
#include <cuda_runtime.h>

#define THREADS 256
#define SPAN 4096

__global__ void row_chunks(const float* __restrict__ x, float* __restrict__ part, int cols) {
  __shared__ float box[THREADS];
  const float* row = x + (size_t)blockIdx.y * cols;
  const int t = threadIdx.x;

  float own = 0.0f;
  for (int j = blockIdx.x * blockDim.x + t; j < cols; j += gridDim.x * blockDim.x) own += row[j];
  box[t] = own;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half >>= 1) {
    if (t < half) box[t] += box[t + half];
    __syncthreads();
  }
  if (t == 0) part[blockIdx.y * gridDim.x + blockIdx.x] = box[0];
}

__global__ void row_finish(const float* __restrict__ part, float* __restrict__ mean, int rows, int chunks, int cols) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float total = 0.0f;
  for (int c = 0; c < chunks; ++c) total += part[r * chunks + c];
  mean[r] = total / cols;
}

void row_means(float* mean, const float* x, int rows, int cols, cudaStream_t stream) {
  const int chunks = (cols + SPAN - 1) / SPAN;
  float* part = nullptr;
  cudaMallocAsync((void**)&part, sizeof(float) * rows * chunks, stream);
  row_chunks<<<dim3(chunks, rows), THREADS, 0, stream>>>(x, part, cols);
  row_finish<<<(rows + THREADS - 1) / THREADS, THREADS, 0, stream>>>(part, mean, rows, chunks, cols);
  cudaFreeAsync(part, stream);
}
