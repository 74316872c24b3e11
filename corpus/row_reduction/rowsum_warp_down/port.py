"""Row sums, legacy NKI. Result has shape (rows, 1) because SBUF tiles keep two axes."""
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def row_sum(m):
    rows, cols = m.shape
    sums = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.shared_hbm)

    pi = nl.arange(nl.tile_size.pmax)[:, None]
    ci = nl.arange(cols)[None, :]
    one = nl.arange(1)[None, :]

    for blk in nl.affine_range((rows + nl.tile_size.pmax - 1) // nl.tile_size.pmax):
        r = blk * nl.tile_size.pmax + pi
        tile = nl.load(m[r, ci], mask=(r < rows))
        s = nl.sum(tile, axis=[1], dtype=nl.float32, keepdims=True, mask=(r < rows))
        nl.store(sums[r, one], value=s, mask=(r < rows))
    return sums
