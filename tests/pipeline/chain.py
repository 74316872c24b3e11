"""What two kernels make, one after the other, and the ports: a sum, and the means of rows."""

SUM = """\
__global__ void collect(const float* in, float* sums, int n) {
  __shared__ float box[256];
  int t = threadIdx.x;
  float own = 0.f;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) own += in[i];
  box[t] = own;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) { if (t < s) box[t] += box[t + s]; __syncthreads(); }
  if (t == 0) sums[blockIdx.x] = box[0];
}
__global__ void finish(const float* in, float* out, int n, float scale) {
  if (threadIdx.x == 0) {
    float own = 0.f;
    for (int i = 0; i < n; ++i) own += in[i];
    out[0] = own * scale;
  }
}
void total(const float* x, float* y, int n) {
  const int blocks = (n + 1023) / 1024;
  float* sums;
  cudaMalloc(&sums, blocks * sizeof(float));
  collect<<<blocks, 256>>>(x, sums, n);
  finish<<<1, 32>>>(sums, y, blocks, 0.5f);
  cudaFree(sums);
}
"""
SUM_PORT = """\
def total(x):
    n = x.shape[0]
    y = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    row = nl.ndarray((1, n), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=row, src=x.reshape((1, n)))
    s = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=s, op=nl.add, data=row, axis=1)
    nisa.tensor_scalar(dst=s, data=s, op0=nl.multiply, operand0=0.5)
    nisa.dma_copy(dst=y, src=s)
    return y
"""
MEANS = """\
#define THREADS 256
#define SPAN 4096

__global__ void row_chunks(const float* __restrict__ x, float* __restrict__ part, int cols) {
  __shared__ float box[THREADS];
  const float* row = x + (size_t)blockIdx.y * cols;
  const int t = threadIdx.x;

  float own = 0.0f;
  for (int j = blockIdx.x * blockDim.x + t; j < cols; j += gridDim.x * blockDim.x) own += row[j];
  box[t] = own;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half >>= 1) {
    if (t < half) box[t] += box[t + half];
    __syncthreads();
  }
  if (t == 0) part[blockIdx.y * gridDim.x + blockIdx.x] = box[0];
}

__global__ void row_finish(const float* __restrict__ part, float* __restrict__ mean, int rows, int chunks, int cols) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float total = 0.0f;
  for (int c = 0; c < chunks; ++c) total += part[r * chunks + c];
  mean[r] = total / cols;
}

void row_means(float* mean, const float* x, int rows, int cols, cudaStream_t stream) {
  const int chunks = (cols + SPAN - 1) / SPAN;
  float* part = nullptr;
  cudaMallocAsync((void**)&part, sizeof(float) * rows * chunks, stream);
  row_chunks<<<dim3(chunks, rows), THREADS, 0, stream>>>(x, part, cols);
  row_finish<<<(rows + THREADS - 1) / THREADS, THREADS, 0, stream>>>(part, mean, rows, chunks, cols);
  cudaFreeAsync(part, stream);
}
"""
MEANS_PORT = """\
def row_means(x):
    rows, cols = x.shape
    P = nl.tile_size.pmax
    mean = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.shared_hbm)

    for r0 in range(0, rows, P):
        m = min(P, rows - r0)
        xt = nl.ndarray((P, cols), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=xt[0:m, 0:cols], src=x[r0:r0 + m, 0:cols])

        total = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=total[0:m, 0:1], op=nl.add, data=xt[0:m, 0:cols], axis=1)
        nisa.tensor_scalar(dst=total[0:m, 0:1], data=total[0:m, 0:1], op0=nl.multiply, operand0=1.0 / cols)
        nisa.dma_copy(dst=mean[r0:r0 + m, 0:1], src=total[0:m, 0:1])
    return mean
"""
