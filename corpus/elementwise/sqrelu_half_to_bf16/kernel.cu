// Squared ReLU, fp16 in and fp16 out.
#include <cuda_fp16.h>

__global__ void squared_relu(const half* __restrict__ in, half* __restrict__ act, int n) {
  const int tid = blockIdx.x * blockDim.x + threadIdx.x;
  if (tid < n) {
    float v = fmaxf(__half2float(in[tid]), 0.0f);
    act[tid] = __float2half_rn(v * v);
  }
}

void squared_relu_fp16(const half* in, half* act, int n) {
  squared_relu<<<(n + 127) / 128, 128>>>(in, act, n);
}
