"""Squared ReLU. The layer after this one takes bfloat16, so the activation leaves in bfloat16."""
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def squared_relu(x):
    rows, cols = x.shape
    act = nl.ndarray((rows, cols), dtype=nl.bfloat16, buffer=nl.shared_hbm)

    for start in range(0, rows, 128):
        stop = min(start + 128, rows)
        xin = nl.ndarray((stop - start, cols), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=xin, src=x[start:stop, 0:cols])

        pos = nl.ndarray((stop - start, cols), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=pos, data=xin, op0=nl.maximum, operand0=0.0)
        sq = nl.ndarray((stop - start, cols), dtype=act.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=sq, data1=pos, data2=pos, op=nl.multiply)

        nisa.dma_copy(dst=act[start:stop, 0:cols], src=sq)
    return act
