// Transpose for sizes that are multiples of 32. No padding: columns are swizzled in groups of four
// so that a column read spreads over the banks. The read side applies the same swizzle.
#include <cassert>

__global__ void transpose_swizzled(const float* __restrict__ src, float* __restrict__ dst, int h, int w) {
  __shared__ float cell[32][32];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int r = blockIdx.y * 32, c = blockIdx.x * 32;
  cell[ty][tx ^ ((ty & 7) << 2)] = src[(r + ty) * w + c + tx];
  __syncthreads();
  dst[(c + ty) * h + r + tx] = cell[tx][ty ^ ((tx & 7) << 2)];
}

void transpose_swizzled_launch(const float* src, float* dst, int h, int w) {
  assert(h % 32 == 0 && w % 32 == 0);
  transpose_swizzled<<<dim3(w / 32, h / 32), dim3(32, 32)>>>(src, dst, h, w);
}
