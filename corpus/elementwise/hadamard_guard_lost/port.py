"""Hadamard product, flat vectors, 128 x 512 elements a step."""
import math

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl

LANES, WIDTH = 128, 512


@nki.jit
def hadamard(a, b):
    n = a.shape[0]
    c = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    lane = nl.arange(LANES)[:, None]
    col = nl.arange(WIDTH)[None, :]

    for step in nl.affine_range(math.ceil(n / (LANES * WIDTH))):
        idx = step * (LANES * WIDTH) + lane * WIDTH + col
        prod = nl.multiply(nl.load(a[idx]), nl.load(b[idx]))
        nl.store(c[idx], value=prod)
    return c
