// C = A * B, row-major; half operands, float accumulation and float result. Any M, N, K.
#include <cuda_fp16.h>

template <int T>
__global__ void gemm_half(const __half* __restrict__ A, const __half* __restrict__ B,
                          float* __restrict__ C, int M, int N, int K) {
  __shared__ __half As[T][T];
  __shared__ __half Bs[T][T];
  const int row = blockIdx.y * T + threadIdx.y;
  const int col = blockIdx.x * T + threadIdx.x;

  float acc = 0.0f;
  for (int k0 = 0; k0 < K; k0 += T) {
    const int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;
    As[threadIdx.y][threadIdx.x] = (row < M && ka < K) ? A[row * K + ka] : __float2half(0.0f);
    Bs[threadIdx.y][threadIdx.x] = (kb < K && col < N) ? B[kb * N + col] : __float2half(0.0f);
    __syncthreads();
    for (int k = 0; k < T; ++k)
      acc += __half2float(As[threadIdx.y][k]) * __half2float(Bs[k][threadIdx.x]);
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = acc;
}

void gemm_half_launch(const __half* A, const __half* B, float* C, int M, int N, int K) {
  constexpr int T = 16;
  dim3 block(T, T);
  dim3 grid((N + T - 1) / T, (M + T - 1) / T);
  gemm_half<T><<<grid, block>>>(A, B, C, M, N, K);
}
