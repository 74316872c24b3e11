"""RMSNorm forward: tokens on partitions, the whole hidden axis of a token in one partition."""
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def rms_forward(x, weight, eps):
    tokens, hidden = x.shape
    assert weight.shape[0] == hidden
    P = nl.tile_size.pmax
    out = nl.ndarray((tokens, hidden), dtype=x.dtype, buffer=nl.shared_hbm)

    w_rep = nl.ndarray((P, hidden), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=w_rep, src=weight.reshape((1, hidden)).broadcast(0, P))
    eps_col = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=eps_col, value=eps)

    for t0 in range(0, tokens, P):
        m = min(P, tokens - t0)
        xt = nl.ndarray((P, hidden), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=xt[0:m, 0:hidden], src=x[t0:t0 + m, 0:hidden])

        sq = nl.ndarray((P, hidden), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=sq[0:m, 0:hidden], data1=xt[0:m, 0:hidden],
                           data2=xt[0:m, 0:hidden], op=nl.multiply)
        ss = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=ss[0:m, 0:1], op=nl.add, data=sq[0:m, 0:hidden], axis=1)

        inv = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=inv[0:m, 0:1], op=nl.rsqrt, data=ss[0:m, 0:1],
                        scale=1.0 / hidden, bias=eps_col[0:m, 0:1])

        yt = nl.ndarray((P, hidden), dtype=out.dtype, buffer=nl.sbuf)
        nisa.scalar_tensor_tensor(dst=yt[0:m, 0:hidden], data=xt[0:m, 0:hidden],
                                  op0=nl.multiply, operand0=inv[0:m, 0:1],
                                  op1=nl.multiply, operand1=w_rep[0:m, 0:hidden])
        nisa.dma_copy(dst=out[t0:t0 + m, 0:hidden], src=yt[0:m, 0:hidden])
    return out
