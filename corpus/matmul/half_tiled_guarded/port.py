"""C = A @ B with half operands. A arrives row-major, so each A tile is transposed on the tensor engine."""
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def gemm_half(A, B):
    M, K = A.shape
    Kb, N = B.shape
    assert K == Kb
    C = nl.ndarray((M, N), dtype=nl.float32, buffer=nl.shared_hbm)

    TM = nl.tile_size.gemm_stationary_fmax  # 128
    TN = nl.tile_size.gemm_moving_fmax      # 512
    TK = nl.tile_size.pmax                  # 128

    for m0 in range(0, M, TM):
        m = min(TM, M - m0)
        for n0 in range(0, N, TN):
            n = min(TN, N - n0)
            acc = nl.ndarray((TM, TN), dtype=nl.float32, buffer=nl.psum)
            for k0 in range(0, K, TK):
                k = min(TK, K - k0)
                a = nl.ndarray((TM, TK), dtype=A.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=a[0:m, 0:k], src=A[m0:m0 + m, k0:k0 + k])
                a_flip = nl.ndarray((TK, TM), dtype=A.dtype, buffer=nl.psum)
                nisa.nc_transpose(dst=a_flip[0:k, 0:m], data=a[0:m, 0:k])
                aT = nl.ndarray((TK, TM), dtype=A.dtype, buffer=nl.sbuf)
                nisa.tensor_copy(dst=aT[0:k, 0:m], src=a_flip[0:k, 0:m])

                b = nl.ndarray((TK, TN), dtype=B.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=b[0:k, 0:n], src=B[k0:k0 + k, n0:n0 + n])
                nisa.nc_matmul(dst=acc[0:m, 0:n], stationary=aT[0:k, 0:m],
                               moving=b[0:k, 0:n], accumulate=(k0 > 0))

            c = nl.ndarray((TM, TN), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_copy(dst=c[0:m, 0:n], src=acc[0:m, 0:n])
            nisa.dma_copy(dst=C[m0:m0 + m, n0:n0 + n], src=c[0:m, 0:n])
    return C
