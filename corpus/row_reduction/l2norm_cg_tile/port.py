"""L2 normalisation of rows (legacy NKI)."""
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl

ROWS = nl.tile_size.pmax


@nki.jit
def l2_normalize(v, tiny):
    count, dim = v.shape
    u = nl.ndarray(v.shape, dtype=v.dtype, buffer=nl.shared_hbm)
    i_p, i_f = nl.mgrid[0:ROWS, 0:dim]

    for k in nl.affine_range((count + ROWS - 1) // ROWS):
        valid = (k * ROWS + i_p < count)
        t = nl.load(v[k * ROWS + i_p, i_f], mask=valid)
        norm2 = nl.sum(nl.square(t, mask=valid), axis=[1], keepdims=True, mask=valid)
        inv = nl.rsqrt(nl.add(norm2, tiny, mask=valid), mask=valid)
        nl.store(u[k * ROWS + i_p, i_f], value=nl.multiply(t, inv, mask=valid), mask=valid)
    return u
