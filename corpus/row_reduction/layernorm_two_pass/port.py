"""Two-pass LayerNorm: mean, then the sum of centred squares, all in float32."""
import nki
import nki.isa as nisa
import nki.language as nl

P = 128


def replicate(vec, width):
    """Copy a (width,) vector from HBM to every partition."""
    tile = nl.ndarray((P, width), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=vec.reshape((1, width)).broadcast(0, P))
    return tile


@nki.jit
def layer_norm(inp, gain, shift, epsilon):
    rows, width = inp.shape
    outp = nl.ndarray((rows, width), dtype=nl.float32, buffer=nl.shared_hbm)
    gain_all = replicate(gain, width)
    shift_all = replicate(shift, width)

    for i in range((rows + P - 1) // P):
        top = i * P
        h = min(P, rows - top)
        x = nl.ndarray((h, width), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=x, src=inp[top:top + h, 0:width])

        total = nl.ndarray((h, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=total, op=nl.add, data=x, axis=1)
        mean = nl.ndarray((h, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=mean, data=total, op0=nl.multiply, operand0=1.0 / width)

        d = nl.ndarray((h, width), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=d, data=x, op0=nl.subtract, operand0=mean)
        d2 = nl.ndarray((h, width), dtype=nl.float32, buffer=nl.sbuf)
        ssd = nl.ndarray((h, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=d2, data1=d, data2=d, op=nl.multiply)
        nisa.tensor_reduce(dst=ssd, op=nl.add, data=d2, axis=1)

        rstd = nl.ndarray((h, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=rstd, data=ssd, op0=nl.multiply, operand0=1.0 / width,
                           op1=nl.add, operand1=epsilon)
        nisa.activation(dst=rstd, op=nl.rsqrt, data=rstd)

        y = nl.ndarray((h, width), dtype=nl.float32, buffer=nl.sbuf)
        nisa.scalar_tensor_tensor(dst=y, data=d, op0=nl.multiply, operand0=rstd,
                                  op1=nl.multiply, operand1=gain_all[0:h, 0:width])
        nisa.tensor_tensor(dst=y, data1=y, data2=shift_all[0:h, 0:width], op=nl.add)
        nisa.dma_copy(dst=outp[top:top + h, 0:width], src=y)
    return outp
