"""Dot product of two flat vectors, legacy NKI; partial sums are kept per partition."""
import math

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl

P, F = 128, 512


@nki.jit
def dot(p, q):
    n = p.shape[0]
    out = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    i_p = nl.arange(P)[:, None]
    i_f = nl.arange(F)[None, :]

    acc = nl.zeros((P, 1), dtype=nl.float32, buffer=nl.sbuf)
    for c in nl.sequential_range(math.ceil(n / (P * F))):
        at = c * P * F + i_p * F + i_f
        prod = nl.zeros((P, F), dtype=nl.float32, buffer=nl.sbuf)
        pt = nl.load(p[at], mask=(at < n))
        qt = nl.load(q[at], mask=(at < n))
        prod[i_p, i_f] = nl.multiply(pt, qt, mask=(at < n))
        acc[...] = nl.add(acc, nl.sum(prod, axis=[1], keepdims=True))

    nl.store(out[0:1, 0:1], value=acc[0:1, 0:1])
    return out
