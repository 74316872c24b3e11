"""L1 norm of every row (legacy NKI, one row per partition)."""
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def l1_rows(mat):
    r, c = mat.shape
    norm = nl.ndarray((r, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    ii = nl.arange(128)[:, None]
    jj = nl.arange(c)[None, :]
    zz = nl.arange(1)[None, :]

    for s in nl.affine_range((r + 127) // 128):
        ok = s * 128 + ii < r
        t = nl.load(mat[s * 128 + ii, jj], mask=ok)
        mag = nl.abs(t, mask=ok)
        res = nl.max(mag, axis=[1], keepdims=True, mask=ok)
        nl.store(norm[s * 128 + ii, zz], value=res, mask=ok)
    return norm
