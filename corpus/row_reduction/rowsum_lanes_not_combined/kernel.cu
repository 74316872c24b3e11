// Sum of each row, one warp per row: lanes stride through the row, then fold by shuffles.
__global__ void fold_rows(const float* __restrict__ src, float* __restrict__ dst, int rows, int len) {
  const int lane = threadIdx.x;  // blockDim = (32, 8)
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row < rows) {
    float v = 0.0f;
    for (int k = lane; k < len; k += 32) v += src[(size_t)row * len + k];
    for (int delta = 16; delta > 0; delta >>= 1) v += __shfl_down_sync(0xffffffffu, v, delta);
    if (lane == 0) dst[row] = v;
  }
}

void fold_rows_launch(const float* src, float* dst, int rows, int len) {
  dim3 threads(32, 8);
  fold_rows<<<(rows + 7) / 8, threads>>>(src, dst, rows, len);
}
