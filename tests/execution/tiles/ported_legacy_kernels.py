"""Whole kernels as a port has them: norms, attention, rotations, scans, quantisation, gathers (first generation)."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from tests.execution.tiles.ported_kernels import softmaxed, wide
from tests.execution.tiles.ports import OLD, Arrays, Case, normal, whole

BF16 = ml_dtypes.bfloat16

LAYER_NORM = (
    OLD
    + """
def layer_norm(x, gamma, beta, eps):
    n, d = x.shape
    out = nl.ndarray((n, d), dtype=x.dtype, buffer=nl.shared_hbm)
    ip = nl.arange(128)[:, None]
    jf = nl.arange(d)[None, :]
    one = nl.arange(1)[:, None]
    g = nl.load(gamma.reshape((1, d))[one, jf]).broadcast_to((128, d))
    b = nl.load(beta.reshape((1, d))[one, jf]).broadcast_to((128, d))
    for i in nl.affine_range((n + 127) // 128):
        rows = i * 128 + ip < n
        t = nl.load(x[i * 128 + ip, jf], mask=rows)
        mean = nl.mean(t, axis=1, keepdims=True, mask=rows)
        centred = nl.subtract(t, mean, mask=rows)
        var = nl.mean(nl.square(centred, mask=rows), axis=1, keepdims=True, mask=rows)
        scale = nl.rsqrt(nl.add(var, eps, mask=rows), mask=rows)
        y = nl.multiply(centred, scale, mask=rows)
        y = nl.add(nl.multiply(y, g, mask=rows), b, mask=rows)
        nl.store(out[i * 128 + ip, jf], value=y, mask=rows)
    return out
"""
)

SOFTMAX = (
    OLD
    + """
def masked_softmax(x, valid):
    n, d = x.shape
    out = nl.ndarray((n, d), dtype=x.dtype, buffer=nl.shared_hbm)
    ip = nl.arange(128)[:, None]
    jf = nl.arange(d)[None, :]
    for i in nl.affine_range((n + 127) // 128):
        rows = i * 128 + ip < n
        t = nl.load(x[i * 128 + ip, jf], mask=rows)
        keep = nl.load(valid[i * 128 + ip, jf], mask=rows)
        t = nl.where(keep > 0.5, t, -9984.0)
        top = nl.max(t, axis=1, keepdims=True, mask=rows)
        power = nisa.activation(op=np.exp, data=t, bias=nl.negative(top), mask=rows)
        total = nl.sum(power, axis=1, keepdims=True, mask=rows)
        nl.store(out[i * 128 + ip, jf], value=power * nl.reciprocal(total), mask=rows)
    return out
"""
)

ATTENTION = (
    OLD
    + """
def attention(q, k, v, scale):
    d, length = q.shape
    out = nl.ndarray((length, d), dtype=q.dtype, buffer=nl.shared_hbm)
    ip = nl.arange(128)[:, None]
    id = nl.arange(d)[:, None]
    jd = nl.arange(d)[None, :]
    jk = nl.arange(length)[None, :]
    jq = nl.arange(128)[None, :]
    keys = nl.load(k)
    for i in nl.affine_range((length + 127) // 128):
        rows = i * 128 + ip < length
        qt = nl.load(q[id, i * 128 + jq], mask=i * 128 + jq < length)
        scores = nl.zeros((nl.par_dim(128), length), dtype=nl.float32, buffer=nl.psum)
        scores[ip, jk] += nisa.nc_matmul(qt[id, jq][i * 128 + jq < length], keys[id, jk])
        s = nisa.affine_select(pred=i * 128 + ip >= jk, on_true_tile=nl.multiply(scores[ip, jk], scale, mask=rows),
                               on_false_value=-30000.0, mask=rows)
        top = nisa.tensor_reduce(np.max, s, axis=(1,), negate=True, keepdims=True, mask=rows)
        total = nl.ndarray((nl.par_dim(128), 1), dtype=nl.float32, buffer=nl.sbuf)
        power = nisa.activation_reduce(np.exp, s, bias=top, reduce_op=np.add, reduce_res=total, mask=rows)
        power = power / total
        acc = nl.zeros((nl.par_dim(128), d), dtype=nl.float32, buffer=nl.psum)
        for j in nl.affine_range((length + 127) // 128):
            columns = j * 128 + jq < length
            values = nl.load(v[j * 128 + ip, jd], mask=j * 128 + ip < length)
            turned = nisa.nc_transpose(power[ip, j * 128 + jq], mask=rows & columns)
            held = nl.copy(turned, dtype=q.dtype)
            acc[ip, jd] += nisa.nc_matmul(held[ip, jq][i * 128 + jq < length], values[ip, jd],
                                          mask=j * 128 + ip < length)
        nl.store(out[i * 128 + ip, jd], value=acc[ip, jd], mask=rows)
    return out
"""
)

ROTATED = (
    OLD
    + """
def rope(x, cos, sin):
    n, d = x.shape
    half = d // 2
    out = nl.ndarray((n, d), dtype=x.dtype, buffer=nl.shared_hbm)
    ip = nl.arange(128)[:, None]
    jh = nl.arange(half)[None, :]
    jf = nl.arange(d)[None, :]
    for i in nl.affine_range((n + 127) // 128):
        rows = i * 128 + ip < n
        t = nl.load(x[i * 128 + ip, jf], mask=rows)
        c = nl.load(cos[i * 128 + ip, jh], mask=rows)
        s = nl.load(sin[i * 128 + ip, jh], mask=rows)
        made = nl.ndarray((nl.par_dim(128), d), dtype=x.dtype, buffer=nl.sbuf)
        made[ip, jh] = nl.subtract(nl.multiply(t[ip, jh], c), nl.multiply(t[ip, half + jh], s), mask=rows)
        made[ip, half + jh] = nl.add(nl.multiply(t[ip, half + jh], c), nl.multiply(t[ip, jh], s), mask=rows)
        nl.store(out[i * 128 + ip, jf], value=made[ip, jf], mask=rows)
    return out
"""
)

PRODUCT = (
    OLD
    + """
def matmul(a, b):
    k, m = a.shape
    _, n = b.shape
    out = nl.ndarray((m, n), dtype=nl.float32, buffer=nl.shared_hbm)
    kp = nl.arange(128)[:, None]
    mp = nl.arange(128)[None, :]
    np_ = nl.arange(100)[None, :]
    op = nl.arange(128)[:, None]
    for i in nl.affine_range((m + 127) // 128):
        for j in nl.affine_range((n + 99) // 100):
            acc = nl.zeros((nl.par_dim(128), 100), dtype=nl.float32, buffer=nl.psum)
            for c in nl.affine_range((k + 127) // 128):
                left = nl.load(a[c * 128 + kp, i * 128 + mp], mask=(c * 128 + kp < k) & (i * 128 + mp < m))
                right = nl.load(b[c * 128 + kp, j * 100 + np_], mask=(c * 128 + kp < k) & (j * 100 + np_ < n))
                acc[op, np_] += nisa.nc_matmul(left[kp, mp][i * 128 + mp < m], right[kp, np_][j * 100 + np_ < n],
                                               mask=c * 128 + kp < k)
            done = nl.copy(acc, dtype=nl.float32)
            nl.store(out[i * 128 + op, j * 100 + np_], value=done, mask=(i * 128 + op < m) & (j * 100 + np_ < n))
    return out
"""
)

CUMULATIVE = (
    OLD
    + """
def linear_scan(decay, x):
    n, d = x.shape
    out = nl.ndarray((n, d), dtype=nl.float32, buffer=nl.shared_hbm)
    ip = nl.arange(n)[:, None]
    jf = nl.arange(32)[None, :]
    carry = nl.zeros((n, 1), dtype=nl.float32)
    for c in nl.static_range((d + 31) // 32):
        inside = c * 32 + jf < d
        a = nl.load(decay[ip, c * 32 + jf], mask=inside)
        b = nl.load(x[ip, c * 32 + jf], mask=inside)
        s = nisa.tensor_tensor_scan(a, b, initial=carry, op0=np.multiply, op1=np.add, mask=inside)
        nl.store(out[ip, c * 32 + jf], value=s[ip, jf], mask=inside)
        carry[:, :] = s[:, 31:32]
    return out
"""
)

QUANTISED = (
    OLD
    + """
def quantise(x):
    n, d = x.shape
    codes = nl.ndarray((n, d), dtype=nl.int8, buffer=nl.shared_hbm)
    scales = nl.ndarray((n, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    ip = nl.arange(128)[:, None]
    jf = nl.arange(d)[None, :]
    for i in nl.affine_range((n + 127) // 128):
        rows = i * 128 + ip < n
        t = nl.load(x[i * 128 + ip, jf], dtype=nl.float32, mask=rows)
        top = nl.max(nl.abs(t, mask=rows), axis=1, keepdims=True, mask=rows)
        top = nl.maximum(top, 1e-6, mask=rows)
        scaled = nl.multiply(t, nl.divide(127.0, top, mask=rows), mask=rows)
        q = nl.copy(nl.minimum(nl.maximum(scaled, -127.0, mask=rows), 127.0, mask=rows), dtype=nl.int8)
        nl.store(codes[i * 128 + ip, jf], value=q, mask=rows)
        nl.store(scales[i * 128 + ip, nl.arange(1)[None, :]], value=nl.divide(top, 127.0, mask=rows), mask=rows)
    return codes, scales
"""
)

EMBEDDED = (
    OLD
    + """
def embed(table, ids):
    rows, d = table.shape
    n, one = ids.shape
    out = nl.ndarray((n, d), dtype=table.dtype, buffer=nl.shared_hbm)
    ip = nl.arange(128)[:, None]
    jf = nl.arange(d)[None, :]
    for i in nl.affine_range((n + 127) // 128):
        inside = i * 128 + ip < n
        index = nl.load(ids[i * 128 + ip, nl.arange(1)[None, :]], mask=inside)
        t = nl.load(table[index[ip, 0], jf], mask=inside)
        nl.store(out[i * 128 + ip, jf], value=t, mask=inside)
    return out
"""
)


def layer_normed(given: Arrays) -> tuple[Any]:
    x = wide(given, "x")
    inner = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + given["eps"])
    return (inner * given["gamma"] + given["beta"],)


def masked_softmaxed(given: Arrays) -> tuple[Any]:
    return (softmaxed(np.where(given["valid"] > 0.5, wide(given, "x"), -np.inf)),)


def attended(given: Arrays) -> tuple[Any]:
    q, k, v = (wide(given, name) for name in "qkv")
    scores = np.where(np.tri(q.shape[1], dtype=bool), q.T @ k * given["scale"], -np.inf)
    return (softmaxed(scores) @ v,)


def rotated(given: Arrays) -> tuple[Any]:
    first, second = np.split(given["x"], 2, axis=1)
    cos, sin = given["cos"], given["sin"]
    return (np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=1),)


def scanned(given: Arrays) -> tuple[Any]:
    made, state = np.empty_like(given["x"]), np.zeros(len(given["x"]), np.float32)
    for place in range(made.shape[1]):
        state = given["decay"][:, place] * state + given["x"][:, place]
        made[:, place] = state
    return (made,)


def quantised(given: Arrays) -> tuple[Any, Any]:
    top = np.maximum(np.abs(given["x"]).max(1, keepdims=True), np.float32(1e-6))
    codes = np.clip(given["x"] * (np.float32(127) / top), -127, 127)
    return np.rint(codes).astype(np.int8), top / np.float32(127)


VALID = whole(610, 0, 3, 150, 43).clip(0, 1).astype(np.float32)
VALID[:, 0] = 1
CASES = (
    Case("legacy layer norm", LAYER_NORM,
         {"x": normal(600, 150, 90), "gamma": normal(601, 90), "beta": normal(602, 90), "eps": 1e-5}, layer_normed,
         roundings=40, scale=lambda given: 3 + np.abs(given["gamma"] * 5)),
    Case("legacy masked softmax", SOFTMAX, {"x": normal(603, 150, 43), "valid": VALID}, masked_softmaxed,
         roundings=80, scale=lambda given: np.ones((150, 43))),
    Case("legacy causal attention", ATTENTION, {
        "q": normal(604, 40, 150), "k": normal(605, 40, 150), "v": normal(606, 150, 40), "scale": 40**-0.5}, attended,
        roundings=200, scale=lambda given: np.full(given["v"].shape, 4.0)),
    Case("legacy rotation of halves", ROTATED,
         {"x": normal(607, 150, 22), "cos": normal(608, 150, 11), "sin": normal(609, 150, 11)}, rotated),
    Case("legacy product with tails", PRODUCT, {
        "a": whole(611, -8, 9, 200, 150).astype(BF16), "b": whole(612, -8, 9, 200, 130).astype(BF16)},
        lambda given: (given["a"].astype(float).T @ given["b"].astype(float),)),
    Case("legacy linear scan in chunks", CUMULATIVE, {
        "decay": (2.0 ** whole(613, -2, 1, 70, 96)).astype(np.float32),
        "x": whole(614, -9, 9, 70, 96).astype(np.float32)}, scanned),
    Case("legacy quantisation by rows", QUANTISED, {"x": normal(615, 150, 33) * 7}, quantised),
    Case("legacy rows of a table", EMBEDDED, {"table": normal(616, 50, 21), "ids": whole(617, 0, 50, 150, 1)},
         lambda given: (given["table"][given["ids"][:, 0]],)),
)  # fmt: skip
