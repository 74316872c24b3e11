"""Whole layers as a port has them: attention, projections, routing, tables, losses (second generation)."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.execution.tiles.ported_kernels import softmaxed, wide
from tests.execution.tiles.ports import NEW, Arrays, Case, normal, whole

ATTENTION = (
    NEW
    + """
def flash(q, k, v, scale):
    heads, length, d = q.shape
    out = nl.ndarray((heads, length, d), dtype=q.dtype, buffer=nl.shared_hbm)
    blocks = (length + 127) // 128
    for h in range(heads):
        for i in range(blocks):
            r = min(128, length - i * 128)
            qt = nl.ndarray((d, 128), dtype=q.dtype, buffer=nl.sbuf)
            turned = nl.ndarray((d, 128), dtype=q.dtype, buffer=nl.psum)
            rows = nl.ndarray((128, d), dtype=q.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=rows[:r], src=q[h, i * 128:i * 128 + r, :])
            nisa.nc_transpose(dst=turned[:, :r], data=rows[:r])
            nisa.tensor_copy(dst=qt[:, :r], src=turned[:, :r])
            top = nl.full((128, 1), -1e30, dtype=nl.float32, buffer=nl.sbuf)
            total = nl.zeros((128, 1), dtype=nl.float32, buffer=nl.sbuf)
            acc = nl.zeros((128, d), dtype=nl.float32, buffer=nl.sbuf)
            for j in range(i + 1):
                c = min(128, length - j * 128)
                kt = nl.ndarray((d, 128), dtype=k.dtype, buffer=nl.sbuf)
                keys = nl.ndarray((128, d), dtype=k.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=keys[:c], src=k[h, j * 128:j * 128 + c, :])
                turned = nl.ndarray((d, 128), dtype=k.dtype, buffer=nl.psum)
                nisa.nc_transpose(dst=turned[:, :c], data=keys[:c])
                nisa.tensor_copy(dst=kt[:, :c], src=turned[:, :c])
                values = nl.ndarray((128, d), dtype=v.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=values[:c], src=v[h, j * 128:j * 128 + c, :])
                scores = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
                nisa.nc_matmul(dst=scores[:r, :c], stationary=qt[:, :r], moving=kt[:, :c])
                s = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf)
                nisa.tensor_scalar(dst=s[:r, :c], data=scores[:r, :c], op0=nl.multiply, operand0=scale)
                if i == j:
                    nisa.affine_select(dst=s[:r, :c], pattern=[[-1, c]], channel_multiplier=1, offset=0,
                                       on_true_tile=s[:r, :c], on_false_value=-1e30, cmp_op=nl.greater_equal)
                best = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
                nisa.tensor_reduce(dst=best[:r], op=nl.maximum, data=s[:r, :c], axis=1)
                nisa.tensor_tensor(dst=best[:r], data1=best[:r], data2=top[:r], op=nl.maximum)
                fade = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
                nisa.tensor_tensor(dst=fade[:r], data1=top[:r], data2=best[:r], op=nl.subtract)
                nisa.activation(dst=fade[:r], op=nl.exp, data=fade[:r])
                nisa.tensor_scalar(dst=s[:r, :c], data=s[:r, :c], op0=nl.subtract, operand0=best[:r])
                part = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
                nisa.activation_reduce(dst=s[:r, :c], op=nl.exp, data=s[:r, :c], reduce_op=nl.add, reduce_res=part[:r])
                nisa.scalar_tensor_tensor(dst=total[:r], data=total[:r], op0=nl.multiply, operand0=fade[:r],
                                          op1=nl.add, operand1=part[:r])
                weights = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
                nisa.nc_transpose(dst=weights[:c, :r], data=s[:r, :c])
                pt = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf)
                nisa.tensor_copy(dst=pt[:c, :r], src=weights[:c, :r])
                product = nl.ndarray((128, d), dtype=nl.float32, buffer=nl.psum)
                nisa.nc_matmul(dst=product[:r], stationary=pt[:c, :r], moving=values[:c])
                nisa.scalar_tensor_tensor(dst=acc[:r], data=acc[:r], op0=nl.multiply, operand0=fade[:r], op1=nl.add,
                                          operand1=product[:r])
                nisa.tensor_copy(dst=top[:r], src=best[:r])
            nisa.reciprocal(dst=total[:r], data=total[:r])
            nisa.tensor_scalar(dst=acc[:r], data=acc[:r], op0=nl.multiply, operand0=total[:r])
            nisa.dma_copy(dst=out[h, i * 128:i * 128 + r, :], src=acc[:r])
    return out
"""
)

EMBEDDED = (
    NEW
    + """
