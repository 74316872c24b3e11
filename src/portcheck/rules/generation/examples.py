"""Sources that the examples of several rules share."""

CUDA = """__global__ void twice(const float* x, float* y, int rows, int cols) {
  int i = blockIdx.x, j = threadIdx.x;
  if (i < rows && j < cols) y[i * cols + j] = 2.0f * x[i * cols + j];
}
"""
HEAD = """import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def twice(x):
    rows, cols = x.shape
    assert rows == 128
    y = nl.ndarray((128, cols), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, cols), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
"""
TAIL = """    nisa.dma_copy(dst=y, src=tile)
    return y
"""
SCALE = "    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)\n"
PORT = HEAD + SCALE + TAIL
LEGACY_HEAD = """import neuronxcc.nki as nki
import neuronxcc.nki.language as nl

@nki.jit
def twice(x):
    rows, cols = x.shape
    assert rows == 128
    y = nl.ndarray((128, cols), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x[0:128, 0:cols])
"""
LEGACY = LEGACY_HEAD + "    nl.store(y[0:128, 0:cols], tile * 2.0)\n    return y\n"
