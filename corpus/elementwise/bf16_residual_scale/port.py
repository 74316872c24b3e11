# Scaled residual add on bfloat16 [rows, cols]; legacy NKI, one row per partition.
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def residual_scale(x, branch, alpha):
    rows, cols = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)

    ip = nl.arange(128)[:, None]
    jc = nl.arange(cols)[None, :]
    n_tiles = (rows + 127) // 128

    for i in nl.affine_range(n_tiles):
        row = i * 128 + ip
        xb = nl.load(x[row, jc], mask=(row < rows))
        bb = nl.load(branch[row, jc], mask=(row < rows))
        scaled = nl.multiply(bb, alpha, dtype=nl.float32, mask=(row < rows))
        summed = nl.add(xb, scaled, dtype=x.dtype, mask=(row < rows))
        nl.store(out[row, jc], value=summed, mask=(row < rows))
    return out
