"""Miniature row sums that the rules about reductions share."""

CUDA_SHUFFLE = """__global__ void row_sum(const float* x, float* y, int rows, int cols) {
  int row = blockIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) sum += x[row * cols + c];
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (threadIdx.x == 0) y[row] = sum;
}
void launch(const float* x, float* y, int rows, int cols) { row_sum<<<rows, 32>>>(x, y, rows, cols); }
"""
CUDA_LOOP = """__global__ void row_sum(const float* x, float* y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) sum += x[row * cols + c];
  y[row] = sum;
}
"""
NKI_HEAD = """import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def row_sum(x):
    rows, cols = x.shape
    y = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    for t in range(0, rows, 128):
        h = min(128, rows - t)
        xt = nl.ndarray((h, cols), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=xt, src=x[t:t + h, 0:cols])
        total = nl.ndarray((h, 1), dtype=nl.float32, buffer=nl.sbuf)
"""
NKI_TAIL = """        nisa.dma_copy(dst=y[t:t + h, 0:1], src=total)
    return y
"""
NKI_SUM = NKI_HEAD + "        nisa.tensor_reduce(dst=total, op=nl.add, data=xt, axis=1)\n" + NKI_TAIL
NKI_MAX = NKI_HEAD + "        nisa.tensor_reduce(dst=total, op=nl.maximum, data=xt, axis=1)\n" + NKI_TAIL
NKI_FIRST = NKI_HEAD + "        nisa.tensor_copy(dst=total, src=xt[0:h, 0:1])\n" + NKI_TAIL
NKI_PARTIAL_ACCUMULATOR = (
    NKI_HEAD.replace("nl.ndarray((h, 1), dtype=nl.float32", "nl.ndarray((h, 1), dtype={dtype}")
    + """        nisa.memset(dst=total, value=0.0)
        for c in range(0, cols, 512):
            w = min(512, cols - c)
            part = nl.ndarray((h, 1), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_reduce(dst=part, op=nl.add, data=xt[0:h, c:c + w], axis=1)
            nisa.tensor_tensor(dst=total, data1=total, data2=part, op=nl.add)
"""
    + NKI_TAIL
)
