"""Pairs that these rules leave alone, in both generations; their hits are made from them."""

COPY_CUDA = """__global__ void copy(const float* x, float* y, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) y[i] = x[i];
}
"""

COPY_NKI = """import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def copy(x):
    rows, cols = x.shape
    assert rows % 128 == 0
    y = nl.ndarray((rows, cols), dtype=x.dtype, buffer=nl.shared_hbm)
    for r in range(0, rows, 128):
        tile = nl.ndarray((128, cols), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile[0:128, 0:cols], src=x[r:r + 128, 0:cols])
        nisa.dma_copy(dst=y[r:r + 128, 0:cols], src=tile[0:128, 0:cols])
    return y
"""

COPY_LEGACY = """import neuronxcc.nki as nki
import neuronxcc.nki.language as nl

@nki.jit
def copy(x):
    rows, cols = x.shape
    assert rows == 32768
    y = nl.ndarray((rows, cols), dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = nl.ndarray((256, nl.par_dim(128), cols), dtype=x.dtype, buffer=nl.sbuf)
    for b in nl.affine_range(256):
        tiles[b] = nl.load(x[b * 128:(b + 1) * 128, 0:cols])
        nl.store(y[b * 128:(b + 1) * 128, 0:cols], value=tiles[b])
    return y
"""

HALVES_NKI = """import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def copy(x):
    rows, cols = x.shape
    assert rows == 128
    y = nl.ndarray((rows, cols), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, cols), dtype=x.dtype, buffer=nl.sbuf)
    done = nl.ndarray((128, cols), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_copy(dst=done[0:64, 0:cols], src=tile[0:64, 0:cols])
    nisa.tensor_copy(dst=done[64:128, 0:cols], src=tile[64:128, 0:cols])
    nisa.dma_copy(dst=y, src=done)
    return y
"""

MATMUL_CUDA = """__global__ void product(const float* x, const float* w, float* y) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 128 || j >= 512) return;
  float sum = 0.f;
  for (int k = 0; k < 128; ++k) sum += x[k * 128 + i] * w[k * 512 + j];
  y[i * 512 + j] = sum;
}
"""

MATMUL_NKI = """import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def product(x, w):
    y = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    left = nl.ndarray((128, 128), dtype=nl.bfloat16, buffer=nl.sbuf)
    right = nl.ndarray((128, 512), dtype=nl.bfloat16, buffer=nl.sbuf)
    nisa.dma_copy(dst=left, src=x[0:128, 0:128])
    nisa.dma_copy(dst=right, src=w[0:128, 0:512])
    product = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=product, stationary=left, moving=right)
    done = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=done, src=product)
    nisa.dma_copy(dst=y, src=done)
    return y
"""

MATMUL_LEGACY = """import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

@nki.jit
def product(x, w):
    y = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    left = nl.load(x[0:128, 0:128])
    right = nl.load(w[0:128, 0:512])
    product = nisa.nc_matmul(left, right)
    nl.store(y, value=nl.copy(product))
    return y
"""

RANDOM_NKI = COPY_NKI.replace(
    "nisa.dma_copy(dst=tile[0:128, 0:cols], src=x[r:r + 128, 0:cols])", "nisa.rand2(dst=tile, min=0.0, max=1.0)"
)
