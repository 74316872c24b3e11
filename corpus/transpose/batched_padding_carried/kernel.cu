// Batched transpose, half precision: in[b][rows][cols] -> out[b][cols][rows]. blockIdx.z is the batch.
#include <cuda_fp16.h>

constexpr int TILE = 32;

__global__ void batch_transpose(const half* __restrict__ in, half* __restrict__ out, int rows, int cols) {
  __shared__ half buf[TILE][TILE + 1];
  const size_t plane = (size_t)blockIdx.z * rows * cols;
  const int r0 = blockIdx.y * TILE, c0 = blockIdx.x * TILE;

  if (r0 + threadIdx.y < rows && c0 + threadIdx.x < cols)
    buf[threadIdx.y][threadIdx.x] = in[plane + (size_t)(r0 + threadIdx.y) * cols + c0 + threadIdx.x];
  __syncthreads();
  if (c0 + threadIdx.y < cols && r0 + threadIdx.x < rows)
    out[plane + (size_t)(c0 + threadIdx.y) * rows + r0 + threadIdx.x] = buf[threadIdx.x][threadIdx.y];
}

void batch_transpose_launch(const half* in, half* out, int batch, int rows, int cols) {
  dim3 grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE, batch);
  batch_transpose<<<grid, dim3(TILE, TILE)>>>(in, out, rows, cols);
}
