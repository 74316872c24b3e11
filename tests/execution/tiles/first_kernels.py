"""Kernels that touch a bit of everything: softmax and matrix products of both generations."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from tests.execution.tiles.ports import NEW, OLD, Arrays, Case, normal

SOFTMAX = (
    NEW
    + """
def softmax(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    for first in range(0, rows, 128):
        m = min(128, rows - first)
        tile = nl.ndarray((128, columns), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile[0:m, 0:columns], src=x[first:first + m, 0:columns])
        top = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=top[0:m, 0:1], op=nl.maximum, data=tile[0:m, 0:columns], axis=1, negate=True)
        power = nl.ndarray((128, columns), dtype=nl.float32, buffer=nl.sbuf)
        total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=power[0:m, 0:columns], op=nl.exp, data=tile[0:m, 0:columns], bias=top[0:m, 0:1],
                        reduce_op=nl.add, reduce_res=total[0:m, 0:1], reduce_cmd=nisa.reduce_cmd.reset_reduce)
        share = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.reciprocal(dst=share[0:m, 0:1], data=total[0:m, 0:1])
        nisa.tensor_scalar(dst=tile[0:m, 0:columns], data=power[0:m, 0:columns], op0=nl.multiply,
                           operand0=share[0:m, 0:1])
        nisa.dma_copy(dst=out[first:first + m, 0:columns], src=tile[0:m, 0:columns])
    return out
"""
)

OLD_SOFTMAX = (
    OLD
    + """
def softmax(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    ip = nl.arange(128)[:, None]
    jf = nl.arange(columns)[None, :]
    for block in nl.affine_range((rows + 127) // 128):
        inside = block * 128 + ip < rows
        tile = nl.load(x[block * 128 + ip, jf], mask=inside)
        top = nl.max(tile, axis=1, keepdims=True, mask=inside)
        power = nl.exp(nl.subtract(tile, top, mask=inside), mask=inside)
        total = nl.sum(power, axis=1, keepdims=True, mask=inside)
        nl.store(out[block * 128 + ip, jf], value=nl.divide(power, total, mask=inside), mask=inside)
    return out
"""
)

MATMUL = (
    NEW
    + """
def matmul(aT, b):
    K, M = aT.shape
    Kb, N = b.shape
    assert K == Kb
    out = nl.ndarray((M, N), dtype=nl.float32, buffer=nl.shared_hbm)
    for m0 in range(0, M, 128):
        m = min(128, M - m0)
        for n0 in range(0, N, 512):
            n = min(512, N - n0)
            acc = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
            for k0 in range(0, K, 128):
                k = min(128, K - k0)
                left = nl.ndarray((128, 128), dtype=aT.dtype, buffer=nl.sbuf)
                right = nl.ndarray((128, 512), dtype=b.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=left[0:k, 0:m], src=aT[k0:k0 + k, m0:m0 + m])
                nisa.dma_copy(dst=right[0:k, 0:n], src=b[k0:k0 + k, n0:n0 + n])
                nisa.nc_matmul(dst=acc[0:m, 0:n], stationary=left[0:k, 0:m], moving=right[0:k, 0:n])
            back = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_copy(dst=back[0:m, 0:n], src=acc[0:m, 0:n])
            nisa.dma_copy(dst=out[m0:m0 + m, n0:n0 + n], src=back[0:m, 0:n])
    return out
"""
)

OLD_MATMUL = (
    OLD
    + """
def matmul(aT, b):
    K, M = aT.shape
    _, N = b.shape
    out = nl.ndarray((M, N), dtype=nl.float32, buffer=nl.shared_hbm)
    ik, im = nl.mgrid[0:128, 0:128]
    jk, jn = nl.mgrid[0:128, 0:512]
    om, on = nl.mgrid[0:128, 0:512]
    for m in nl.affine_range(M // 128):
        for n in nl.affine_range(N // 512):
            acc = nl.zeros((128, 512), nl.float32, buffer=nl.psum)
            for k in nl.affine_range(K // 128):
                left = nl.load(aT[k * 128 + ik, m * 128 + im])
                right = nl.load(b[k * 128 + jk, n * 512 + jn])
                acc[om, on] += nisa.nc_matmul(left, right)
            nl.store(out[m * 128 + om, n * 512 + on], value=nl.copy(acc))
    return out
"""
)


def softmax_of(given: Arrays) -> tuple[np.ndarray]:
    power = np.exp(given["x"].astype(np.float64) - given["x"].max(1, keepdims=True))
    return (power / power.sum(1, keepdims=True),)


def product_of(given: Arrays) -> tuple[np.ndarray]:
    return (given["aT"].astype(np.float64).T @ given["b"].astype(np.float64),)


def product_scale(given: Arrays) -> np.ndarray:
    return np.abs(given["aT"].astype(np.float64)).T @ np.abs(given["b"].astype(np.float64))


CASES = (
    # x - max, exp (both of relative size |x - max| in the exponent), a sum of 200 positive terms, 1/t, a product
    Case("softmax", SOFTMAX, {"x": normal(1, 300, 200)}, softmax_of, roundings=220),
    Case("softmax by masks", OLD_SOFTMAX, {"x": normal(2, 300, 200)}, softmax_of, roundings=220),
    Case(
        "product with tails", MATMUL, {"aT": normal(3, 200, 150, dtype=ml_dtypes.bfloat16),
                                       "b": normal(4, 200, 700, dtype=ml_dtypes.bfloat16)},
        product_of, roundings=200, scale=product_scale,
    ),
    Case(
        "product of the first generation", OLD_MATMUL, {"aT": normal(5, 256, 128, dtype=np.float16),
                                                        "b": normal(6, 256, 512, dtype=np.float16)},
        product_of, roundings=256, scale=product_scale,
    ),
)  # fmt: skip
