"""Miniature elementwise kernels that the rules about edges share."""

CUDA = """__global__ void negate(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = -x[i];
}
"""
_NKI = """import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def negate(x):
    n, = x.shape
{check}    y = nl.ndarray((n,), dtype=x.dtype, buffer=nl.shared_hbm)
    for t in range({trips}):
        {rows}
        tile = nl.ndarray((h, 1), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[t * 128:t * 128 + h].reshape((h, 1)))
        out = nl.ndarray((h, 1), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=out, data=tile, op0=nl.multiply, operand0=-1.0)
        nisa.dma_copy(dst=y[t * 128:t * 128 + h].reshape((h, 1)), src=out)
    return y
"""
NKI_CLIPPED = _NKI.format(check="", trips="(n + 127) // 128", rows="h = min(128, n - t * 128)")
NKI_FLOOR = _NKI.format(check="", trips="n // 128", rows="h = 128")
NKI_UNGUARDED = _NKI.format(check="", trips="(n + 127) // 128", rows="h = 128")
NKI_ASSERTED = _NKI.format(check="    assert n % 128 == 0\n", trips="n // 128", rows="h = 128")
