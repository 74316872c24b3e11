"""Transpose in 32 x 32 blocks. Rows are staged with the group swizzle of the original kernel."""
import nki
import nki.isa as nisa
import nki.language as nl

B = 32
GROUP = 4


@nki.jit
def transpose_swizzled(src):
    h, w = src.shape
    assert h % B == 0 and w % B == 0
    dst = nl.ndarray((w, h), dtype=nl.float32, buffer=nl.shared_hbm)

    for r in range(0, h, B):
        for c in range(0, w, B):
            cell = nl.ndarray((B, B), dtype=nl.float32, buffer=nl.sbuf)
            for y in range(B):
                for g in range(B // GROUP):
                    to = (g ^ (y & 7)) * GROUP
                    nisa.dma_copy(dst=cell[y:y + 1, to:to + GROUP],
                                  src=src[r + y:r + y + 1, c + g * GROUP:c + (g + 1) * GROUP])
            turned = nl.ndarray((B, B), dtype=nl.float32, buffer=nl.sbuf)
            nisa.nc_transpose(dst=turned, data=cell, engine=nisa.engine.vector)
            nisa.dma_copy(dst=dst[c:c + B, r:r + B], src=turned)
    return dst
