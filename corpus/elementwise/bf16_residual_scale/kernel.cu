// out[r][c] = x[r][c] + alpha * branch[r][c] on bfloat16 activations.
// blockIdx.y walks the rows, blockIdx.x the column blocks; arithmetic is done in float.
#include <cuda_bf16.h>

typedef __nv_bfloat16 bf16;

__global__ void residual_scale(const bf16* x, const bf16* branch, bf16* out, float alpha, int cols) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  const long base = (long)blockIdx.y * cols;
  if (c < cols) {
    float b = __bfloat162float(branch[base + c]);
    float r = __bfloat162float(x[base + c]) + alpha * b;
    out[base + c] = __float2bfloat16(r);
  }
}

void residual_scale_host(const bf16* x, const bf16* branch, bf16* out, float alpha, int rows, int cols) {
  dim3 block(256, 1, 1);
  dim3 grid((cols + 255) / 256, rows, 1);
  residual_scale<<<grid, block>>>(x, branch, out, alpha, cols);
}
