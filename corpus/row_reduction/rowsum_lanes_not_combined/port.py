"""Row sums, transcribed lane by lane: 32 running sums a row, as the warp of the original holds them."""
import nki
import nki.isa as nisa
import nki.language as nl

P = 128
LANES = 32


@nki.jit
def fold_rows(src):
    rows, length = src.shape
    dst = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.shared_hbm)

    for r0 in range(0, rows, P):
        h = min(P, rows - r0)
        x = nl.ndarray((h, length), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=x, src=src[r0:r0 + h, 0:length])
        lanes = nl.ndarray((h, LANES), dtype=nl.float32, buffer=nl.sbuf)
        nisa.memset(dst=lanes, value=0.0)
        for k in range(0, length, LANES):
            w = min(LANES, length - k)
            nisa.tensor_tensor(dst=lanes[0:h, 0:w], data1=lanes[0:h, 0:w],
                               data2=x[0:h, k:k + w], op=nl.add)
        nisa.dma_copy(dst=dst[r0:r0 + h, 0:1], src=lanes[0:h, 0:1])
    return dst
