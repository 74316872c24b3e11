// C[m][n] = sum_k At[k][m] * B[k][n]; the left factor is stored K-major. bfloat16 in and out.
#include <cuda_bf16.h>

constexpr int BT = 32;

__device__ __forceinline__ float ldf(const __nv_bfloat16* p, int r, int c, int nr, int nc) {
  return (r < nr && c < nc) ? __bfloat162float(p[(size_t)r * nc + c]) : 0.f;
}

__global__ void gemm_tn(const __nv_bfloat16* At, const __nv_bfloat16* B, __nv_bfloat16* C,
                        int m, int n, int k) {
  __shared__ float sa[BT][BT];
  __shared__ float sb[BT][BT];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int i0 = blockIdx.y * BT, j0 = blockIdx.x * BT;

  float sum = 0.f;
  for (int p = 0; p < k; p += BT) {
    sa[ty][tx] = ldf(At, p + ty, i0 + tx, k, m);
    sb[ty][tx] = ldf(B, p + ty, j0 + tx, k, n);
    __syncthreads();
#pragma unroll
    for (int q = 0; q < BT; ++q) sum += sa[q][ty] * sb[q][tx];
    __syncthreads();
  }
  if (i0 + ty < m && j0 + tx < n) C[(size_t)(i0 + ty) * n + j0 + tx] = __float2bfloat16(sum);
}
