"""Total of a float vector.

Each partition keeps a running float32 sum over the lines it sees; the 128 sums are turned into
one row by a transpose and added there. The remainder of n goes through partition 0.
"""
import nki
import nki.isa as nisa
import nki.language as nl

P = 128
F = 2048


@nki.jit
def vector_total(v):
    n = v.shape[0]
    total = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.shared_hbm)

    sums = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=sums, value=0.0)

    lines = n // F
    for a in range(0, lines, P):
        h = min(P, lines - a)
        t = nl.ndarray((h, F), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=t, src=v[a * F:(a + h) * F].reshape((h, F)))
        line_sum = nl.ndarray((h, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=line_sum, op=nl.add, data=t, axis=1)
        nisa.tensor_tensor(dst=sums[0:h, 0:1], data1=sums[0:h, 0:1], data2=line_sum, op=nl.add)

    rest = n - lines * F
    if rest > 0:
        t = nl.ndarray((1, rest), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=t, src=v[lines * F:n].reshape((1, rest)))
        line_sum = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=line_sum, op=nl.add, data=t, axis=1)
        nisa.tensor_tensor(dst=sums[0:1, 0:1], data1=sums[0:1, 0:1], data2=line_sum, op=nl.add)

    flipped = nl.ndarray((1, P), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_transpose(dst=flipped, data=sums)
    grand = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=grand, op=nl.add, data=flipped, axis=1)
    nisa.dma_copy(dst=total, src=grand)
    return total
