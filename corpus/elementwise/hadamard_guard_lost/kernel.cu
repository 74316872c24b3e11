// Hadamard product of two vectors; the grid is rounded up, so the tail threads must not touch memory.
__global__ void hadamard(const float* a, const float* b, float* c, int n) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n)
    c[i] = a[i] * b[i];
}

void run_hadamard(const float* a, const float* b, float* c, int n) {
  int tpb = 128;
  hadamard<<<(n + tpb - 1) / tpb, tpb>>>(a, b, c, n);
}
