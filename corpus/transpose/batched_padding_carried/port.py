"""Batched transpose [b, rows, cols] -> [b, cols, rows]. The staging tile keeps the spare column of the original."""
import nki
import nki.isa as nisa
import nki.language as nl

P = 128


@nki.jit
def batch_transpose(x):
    batch, rows, cols = x.shape
    out = nl.ndarray((batch, cols, rows), dtype=x.dtype, buffer=nl.shared_hbm)

    for b in range(batch):
        for r0 in range(0, rows, P):
            r1 = min(r0 + P, rows)
            for c0 in range(0, cols, P):
                c1 = min(c0 + P, cols)
                h = r1 - r0
                w = c1 - c0
                stage = nl.ndarray((P, P + 1), dtype=x.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=stage[0:h, 0:w], src=x[b, r0:r1, c0:c1])
                flip = nl.ndarray((P, P), dtype=x.dtype, buffer=nl.psum)
                nisa.nc_transpose(dst=flip[0:w, 0:h], data=stage[0:h, 0:w])
                done = nl.ndarray((P, P), dtype=x.dtype, buffer=nl.sbuf)
                nisa.tensor_copy(dst=done[0:w, 0:h], src=flip[0:w, 0:h])
                nisa.dma_copy(dst=out[b, c0:c1, r0:r1], src=done[0:w, 0:h])
    return out