def embed(table, ids, scale):
    rows, d = table.shape
    n, one = ids.shape
    out = nl.ndarray((n, d), dtype=table.dtype, buffer=nl.shared_hbm)
    for i in range((n + 127) // 128):
        r = min(128, n - i * 128)
        index = nl.ndarray((r, 1), dtype=nl.int32, buffer=nl.sbuf)
        nisa.dma_copy(dst=index, src=ids[i * 128:i * 128 + r, :])
        t = nl.ndarray((r, d), dtype=table.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=t, src=table.ap(pattern=[[d, r], [1, d]], vector_offset=index, indirect_dim=0))
        nisa.tensor_scalar(dst=t, data=t, op0=nl.multiply, operand0=scale)
        nisa.dma_copy(dst=out[i * 128:i * 128 + r, :], src=t)
    return out
"""
)

GATED = (
    NEW
    + """
def mlp(x, gate, up, down):
    n, d = x.shape
    f = gate.shape[1]
    out = nl.ndarray((n, d), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range((n + 127) // 128):
        r = min(128, n - i * 128)
        hidden = []
        for part in range((f + 127) // 128):
            w = min(128, f - part * 128)
            sums = []
            for weight in (gate, up):
                acc = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
                for c in range((d + 127) // 128):
                    k = min(128, d - c * 128)
                    xt = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
                    nisa.dma_copy(dst=xt[:k, :r], src=x[i * 128:i * 128 + r, c * 128:c * 128 + k].permute((1, 0)))
                    wt = nl.ndarray((128, 128), dtype=weight.dtype, buffer=nl.sbuf)
                    nisa.dma_copy(dst=wt[:k, :w], src=weight[c * 128:c * 128 + k, part * 128:part * 128 + w])
                    nisa.nc_matmul(dst=acc[:w, :r], stationary=wt[:k, :w], moving=xt[:k, :r])
                sums.append(acc)
            h = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
            nisa.activation(dst=h[:w, :r], op=nl.silu, data=sums[0][:w, :r])
            nisa.tensor_tensor(dst=h[:w, :r], data1=h[:w, :r], data2=sums[1][:w, :r], op=nl.multiply)
            hidden.append((h, w))
        acc = nl.ndarray((128, d), dtype=nl.float32, buffer=nl.psum)
        for part, (h, w) in enumerate(hidden):
            wt = nl.ndarray((128, d), dtype=down.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=wt[:w], src=down[part * 128:part * 128 + w, :])
            nisa.nc_matmul(dst=acc[:r], stationary=h[:w, :r], moving=wt[:w])
        y = nl.ndarray((128, d), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_copy(dst=y[:r], src=acc[:r])
        nisa.dma_copy(dst=out[i * 128:i * 128 + r, :], src=y[:r])
    return out
"""
)

ROUTED = (
    NEW
    + """
def route(logits):
    n, experts = logits.shape
    weights = nl.ndarray((n, 4), dtype=nl.float32, buffer=nl.shared_hbm)
    places = nl.ndarray((n, 4), dtype=nl.uint32, buffer=nl.shared_hbm)
    for i in range((n + 127) // 128):
        r = min(128, n - i * 128)
        t = nl.ndarray((128, experts), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=t[:r], src=logits[i * 128:i * 128 + r])
        top = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
        at = nl.ndarray((128, 8), dtype=nl.uint32, buffer=nl.sbuf)
        nisa.max8(dst=top[:r], src=t[:r])
        nisa.nc_find_index8(dst=at[:r], data=t[:r], vals=top[:r])
        w = nl.ndarray((128, 4), dtype=nl.float32, buffer=nl.sbuf)
        total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=w[:r], data=top[:r, 0:4], op0=nl.subtract, operand0=top[:r, 0:1])
        nisa.activation_reduce(dst=w[:r], op=nl.exp, data=w[:r], reduce_op=nl.add, reduce_res=total[:r])
        nisa.reciprocal(dst=total[:r], data=total[:r])
        nisa.tensor_scalar(dst=w[:r], data=w[:r], op0=nl.multiply, operand0=total[:r])
        nisa.dma_copy(dst=weights[i * 128:i * 128 + r], src=w[:r])
        nisa.dma_copy(dst=places[i * 128:i * 128 + r], src=at[:r, 0:4])
    return weights, places
"""
)

CONVOLVED = (
    NEW
    + """
def causal_conv(x, w):
    channels, length = x.shape
    taps = w.shape[1]
    out = nl.ndarray((channels, length), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range((channels + 127) // 128):
        r = min(128, channels - i * 128)
        padded = nl.ndarray((128, length + taps - 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.memset(dst=padded[:, 0:taps - 1], value=0.0)
        nisa.dma_copy(dst=padded[:r, taps - 1:taps - 1 + length], src=x[i * 128:i * 128 + r, :])
        weights = nl.ndarray((128, taps), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=weights[:r], src=w[i * 128:i * 128 + r, :])
        acc = nl.ndarray((128, length), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=acc[:r], data=padded[:r, 0:length], op0=nl.multiply, operand0=weights[:r, 0:1])
        for tap in range(1, taps):
            nisa.scalar_tensor_tensor(dst=acc[:r], data=padded[:r, tap:tap + length], op0=nl.multiply,
                                      operand0=weights[:r, tap:tap + 1], op1=nl.add, operand1=acc[:r])
        nisa.activation(dst=acc[:r], op=nl.silu, data=acc[:r])
        nisa.dma_copy(dst=out[i * 128:i * 128 + r, :], src=acc[:r])
    return out
"""
)

LOSS = (
    NEW
    + """
def cross_entropy(logits, labels):
    n, classes = logits.shape
    loss = nl.ndarray((n, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    for i in range((n + 127) // 128):
        r = min(128, n - i * 128)
        t = nl.ndarray((r, classes), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=t, src=logits[i * 128:i * 128 + r, :])
        label = nl.ndarray((r, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=label, src=labels[i * 128:i * 128 + r, :])
        place = nl.ndarray((r, classes), dtype=nl.float32, buffer=nl.sbuf)
        nisa.iota(dst=place, pattern=[[1, classes]], offset=0, channel_multiplier=0)
        hit = nl.ndarray((r, classes), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=hit, data=place, op0=nl.equal, operand0=label)
        nisa.tensor_tensor(dst=hit, data1=hit, data2=t, op=nl.multiply)
        own = nl.ndarray((r, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=own, op=nl.add, data=hit, axis=1)
        top = nl.ndarray((r, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=top, op=nl.maximum, data=t, axis=1, negate=True)
        total = nl.ndarray((r, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation_reduce(dst=t, op=nl.exp, data=t, bias=top, reduce_op=nl.add, reduce_res=total)
        nisa.activation(dst=total, op=nl.log, data=total)
        nisa.tensor_tensor(dst=total, data1=total, data2=top, op=nl.subtract)
        nisa.tensor_tensor(dst=total, data1=total, data2=own, op=nl.subtract)
        nisa.dma_copy(dst=loss[i * 128:i * 128 + r, :], src=total)
    return loss
"""
)


def attended(given: Arrays) -> tuple[Any]:
    q, k, v = (wide(given, name) for name in "qkv")
    scores = np.einsum("hid,hjd->hij", q, k) * given["scale"]
    scores = np.where(np.tri(q.shape[1], dtype=bool), scores, -np.inf)
    return (np.einsum("hij,hjd->hid", softmaxed(scores), v),)


def gated(given: Arrays) -> tuple[Any]:
    gate = wide(given, "x") @ wide(given, "gate")
    return ((gate / (1 + np.exp(-gate)) * (wide(given, "x") @ wide(given, "up"))) @ wide(given, "down"),)


def routed(given: Arrays) -> tuple[Any, Any]:
    order = np.argsort(-given["logits"], axis=1, kind="stable")[:, :4]
    best = np.take_along_axis(given["logits"], order, 1).astype(np.float64)
    return softmaxed(best), order.astype(np.uint32)


def convolved(given: Arrays) -> tuple[Any]:
    x, w = wide(given, "x"), wide(given, "w")
    padded = np.pad(x, ((0, 0), (w.shape[1] - 1, 0)))
    acc = sum(padded[:, tap : tap + x.shape[1]] * w[:, tap : tap + 1] for tap in range(w.shape[1]))
    return (acc / (1 + np.exp(-acc)),)


def lost(given: Arrays) -> tuple[Any]:
    x = wide(given, "logits")
    total = np.log(np.exp(x - x.max(1, keepdims=True)).sum(1, keepdims=True)) + x.max(1, keepdims=True)
    return (total - np.take_along_axis(x, given["labels"].astype(int), 1),)


HEADS = {name: normal(seed, 2, 150, 40) for name, seed in (("q", 506), ("k", 507), ("v", 508))}

CASES = (
    Case("causal flash attention", ATTENTION, {**HEADS, "scale": 40**-0.5}, attended, roundings=200,
         scale=lambda given: np.full(given["v"].shape, 4.0)),
    Case("rows of a table", EMBEDDED,
         {"table": normal(523, 50, 21), "ids": whole(524, 0, 50, 150, 1), "scale": 4.0},
         lambda given: (given["table"][given["ids"][:, 0]] * np.float32(4),)),
    Case("gated layer", GATED, {
        "x": normal(525, 140, 150), "gate": normal(526, 150, 170) / 12, "up": normal(527, 150, 170) / 12,
        "down": normal(528, 170, 150) / 13}, gated, roundings=400, scale=lambda given: np.ones(given["x"].shape)),
    Case("routing to four experts", ROUTED, {"logits": normal(529, 150, 24)}, routed, roundings=8),
    Case("causal convolution", CONVOLVED, {"x": normal(532, 150, 45), "w": normal(533, 150, 4)}, convolved,
         roundings=16, scale=lambda given: np.full(given["x"].shape, 6.0)),
    Case("cross entropy", LOSS,
         {"logits": normal(534, 150, 37), "labels": whole(535, 0, 37, 150, 1).astype(np.float32)}, lost, roundings=60,
         scale=lambda given: np.full((150, 1), 6.0)),
)  # fmt: skip
