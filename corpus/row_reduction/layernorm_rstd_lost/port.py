"""LayerNorm forward with saved statistics, legacy NKI."""
import math

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl

NP = 128


@nki.jit
def ln_train(x, w, b, eps):
    rows, c = x.shape
    y = nl.ndarray((rows, c), dtype=x.dtype, buffer=nl.shared_hbm)
    mean = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.shared_hbm)

    ip = nl.arange(NP)[:, None]
    jc = nl.arange(c)[None, :]
    j0 = nl.arange(1)[None, :]
    w_rep = nl.load(w.reshape((1, c))).broadcast_to((NP, c))
    b_rep = nl.load(b.reshape((1, c))).broadcast_to((NP, c))

    for i in nl.affine_range(math.ceil(rows / NP)):
        m = i * NP + ip < rows
        xt = nl.load(x[i * NP + ip, jc], mask=m)
        mu = nl.multiply(nl.sum(xt, axis=[1], keepdims=True, mask=m), 1.0 / c, mask=m)
        d = nl.subtract(xt, mu, mask=m)
        q = nl.sum(nl.multiply(d, d, mask=m), axis=[1], keepdims=True, mask=m)
        rs = nl.rsqrt(nl.add(nl.multiply(q, 1.0 / c, mask=m), eps, mask=m), mask=m)
        n = nl.multiply(d, rs, mask=m)
        o = nl.add(nl.multiply(n, w_rep, mask=m), b_rep, mask=m)
        nl.store(y[i * NP + ip, jc], value=o, mask=m)
        nl.store(mean[i * NP + ip, j0], value=mu, mask=m)
    return y, mean
