"""dst = clamp(src * gain + offset, lo, hi), first-generation NKI, flat buffer with affine masks."""
import math

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl

PART = 128
FREE = 1024


@nki.jit
def affine_clip(src, gain, offset, lo, hi):
    (count,) = src.shape
    dst = nl.ndarray((count,), dtype=src.dtype, buffer=nl.shared_hbm)
    p = nl.arange(PART)[:, None]
    f = nl.arange(FREE)[None, :]

    for t in nl.affine_range(math.ceil(count / (PART * FREE))):
        at = t * PART * FREE + p * FREE + f
        live = at < count
        v = nl.load(src[at], mask=live)
        v = nl.add(nl.multiply(v, gain, mask=live), offset, mask=live)
        v = nl.minimum(nl.maximum(v, lo, mask=live), hi, mask=live)
        nl.store(dst[at], value=v, mask=live)
    return dst
