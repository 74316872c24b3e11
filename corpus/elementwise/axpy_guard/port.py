"""axpy for Trainium: a flat vector cut into lines of 2048 elements, 128 lines a tile.

The last n % LINE elements do not make up a line; they run on one partition after the loop.
"""
import nki
import nki.isa as nisa
import nki.language as nl

P = nl.tile_size.pmax
LINE = 2048


@nki.jit
def axpy(x, y, alpha):
    n = x.shape[0]
    out = nl.ndarray((n,), dtype=nl.float32, buffer=nl.shared_hbm)

    lines = n // LINE
    body = lines * LINE
    if lines > 0:
        x2 = x[0:body].reshape((lines, LINE))
        y2 = y[0:body].reshape((lines, LINE))
        out2 = out[0:body].reshape((lines, LINE))
        for first in range(0, lines, P):
            h = min(P, lines - first)
            xt = nl.ndarray((h, LINE), dtype=nl.float32, buffer=nl.sbuf)
            yt = nl.ndarray((h, LINE), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=xt, src=x2[first:first + h, 0:LINE])
            nisa.dma_copy(dst=yt, src=y2[first:first + h, 0:LINE])
            zt = nl.ndarray((h, LINE), dtype=nl.float32, buffer=nl.sbuf)
            nisa.scalar_tensor_tensor(dst=zt, data=xt, op0=nl.multiply, operand0=alpha,
                                      op1=nl.add, operand1=yt)
            nisa.dma_copy(dst=out2[first:first + h, 0:LINE], src=zt)

    left = n - body
    if left > 0:
        xr = nl.ndarray((1, left), dtype=nl.float32, buffer=nl.sbuf)
        yr = nl.ndarray((1, left), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=xr, src=x[body:n].reshape((1, left)))
        nisa.dma_copy(dst=yr, src=y[body:n].reshape((1, left)))
        zr = nl.ndarray((1, left), dtype=nl.float32, buffer=nl.sbuf)
        nisa.scalar_tensor_tensor(dst=zr, data=xr, op0=nl.multiply, operand0=alpha,
                                  op1=nl.add, operand1=yr)
        nisa.dma_copy(dst=out[body:n].reshape((1, left)), src=zr)
    return out
