"""Kernels on bytes read as other formats, and on packed numbers that share their scales."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from tests.execution.tiles.ports import NEW, Arrays, Case, normal, whole

SCALED = {"e5m2": ml_dtypes.float8_e5m2, "e4m3fn": ml_dtypes.float8_e4m3fn, "e2m1fn": ml_dtypes.float4_e2m1fn}


def _powers(scales: Any, partitions: int) -> Any:
    """The scale of every partition of a packed tile, from rows that stand in their quadrants."""
    rows = [place // 32 * 32 + place % 32 // 8 for place in range(partitions)]
    return np.exp2(scales[rows].astype(np.float64) - 127)


def _numbers(units: Any, kind: str) -> Any:
    """The four numbers of every unit of a packed tile, partition by partition."""
    if kind != "e2m1fn":
        return units.view(SCALED[kind]).astype(np.float64).reshape(*units.shape, 4)
    nibbles = np.stack([units >> np.uint16(4 * place) & np.uint16(15) for place in range(4)], axis=-1)
    table = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float64)
    return table[nibbles & 7] * np.where(nibbles & 8, -1.0, 1.0)


def _product(given: Arrays, left: str, right: str) -> tuple[Any]:
    sides = []
    for name, kind in (("a", left), ("b", right)):
        numbers = _numbers(given[name], kind)
        sides.append(numbers * _powers(given[f"{name}_scale"], len(numbers))[:, :, None])
    return (np.einsum("pmj,pnj->mn", *sides),)


def _units(seed: int, rows: int, columns: int, kind: str) -> Any:
    if kind == "e2m1fn":
        return whole(seed, 0, 1 << 16, rows, columns, dtype=np.uint16)
    return normal(seed, rows, columns * 4).astype(SCALED[kind]).view(np.uint32)


def _multiplied(left: str, right: str, rows: int) -> Case:
    widths = {"e5m2": ("float8", "uint32"), "e4m3fn": ("float8", "uint32"), "e2m1fn": ("float4", "uint16")}
    lines = []
    for name, kind, columns in (("a", left, 6), ("b", right, 10)):
        family, carrier = widths[kind]
        lines.append(
            f"    {name}t = nl.ndarray(({rows}, {columns}), dtype=nl.{carrier}, buffer=nl.sbuf)\n"
            f"    nisa.dma_copy(dst={name}t, src={name}[0:{rows}, 0:{columns}])\n"
            f"    {name}p = {name}t.view(nl.{family}_{kind}_x4)\n"
            f"    {name}_s = nl.ndarray(({rows}, {columns}), dtype=nl.uint8, buffer=nl.sbuf)\n"
            f"    nisa.dma_copy(dst={name}_s, src={name}_scale[0:{rows}, 0:{columns}])\n"
        )
    return Case(
        f"product of {left} and {right} over {rows} partitions",
        NEW + "def k(a, b, a_scale, b_scale):\n" + "".join(lines)
        + "    p = nl.ndarray((6, 10), dtype=nl.float32, buffer=nl.psum)\n"
        + "    nisa.nc_matmul_mx(dst=p, stationary=ap, moving=bp, stationary_scale=a_s, moving_scale=b_s)\n"
        + "    r = nl.ndarray((6, 10), dtype=nl.float32, buffer=nl.sbuf)\n    nisa.tensor_copy(dst=r, src=p)\n"
        + "    out = nl.ndarray((6, 10), dtype=nl.float32, buffer=nl.shared_hbm)\n    nisa.dma_copy(dst=out, src=r)\n"
        + "    return out\n",
        {
            "a": _units(1, rows, 6, left), "b": _units(2, rows, 10, right),
            "a_scale": whole(3, 124, 131, rows, 6, dtype=np.uint8),
            "b_scale": whole(4, 124, 131, rows, 10, dtype=np.uint8),
        },
        lambda given: _product(given, left, right),
        roundings=64,
        scale=lambda given: np.full((6, 10), 4e3),
    )  # fmt: skip


def _quantized(given: Arrays, kind: str, top: int) -> tuple[Any, Any]:
    values = given["x"].astype(np.float64).reshape(len(given["x"]) // 8, 8, -1, 4)
    largest = np.abs(values).max(axis=(1, 3), keepdims=True)
    with np.errstate(divide="ignore"):
        exponent = np.maximum(np.floor(np.log2(largest)) - top, -127)
    limit = float(ml_dtypes.finfo(SCALED[kind]).max)
    small = np.clip(values / np.exp2(exponent), -limit, limit)
    units = small.astype(SCALED[kind]).reshape(len(given["x"]), -1).view(np.uint32)
    scales = np.zeros((len(given["x"]), units.shape[1]), np.uint8)
    for group, row in enumerate(exponent[:, 0, :, 0]):
        scales[group // 4 * 32 + group % 4] = row + 127
    return units, scales


def _shrunk(kind: str, top: int, version: str, spread: float) -> Case:
    values = (normal(5, 64, 16) * np.exp2(normal(6, 64, 16) * spread)).astype(ml_dtypes.bfloat16)
    values[8:16, 4:8] = 0
    return Case(
        f"quantised to {kind} as {version} does",
        NEW + "def k(x):\n    t = nl.ndarray((64, 16), dtype=nl.bfloat16, buffer=nl.sbuf)\n"
        + "    nisa.dma_copy(dst=t, src=x[0:64, 0:16])\n"
        + f"    q = nl.ndarray((64, 4), dtype=nl.float8_{kind}_x4, buffer=nl.sbuf)\n"
        + "    s = nl.ndarray((64, 4), dtype=nl.uint8, buffer=nl.sbuf)\n    nisa.memset(s, value=0)\n"
        + "    nisa.quantize_mx(dst=q, src=t, dst_scale=s)\n"
        + "    out = nl.ndarray((64, 4), dtype=nl.uint32, buffer=nl.shared_hbm)\n"
        + "    nisa.dma_copy(dst=out, src=q.view(nl.uint32))\n"
        + "    scales = nl.ndarray((64, 4), dtype=nl.uint8, buffer=nl.shared_hbm)\n"
        + "    nisa.dma_copy(dst=scales, src=s)\n    return out, scales\n",
        {"x": values},
        lambda given: _quantized(given, kind, top),
    )  # fmt: skip


BITS = (
    NEW
    + """
