"""Row-wise maximum of [nrow, ncol] logits."""
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def row_max(logits):
    nrow, ncol = logits.shape
    peak = nl.ndarray((nrow, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    step = nl.tile_size.pmax

    for lo in range(0, nrow, step):
        hi = min(lo + step, nrow)
        chunk = nl.ndarray((hi - lo, ncol), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=chunk, src=logits[lo:hi, 0:ncol])
        best = nl.ndarray((hi - lo, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=best, op=nl.maximum, data=chunk, axis=1)
        nisa.dma_copy(dst=peak[lo:hi, 0:1], src=best)
    return peak
