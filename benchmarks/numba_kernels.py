"""The kernels of `execution.py` as numba writes them, for its CUDA simulator."""

import numba
import numpy as np
from numba import cuda


@cuda.jit
def axpy(x, y, a, n):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < n:
        y[i] = a * x[i] + y[i]


@cuda.jit
def sums(x, y, n):
    box = cuda.shared.array(128, numba.float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + t
    box[t] = x[i] if i < n else np.float32(0)
    cuda.syncthreads()
    s = 64
    while s > 0:
        if t < s:
            box[t] += box[t + s]
        cuda.syncthreads()
        s >>= 1
    if t == 0:
        y[cuda.blockIdx.x] = box[0]


@cuda.jit
def product(a, b, c, n):
    left = cuda.shared.array((16, 16), numba.float32)
    right = cuda.shared.array((16, 16), numba.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = cuda.blockIdx.y * 16 + ty, cuda.blockIdx.x * 16 + tx
    total = np.float32(0)
    for start in range(0, n, 16):
        left[ty, tx] = a[row, start + tx]
        right[ty, tx] = b[start + ty, column]
        cuda.syncthreads()
        for k in range(16):
            total += left[ty, k] * right[k, tx]
        cuda.syncthreads()
    c[row, column] = total


KERNELS = {"axpy": axpy, "sums": sums, "product": product}
