"""C = At.T @ B in legacy NKI. At is already K-major, which is what the stationary operand wants.

Operand tiles are zeroed before the masked loads, so the K remainder adds zeros.
"""
import math

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

TM, TN, TK = 128, 512, 128


@nki.jit
def gemm_tn(At, B):
    k, m = At.shape
    k2, n = B.shape
    assert k == k2
    C = nl.ndarray((m, n), dtype=At.dtype, buffer=nl.shared_hbm)

    ik, im = nl.mgrid[0:TK, 0:TM]
    jk, jn = nl.mgrid[0:TK, 0:TN]
    om, on = nl.mgrid[0:TM, 0:TN]

    for bi in nl.affine_range(math.ceil(m / TM)):
        for bj in nl.affine_range(math.ceil(n / TN)):
            acc = nl.zeros((TM, TN), dtype=nl.float32, buffer=nl.psum)
            for bk in nl.affine_range(math.ceil(k / TK)):
                lt = nl.zeros((TK, TM), dtype=At.dtype, buffer=nl.sbuf)
                lt[ik, im] = nl.load(At[bk * TK + ik, bi * TM + im],
                                     mask=(bk * TK + ik < k) & (bi * TM + im < m))
                rt = nl.zeros((TK, TN), dtype=B.dtype, buffer=nl.sbuf)
                rt[jk, jn] = nl.load(B[bk * TK + jk, bj * TN + jn],
                                     mask=(bk * TK + jk < k) & (bj * TN + jn < n))
                acc += nisa.nc_matmul(lt[ik, im], rt[jk, jn])

            res = nl.copy(acc, dtype=C.dtype)
            nl.store(C[bi * TM + om, bj * TN + on], value=res,
                     mask=(bi * TM + om < m) & (bj * TN + on < n))
    return C
