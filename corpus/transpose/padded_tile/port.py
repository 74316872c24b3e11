"""Transpose of an (h, w) float matrix in blocks of up to 128 x 128 on the tensor engine."""
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def transpose(x):
    h, w = x.shape
    out = nl.ndarray((w, h), dtype=x.dtype, buffer=nl.shared_hbm)
    T = nl.tile_size.pmax

    for r in range(0, h, T):
        nr = min(T, h - r)
        for c in range(0, w, T):
            nc = min(T, w - c)
            block = nl.ndarray((nr, nc), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=block, src=x[r:r + nr, c:c + nc])
            turned = nl.ndarray((nc, nr), dtype=x.dtype, buffer=nl.psum)
            nisa.nc_transpose(dst=turned, data=block, engine=nisa.engine.tensor)
            result = nl.ndarray((nc, nr), dtype=x.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=result, src=turned)
            nisa.dma_copy(dst=out[c:c + nc, r:r + nr], src=result)
    return out
