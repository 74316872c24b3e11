"""Weightless RMS normalisation, legacy NKI. Callers pad the batch to full tiles."""
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl

TILE = 128


@nki.jit
def rms_plain(x, eps):
    rows, n = x.shape
    assert rows % TILE == 0, "row count must be a multiple of the partition count"
    y = nl.ndarray((rows, n), dtype=x.dtype, buffer=nl.shared_hbm)

    for t in nl.affine_range(rows // TILE):
        xt = nl.load(x[t * TILE:(t + 1) * TILE, 0:n])
        sq = nl.square(xt, dtype=nl.float32)
        mean = nl.multiply(nl.sum(sq, axis=[1], keepdims=True), 1.0 / n)
        k = nl.rsqrt(nl.add(mean, eps))
        nl.store(y[t * TILE:(t + 1) * TILE, 0:n], value=nl.multiply(xt, k, dtype=x.dtype))
    return y
