"""Whole kernels as a port has them: norms, rotations, scans, quantisation (second generation)."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.execution.tiles.ports import NEW, Arrays, Case, normal, whole

LAYER_NORM = (
    NEW
    + """
def layer_norm(x, gamma, beta, eps):
    n, d = x.shape
    out = nl.ndarray((n, d), dtype=x.dtype, buffer=nl.shared_hbm)
    chunk = nl.tile_size.bn_stats_fmax
    chunks = (d + chunk - 1) // chunk
    g = nl.ndarray((128, d), dtype=nl.float32, buffer=nl.sbuf)
    b = nl.ndarray((128, d), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=g, src=gamma.ap(pattern=[[0, 128], [1, d]]))
    nisa.dma_copy(dst=b, src=beta.ap(pattern=[[0, 128], [1, d]]))
    for i in range((n + 127) // 128):
        r = min(128, n - i * 128)
        t = nl.ndarray((128, d), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=t[:r, :], src=x[i * 128:i * 128 + r, :])
        stats = nl.ndarray((128, 6 * chunks), dtype=nl.float32, buffer=nl.sbuf)
        for c in range(chunks):
            w = min(chunk, d - c * chunk)
            nisa.bn_stats(dst=stats[:r, c * 6:c * 6 + 6], data=t[:r, c * chunk:c * chunk + w])
        pair = nl.ndarray((128, 2), dtype=nl.float32, buffer=nl.sbuf)
        nisa.bn_aggr(dst=pair[:r], data=stats[:r])
        inv = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=inv[:r], data=pair[:r, 1:2], op0=nl.add, operand0=eps)
        nisa.activation(dst=inv[:r], op=nl.rsqrt, data=inv[:r])
        nisa.tensor_scalar(dst=t[:r], data=t[:r], op0=nl.subtract, operand0=pair[:r, 0:1], op1=nl.multiply,
                           operand1=inv[:r])
        nisa.tensor_tensor(dst=t[:r], data1=t[:r], data2=g[:r], op=nl.multiply)
        nisa.tensor_tensor(dst=t[:r], data1=t[:r], data2=b[:r], op=nl.add)
        nisa.dma_copy(dst=out[i * 128:i * 128 + r, :], src=t[:r, :])
    return out
"""
)

ONLINE_SOFTMAX = (
    NEW.replace("import nki\n", "import math\n\nimport nki\n")
    + """
def softmax(x):
    n, d = x.shape
    out = nl.ndarray((n, d), dtype=x.dtype, buffer=nl.shared_hbm)
    width = 96
    for i in range(math.ceil(n / 128)):
        r = min(128, n - i * 128)
        top = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.memset(dst=top, value=-3.0e38)
        nisa.memset(dst=total, value=0.0)
        for c in range(math.ceil(d / width)):
            w = min(width, d - c * width)
            t = nl.ndarray((128, width), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=t[:r, :w], src=x[i * 128:i * 128 + r, c * width:c * width + w])
            new = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_reduce(dst=new[:r], op=nl.maximum, data=t[:r, :w], axis=1)
            nisa.tensor_tensor(dst=new[:r], data1=new[:r], data2=top[:r], op=nl.maximum)
            shift = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_scalar(dst=shift[:r], data=new[:r], op0=nl.multiply, operand0=-1.0)
            scale = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
            nisa.activation(dst=scale[:r], op=nl.exp, data=top[:r], bias=shift[:r])
            part = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
            nisa.activation_reduce(dst=t[:r, :w], op=nl.exp, data=t[:r, :w], bias=shift[:r], reduce_op=nl.add,
                                   reduce_res=part[:r])
            nisa.scalar_tensor_tensor(dst=total[:r], data=total[:r], op0=nl.multiply, operand0=scale[:r], op1=nl.add,
                                      operand1=part[:r])
            nisa.tensor_copy(dst=top[:r], src=new[:r])
        nisa.reciprocal(dst=total[:r], data=total[:r])
        nisa.tensor_scalar(dst=top[:r], data=top[:r], op0=nl.multiply, operand0=-1.0)
        for c in range(math.ceil(d / width)):
            w = min(width, d - c * width)
            t = nl.ndarray((128, width), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=t[:r, :w], src=x[i * 128:i * 128 + r, c * width:c * width + w])
            nisa.activation(dst=t[:r, :w], op=nl.exp, data=t[:r, :w], bias=top[:r])
            nisa.tensor_scalar(dst=t[:r, :w], data=t[:r, :w], op0=nl.multiply, operand0=total[:r])
            nisa.dma_copy(dst=out[i * 128:i * 128 + r, c * width:c * width + w], src=t[:r, :w])
    return out
