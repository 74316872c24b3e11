"""SwiGLU gate on [tokens, width]: rows on partitions, columns in strips of at most 2048."""
import nki
import nki.isa as nisa
import nki.language as nl

STRIP = 2048


@nki.jit
def silu_mul(gate, up):
    tokens, width = gate.shape
    assert up.shape == gate.shape
    y = nl.ndarray((tokens, width), dtype=gate.dtype, buffer=nl.shared_hbm)
    pmax = nl.tile_size.pmax

    for r0 in range(0, tokens, pmax):
        r1 = min(r0 + pmax, tokens)
        for c0 in range(0, width, STRIP):
            c1 = min(c0 + STRIP, width)
            shape = (r1 - r0, c1 - c0)

            g = nl.ndarray(shape, dtype=gate.dtype, buffer=nl.sbuf)
            u = nl.ndarray(shape, dtype=up.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=g, src=gate[r0:r1, c0:c1])
            nisa.dma_copy(dst=u, src=up[r0:r1, c0:c1])

            act = nl.ndarray(shape, dtype=nl.float32, buffer=nl.sbuf)
            nisa.activation(dst=act, op=nl.sigmoid, data=g)
            nisa.tensor_tensor(dst=act, data1=act, data2=g, op=nl.multiply)

            res = nl.ndarray(shape, dtype=y.dtype, buffer=nl.sbuf)
            nisa.tensor_tensor(dst=res, data1=act, data2=u, op=nl.multiply)
            nisa.dma_copy(dst=y[r0:r1, c0:c1], src=res)
    return y
