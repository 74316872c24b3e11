// Out-of-place transpose of an h x w float matrix through a padded shared-memory tile.
// Blocks are 32 x 8; each thread moves four elements.
__global__ void transpose(float* __restrict__ out, const float* __restrict__ in, int h, int w) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < w && y + j < h) tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * w + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < h && y + j < w) out[(size_t)(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}

void launch_transpose(float* out, const float* in, int h, int w) {
  dim3 grid((w + 31) / 32, (h + 31) / 32);
  transpose<<<grid, dim3(32, 8)>>>(out, in, h, w);
}