"""
)

ROTATED = (
    NEW
    + """
def rotate(tile, cos, sin, r, first, second):
    made = nl.ndarray(tile.shape, dtype=nl.float32, buffer=nl.sbuf)
    other = nl.ndarray(cos.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_tensor(dst=made[:r, first], data1=tile[:r, first], data2=cos[:r], op=nl.multiply)
    nisa.tensor_tensor(dst=other[:r], data1=tile[:r, second], data2=sin[:r], op=nl.multiply)
    nisa.tensor_tensor(dst=made[:r, first], data1=made[:r, first], data2=other[:r], op=nl.subtract)
    nisa.tensor_tensor(dst=made[:r, second], data1=tile[:r, second], data2=cos[:r], op=nl.multiply)
    nisa.tensor_tensor(dst=other[:r], data1=tile[:r, first], data2=sin[:r], op=nl.multiply)
    nisa.tensor_tensor(dst=made[:r, second], data1=made[:r, second], data2=other[:r], op=nl.add)
    return made


@nki.jit
def rope(x, cos, sin):
    n, d = x.shape
    half = d // 2
    out = nl.ndarray((n, d), dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = []
    for i in range(0, n, 128):
        r = min(128, n - i)
        t = nl.ndarray((128, d), dtype=nl.float32, buffer=nl.sbuf)
        c = nl.ndarray((128, half), dtype=nl.float32, buffer=nl.sbuf)
        s = nl.ndarray((128, half), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=t[:r], src=x[i:i + r])
        nisa.dma_copy(dst=c[:r], src=cos[i:i + r])
        nisa.dma_copy(dst=s[:r], src=sin[i:i + r])
        made = rotate(t, c, s, r, {first}, {second})
        nisa.dma_copy(dst=out[i:i + r], src=made[:r])
    return out
"""
).replace("@nki.jit\n\ndef rotate", "\ndef rotate")

CUMULATIVE = (
    NEW
    + """
def cumsum(x):
    n, d = x.shape
    out = nl.ndarray((n, d), dtype=nl.float32, buffer=nl.shared_hbm)
    step = 50
    for i in range((n + 127) // 128):
        r = min(128, n - i * 128)
        ones = nl.ndarray((128, step), dtype=nl.float32, buffer=nl.sbuf)
        nisa.memset(dst=ones, value=1.0)
        carry = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.memset(dst=carry, value=0.0)
        for j in range((d + step - 1) // step):
            w = min(step, d - j * step)
            t = nl.ndarray((128, step), dtype=nl.float32, buffer=nl.sbuf)
            s = nl.ndarray((128, step), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=t[:r, :w], src=x[i * 128:i * 128 + r, j * step:j * step + w])
            nisa.tensor_tensor_scan(dst=s[:r, :w], data0=ones[:r, :w], data1=t[:r, :w], initial=carry[:r],
                                    op0=nl.multiply, op1=nl.add)
            nisa.tensor_copy(dst=carry[:r], src=s[:r, w - 1:w])
            nisa.dma_copy(dst=out[i * 128:i * 128 + r, j * step:j * step + w], src=s[:r, :w])
    return out
"""
)

QUANTISED = (
    NEW
    + """
def quantise(x):
    n, d = x.shape
    codes = nl.ndarray((n, d), dtype=nl.int8, buffer=nl.shared_hbm)
    scales = nl.ndarray((n, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    for i in range(0, n, 128):
        r = min(128, n - i)
        t = nl.ndarray((r, d), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=t, src=x[i:i + r, :])
        size = nl.ndarray((r, d), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=size, op=nl.abs, data=t)
        top = nl.ndarray((r, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=top, op=nl.maximum, data=size, axis=1)
        nisa.tensor_scalar(dst=top, data=top, op0=nl.maximum, operand0=1e-8, op1=nl.multiply, operand1=1.0 / 127.0)
        inverse = nl.ndarray((r, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.reciprocal(dst=inverse, data=top)
        q = nl.ndarray((r, d), dtype=nl.int8, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=q, data=t, op0=nl.multiply, operand0=inverse)
        nisa.dma_copy(dst=codes[i:i + r, :], src=q)
        nisa.dma_copy(dst=scales[i:i + r, :], src=top)
    return codes, scales
"""
)

GROUPED = (
    NEW
    + """
def group_norm(x, gamma, groups):
    n, d = x.shape
    width = d // groups
    out = nl.ndarray((n, d), dtype=x.dtype, buffer=nl.shared_hbm)
    g = nl.ndarray((128, d), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=g, src=gamma.reshape((1, d)).broadcast(0, 128))
    for i in range((n + 127) // 128):
        r = min(128, n - i * 128)
        t = nl.ndarray((128, groups, width), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=t[:r].reshape((r, d)), src=x[i * 128:i * 128 + r, :])
        mean = nl.ndarray((128, groups, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=mean[:r], op=nl.add, data=t[:r], axis=2, keepdims=True)
        nisa.tensor_scalar(dst=mean[:r], data=mean[:r], op0=nl.multiply, operand0=1.0 / width)
        centred = nl.ndarray((128, groups, width), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=centred[:r], data1=t[:r], data2=mean[:r].broadcast(2, width), op=nl.subtract)
        square = nl.ndarray((128, groups, width), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=square[:r], op=nl.square, data=centred[:r])
        var = nl.ndarray((128, groups, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=var[:r], op=nl.add, data=square[:r], axis=2, keepdims=True)
        nisa.tensor_scalar(dst=var[:r], data=var[:r], op0=nl.multiply, operand0=1.0 / width, op1=nl.add, operand1=1e-5)
        nisa.activation(dst=var[:r], op=nl.rsqrt, data=var[:r])
        nisa.tensor_tensor(dst=centred[:r], data1=centred[:r], data2=var[:r].broadcast(2, width), op=nl.multiply)
        flat = centred[:r].reshape((r, d))
        nisa.tensor_tensor(dst=flat, data1=flat, data2=g[:r], op=nl.multiply)
        nisa.dma_copy(dst=out[i * 128:i * 128 + r, :], src=flat)
    return out
"""
)


def wide(given: Arrays, name: str) -> Any:
    return given[name].astype(np.float64)


def layer_normed(given: Arrays) -> tuple[Any]:
    x = wide(given, "x")
    inner = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + given["eps"])
    return (inner * given["gamma"] + given["beta"],)


def softmaxed(x: Any) -> Any:
    power = np.exp(x - x.max(-1, keepdims=True))
    return power / power.sum(-1, keepdims=True)


def rotated(given: Arrays, first: slice, second: slice) -> tuple[Any]:
    x, made = given["x"], np.empty_like(given["x"])
    made[:, first] = x[:, first] * given["cos"] - x[:, second] * given["sin"]
    made[:, second] = x[:, second] * given["cos"] + x[:, first] * given["sin"]
    return (made,)


def quantised(given: Arrays) -> tuple[Any, Any]:
    scale = np.maximum(np.abs(given["x"]).max(1, keepdims=True), np.float32(1e-8)) * np.float32(1 / 127)
    codes = given["x"] * (np.float32(1) / scale)
    return np.clip(np.rint(codes), -128, 127).astype(np.int8), scale


def group_normed(given: Arrays) -> tuple[Any]:
    x = wide(given, "x").reshape(len(given["x"]), given["groups"], -1)
    inner = (x - x.mean(2, keepdims=True)) / np.sqrt(x.var(2, keepdims=True) + 1e-5)
    return (inner.reshape(given["x"].shape) * given["gamma"],)


HALVES = (slice(0, 11), slice(11, 22))

TURNS = {"x": normal(503, 150, 22), "cos": normal(504, 150, 11), "sin": normal(505, 150, 11)}

CASES = (
    Case("layer norm in chunks", LAYER_NORM,
         {"x": normal(500, 131, 700), "gamma": normal(501, 700), "beta": normal(502, 700), "eps": 1e-5},
         layer_normed, roundings=30, scale=lambda given: 3 + np.abs(given["gamma"] * 5)),
    Case("online softmax", ONLINE_SOFTMAX, {"x": normal(520, 140, 250) * 3},
         lambda given: (softmaxed(wide(given, "x")),), roundings=300),
    Case("rotation of halves", ROTATED.replace("{first}", "slice(0, half)").replace("{second}", "slice(half, d)"),
         TURNS, lambda given: rotated(given, *HALVES)),
    Case("rotation of neighbours", ROTATED.replace("{first}", "slice(0, d, 2)").replace("{second}", "slice(1, d, 2)"),
         TURNS, lambda given: rotated(given, slice(0, None, 2), slice(1, None, 2))),
    Case("cumulative sum in chunks", CUMULATIVE, {"x": whole(521, -9, 9, 131, 123).astype(np.float32)},
         lambda given: (given["x"].cumsum(1),)),
    Case("quantisation by rows", QUANTISED, {"x": normal(522, 150, 33) * 7}, quantised),
    Case("group norm", GROUPED, {"x": normal(530, 131, 60), "gamma": normal(531, 60), "groups": 5}, group_normed,
         roundings=40, scale=lambda given: 4 * np.abs(given["gamma"]) + 0 * given["x"]),
)  # fmt: skip
