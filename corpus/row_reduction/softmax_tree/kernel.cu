// Row softmax with shared-memory halving trees. One block per row; NTHREADS is a power of two.
#include <math.h>

template <int NTHREADS>
__global__ void softmax_rows(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float red[NTHREADS];
  const int t = threadIdx.x;
  const float* xr = x + (size_t)blockIdx.x * n;
  float* yr = y + (size_t)blockIdx.x * n;

  float mx = -INFINITY;
  for (int i = t; i < n; i += NTHREADS) mx = fmaxf(mx, xr[i]);
  red[t] = mx;
  __syncthreads();
  for (int s = NTHREADS / 2; s > 0; s >>= 1) {
    if (t < s) red[t] = fmaxf(red[t], red[t + s]);
    __syncthreads();
  }
  mx = red[0];
  __syncthreads();  // everyone has read the maximum before the buffer is reused

  float sum = 0.f;
  for (int i = t; i < n; i += NTHREADS) sum += expf(xr[i] - mx);
  red[t] = sum;
  __syncthreads();
  for (int s = NTHREADS / 2; s > 0; s >>= 1) {
    if (t < s) red[t] += red[t + s];
    __syncthreads();
  }
  const float total = red[0];
  for (int i = t; i < n; i += NTHREADS) yr[i] = expf(xr[i] - mx) / total;
}

void softmax(const float* x, float* y, int rows, int n) {
  softmax_rows<256><<<rows, 256>>>(x, y, n);
}
