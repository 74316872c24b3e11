"""Row sums. The device has no 64-bit float, so the sum runs in float32."""
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def row_sum_wide(a):
    nrows, ncols = a.shape
    out = nl.ndarray((nrows, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    for r0 in range(0, nrows, 128):
        k = min(128, nrows - r0)
        rows = nl.ndarray((128, ncols), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=rows[0:k, 0:ncols], src=a[r0:r0 + k, 0:ncols])
        total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=total[0:k, 0:1], op=nl.add, data=rows[0:k, 0:ncols], axis=1)
        nisa.dma_copy(dst=out[r0:r0 + k, 0:1], src=total[0:k, 0:1])
    return out
