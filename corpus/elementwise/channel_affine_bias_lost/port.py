"""Per-channel affine on [rows, channels]; the channel vector is replicated over the partitions once."""
import nki
import nki.isa as nisa
import nki.language as nl

P = 128


@nki.jit
def channel_affine(x, gamma, beta):
    rows, channels = x.shape
    y = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)

    gamma_rep = nl.ndarray((P, channels), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=gamma_rep, src=gamma.ap(pattern=[[0, P], [1, channels]]))

    for base in range(0, rows, P):
        k = min(P, rows - base)
        xt = nl.ndarray((P, channels), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=xt[0:k, 0:channels], src=x[base:base + k, 0:channels])
        yt = nl.ndarray((P, channels), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=yt[0:k, 0:channels], data1=xt[0:k, 0:channels],
                           data2=gamma_rep[0:k, 0:channels], op=nl.multiply)
        nisa.dma_copy(dst=y[base:base + k, 0:channels], src=yt[0:k, 0:channels])
    return y
