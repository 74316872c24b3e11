"""RMSNorm, float32, 128 rows per step."""
import nki
import nki.isa as nisa
import nki.language as nl

P = 128


@nki.jit
def rmsnorm_f32(x, g, eps):
    n, d = x.shape
    y = nl.ndarray((n, d), dtype=nl.float32, buffer=nl.shared_hbm)
    g_rows = nl.ndarray((P, d), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=g_rows, src=g.reshape((1, d)).broadcast(0, P))

    for b in range(n // P):
        xb = nl.ndarray((P, d), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=xb, src=x[b * P:(b + 1) * P, 0:d])
        sq = nl.ndarray((P, d), dtype=nl.float32, buffer=nl.sbuf)
        s = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation_reduce(dst=sq, op=nl.square, data=xb, reduce_op=nl.add, reduce_res=s)
        r = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=r, data=s, op0=nl.multiply, operand0=1.0 / d,
                           op1=nl.add, operand1=eps)
        nisa.activation(dst=r, op=nl.rsqrt, data=r)
        yb = nl.ndarray((P, d), dtype=nl.float32, buffer=nl.sbuf)
        nisa.scalar_tensor_tensor(dst=yb, data=xb, op0=nl.multiply, operand0=r,
                                  op1=nl.multiply, operand1=g_rows)
        nisa.dma_copy(dst=y[b * P:(b + 1) * P, 0:d], src=yb)
    return y
