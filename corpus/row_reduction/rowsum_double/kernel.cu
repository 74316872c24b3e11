// Row sums accumulated in double so that long rows keep their low bits.
template <unsigned TPB>
__global__ void row_sum_wide(const float* __restrict__ a, float* __restrict__ out, int ncols) {
  __shared__ double pool[TPB];
  const float* r = a + (size_t)blockIdx.x * ncols;

  double total = 0.0;
  for (int j = threadIdx.x; j < ncols; j += TPB) total += r[j];
  pool[threadIdx.x] = total;
  __syncthreads();

  for (unsigned gap = TPB >> 1; gap; gap >>= 1) {
    if (threadIdx.x < gap) pool[threadIdx.x] += pool[threadIdx.x + gap];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = (float)pool[0];
}

void row_sum_wide_run(const float* a, float* out, int nrows, int ncols) {
  row_sum_wide<256><<<nrows, 256>>>(a, out, ncols);
}
