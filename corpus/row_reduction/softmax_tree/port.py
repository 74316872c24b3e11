"""Row softmax in the first NKI generation: rows on partitions, one pass per 128 rows."""
import math

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np


@nki.jit
def softmax_rows(x):
    rows, n = x.shape
    y = nl.ndarray((rows, n), dtype=x.dtype, buffer=nl.shared_hbm)
    ir = nl.arange(128)[:, None]
    ic = nl.arange(n)[None, :]

    for b in nl.affine_range(math.ceil(rows / 128)):
        inside = b * 128 + ir < rows
        xt = nl.load(x[b * 128 + ir, ic], mask=inside)
        peak = nisa.tensor_reduce(np.max, xt, axis=[1], dtype=np.float32, keepdims=True, mask=inside)
        shifted = nisa.tensor_scalar(xt, op0=np.subtract, operand0=peak, mask=inside)
        e = nl.exp(shifted, mask=inside)
        total = nisa.tensor_reduce(np.add, e, axis=[1], dtype=np.float32, keepdims=True, mask=inside)
        out = nl.divide(e, total, mask=inside)
        nl.store(y[b * 128 + ir, ic], value=out, mask=inside)
    return y