def k(x):
    t = nl.ndarray((16, 4), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x[0:16, 0:4])
    v = t.view(nl.int32)
    nisa.tensor_scalar(dst=v, data=v, op0=nl.bitwise_and, operand0=0x7fffffff)
    out = nl.ndarray((16, 12), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out[:, 0:4], src=t)
    nisa.dma_copy(dst=out[:, 4:12], src=t.view(nl.bfloat16))
    return out
"""
)
BYTES = (
    NEW
    + """
def k(raw):
    rows, columns = raw.shape
    out = nl.ndarray((4, 3), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=raw.ap(pattern=[[8, 4], [2, 3]], offset=1, dtype=nl.float32))
    return out
"""
)


def _bits(given: Arrays) -> tuple[Any]:
    sizes = np.abs(given["x"])
    return (np.concatenate([sizes, sizes.view(ml_dtypes.bfloat16).astype(np.float32)], axis=1),)


CASES = (
    Case("bits of float32 as integers and as narrower numbers", BITS, {"x": normal(17, 16, 4)}, _bits),
    Case(
        "bytes of a tensor as wider elements, under a pattern of theirs", BYTES,
        {"raw": normal(18, 4, 8).view(np.uint8)}, lambda given: (given["raw"].view(np.float32)[:, 1:7:2].copy(),),
    ),
    _multiplied("e5m2", "e4m3fn", 32),
    _multiplied("e4m3fn", "e5m2", 128),
    _multiplied("e2m1fn", "e5m2", 64),
    _shrunk("e4m3fn", 7, "0.6", 3.0),
    _shrunk("e5m2", 14, "0.5", 6.0),
)  # fmt: skip
