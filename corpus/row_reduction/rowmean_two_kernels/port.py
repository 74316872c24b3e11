"""Means of the rows of a matrix: rows on partitions, a whole row in one partition."""
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def row_means(x):
    rows, cols = x.shape
    P = nl.tile_size.pmax
    mean = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.shared_hbm)

    for r0 in range(0, rows, P):
        m = min(P, rows - r0)
        xt = nl.ndarray((P, cols), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=xt[0:m, 0:cols], src=x[r0:r0 + m, 0:cols])

        total = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=total[0:m, 0:1], op=nl.add, data=xt[0:m, 0:cols], axis=1)
        nisa.tensor_scalar(dst=total[0:m, 0:1], data=total[0:m, 0:1], op0=nl.multiply, operand0=1.0 / cols)
        nisa.dma_copy(dst=mean[r0:r0 + m, 0:1], src=total[0:m, 0:1])
    return mean
