"""Row sums over column strips; the running total sits in a small tile beside the data."""
import nki
import nki.isa as nisa
import nki.language as nl

P, W = 128, 4096


@nki.jit
def bf16_row_sum(x):
    rows, cols = x.shape
    out = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.shared_hbm)

    for r in range(0, rows, P):
        h = min(P, rows - r)
        running = nl.ndarray((h, 1), dtype=nl.bfloat16, buffer=nl.sbuf)
        nisa.memset(dst=running, value=0.0)
        for c in range(0, cols, W):
            w = min(W, cols - c)
            strip = nl.ndarray((h, w), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=strip, src=x[r:r + h, c:c + w])
            part = nl.ndarray((h, 1), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_reduce(dst=part, op=nl.add, data=strip, axis=1)
            nisa.tensor_tensor(dst=running, data1=running, data2=part, op=nl.add)
        res = nl.ndarray((h, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_copy(dst=res, src=running)
        nisa.dma_copy(dst=out[r:r + h, 0:1], src=res)
    return out
