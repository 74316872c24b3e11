// Row sums of a [rows][cols] float matrix, one warp per row, several rows per block.
template <int ROWS_PER_BLOCK>
__global__ void row_sum(const float* __restrict__ m, float* __restrict__ sums, int rows, int cols) {
  int row = blockIdx.x * ROWS_PER_BLOCK + threadIdx.y;
  if (row >= rows) return;  // whole warps leave together
  float s = 0.f;
  for (int c = threadIdx.x; c < cols; c += 32) s += m[(long long)row * cols + c];
  s += __shfl_down_sync(0xFFFFFFFF, s, 16);
  s += __shfl_down_sync(0xFFFFFFFF, s, 8);
  s += __shfl_down_sync(0xFFFFFFFF, s, 4);
  s += __shfl_down_sync(0xFFFFFFFF, s, 2);
  s += __shfl_down_sync(0xFFFFFFFF, s, 1);
  if (threadIdx.x == 0) sums[row] = s;
}

void launch_row_sum(const float* m, float* sums, int rows, int cols) {
  constexpr int R = 4;
  row_sum<R><<<(rows + R - 1) / R, dim3(32, R)>>>(m, sums, rows, cols);
}
