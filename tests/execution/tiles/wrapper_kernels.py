"""Every function of `nl` that the other tables leave out, on tiles with a tail (second generation)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.execution.tiles.ports import NEW, Arrays, Case, normal, whole

BLOCKS = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, {width}), dtype=x.dtype, buffer=nl.shared_hbm)
    for first in range(0, rows, 128):
        m = min(128, rows - first)
        a = nl.load(x[first:first + m, 0:columns])
        nl.store(out[first:first + m, 0:{width}], {value})
    return out
"""
)
PAIRS = (
    NEW
    + """
def kernel(x, y):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    for first in range(0, rows, 128):
        m = min(128, rows - first)
        a = nl.load(x[first:first + m, 0:columns])
        b = nl.load(y[first:first + m, 0:columns])
        nl.store(out[first:first + m, 0:columns], {value})
    return out
"""
)
X, Y = normal(401, 150, 37), normal(402, 150, 37)
FAR = (np.abs(Y) + np.float32(0.5)).astype(np.float32)
WHOLE = whole(403, -1000, 1000, 150, 37)
TRUTH = whole(404, 0, 2, 150, 37).astype(np.float32)


def normal_density(x: Any) -> Any:
    return np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def normal_share(x: Any) -> Any:
    return (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


UNARY: dict[str, tuple[Callable[[Any], Any], Any, float]] = {
    "abs": (np.abs, X, 0), "ceil": (np.ceil, X * 4, 0), "sign": (np.sign, X.round(0), 0), "trunc": (np.trunc, X * 4, 0),
    "logical_not": (lambda x: 1 - x, TRUTH, 0), "invert": (np.invert, WHOLE, 0),
    "reciprocal": (lambda x: 1 / x, FAR, 1.01), "cos": (np.cos, X, 1.01), "tan": (np.tan, np.clip(X, -1, 1), 1.01),
    "erf_dx": (lambda x: 2 / math.sqrt(math.pi) * np.exp(-x * x), X, 4),
    "gelu_dx": (lambda x: normal_share(x) + x * normal_density(x), X, 1.01),
    "gelu_apprx_sigmoid": (lambda x: x * sigmoid(1.702 * x), X, 1.01),
    "gelu_apprx_sigmoid_dx": (
        lambda x: sigmoid(1.702 * x) * (1 + 1.702 * x * (1 - sigmoid(1.702 * x))), X, 4,
    ),
    "silu_dx": (lambda x: sigmoid(x) * (1 + x * (1 - sigmoid(x))), X, 4),
}  # fmt: skip
BINARY: dict[str, tuple[Callable[[Any, Any], Any], float]] = {
    "divide": (np.divide, 1.01), "mod": (np.mod, 0), "fmod": (np.fmod, 0), "power": (np.power, 1.01),
    "abs_max": (lambda x, y: np.maximum(np.abs(x), np.abs(y)), 0),
    "abs_min": (lambda x, y: np.minimum(np.abs(x), np.abs(y)), 0),
}  # fmt: skip


def of_one(function: Callable[[Any], Any], is_wide: bool) -> Callable[[Arrays], tuple[Any]]:
    return lambda given: (function(given["x"].astype(np.float64) if is_wide else given["x"]),)


def of_two(function: Callable[[Any, Any], Any], is_wide: bool) -> Callable[[Arrays], tuple[Any]]:
    return lambda given: (
        function(*(given[name].astype(np.float64) if is_wide else given[name] for name in "xy")),
    )  # fmt: skip


def one(value: str, width: str = "columns") -> str:
    return BLOCKS.format(value=value, width=width)


def unary_cases() -> list[Case]:
    return [
        Case(
            f"nl.{name} with a tail", one(f"nl.{name}(a)"), {"x": given}, of_one(function, bool(roundings)), roundings,
            scale=(lambda given: np.abs(given["x"]) + 1) if name.endswith("dx") else None,
        )
        for name, (function, given, roundings) in UNARY.items()
    ]  # fmt: skip


def binary_cases() -> list[Case]:
    return [
        Case(
            f"nl.{name} with a tail", PAIRS.format(value=f"nl.{name}(a, b)"),
            {"x": FAR[::-1] if name == "power" else X, "y": FAR}, of_two(function, bool(roundings)), roundings,
            options={"target": "trn3"},
        )
        for name, (function, roundings) in BINARY.items()
    ]  # fmt: skip


FILLED = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    for first in range(0, rows, 128):
        m = min(128, rows - first)
        a = nl.load(x[first:first + m, 0:columns])
        t = nl.{made}
        nisa.tensor_copy(dst=t[:, 0:9], src=a[:, 0:9])
        nl.store(out[first:first + m, 0:columns], t)
    return out
"""
)


def filled(made: str, value: float) -> Case:
    def reference(given: Arrays) -> tuple[Any]:
        wanted = np.full_like(given["x"], value)
        wanted[:, :9] = given["x"][:, :9]
        return (wanted,)

    return Case(f"nl.{made.partition('(')[0]} and a part written over", FILLED.format(made=made), {"x": X}, reference)


LIKE = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.load(x)
    t = nl.empty_like(a)
    nisa.tensor_scalar(dst=t, data=a, op0=nl.multiply, operand0=3.0)
    nl.store(out, t)
    return out
"""
)
PRODUCTS = (
    NEW
    + """
def kernel(x, y):
    k, m = x.shape
    n = y.shape[1]
    out = nl.ndarray((m, n), dtype=nl.float32, buffer=nl.shared_hbm)
    back = nl.ndarray((m, n), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=back, src=nl.matmul(nl.load(x), nl.load(y), transpose_x=True))
    nl.store(out, back)
    return out
"""
)
TURNED = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=t, src={value})
    nl.store(out, t)
    return out
"""
)
SHAPED = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    assert nl.is_sbuf(a.buffer) and nl.is_on_chip(a.buffer) and not nl.is_psum(a.buffer) and nl.is_hbm(x.buffer)
    assert a.ndim == 2 and a.is_contiguous() and nl.program_ndim() == 0
    s = nl.ndarray((rows, 1), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=s, src=a[:, 2:3])
    wide = nl.broadcast_to(s, (rows, columns))
    deep = nl.expand_dims(a, 1).squeeze_dim(1)
    bits = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=bits.reinterpret_cast(nl.int32), src=deep.reinterpret_cast(nl.int32))
    nisa.tensor_tensor(dst=bits, data1=bits, data2=wide, op=nl.subtract)
    nl.store(out, bits)
    return out
"""
)
ASKED = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    b = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)
    part = a[:, 0:4]
    assert not part.is_indirect()
    filled = nisa.memset(dst=b, value=0.0)
    copied = nisa.tensor_copy(dst=b[:, 0:4], src=a.ap(part.get_pattern()))
    copied.depends_on(filled)
    if nisa.get_nc_version() >= nisa.nc_version.gen3 and nisa.get_nc_sub_version() == 0:
        nisa.tensor_scalar(dst=b, data=b, op0=nl.multiply, operand0=2.0)
    nl.store(out, b)
    return out
"""
)
SEEDED = (
    NEW
    + """
def kernel(x, seed):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    nl.random_seed(nl.load(seed))
    nl.store(out, nl.dropout(nl.load(x), {rate}))
    return out
"""
)
LATEST = (
    NEW
    + """
def kernel(x, y):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    sums = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    a, b = nl.load(x), nl.load(y)
    t = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    s = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.{call}
    nl.store(out, t)
    nl.store(sums, s)
    return out, sums
"""
)
A = X[:100]
COLUMN = normal(405, 100, 1)
NUMBERS = whole(406, -8, 9, 100, 37).astype(np.float32)


def exponential(given: Arrays) -> tuple[Any, Any]:
    power = np.exp((given["x"] - given["y"]).astype(np.float64))
    return power, power.sum(1, keepdims=True)


def squared(given: Arrays) -> tuple[Any, Any]:
    value = (given["y"] - given["x"] * 2) ** 2
    return value, value.max(1, keepdims=True)


REDUCED = (
    Case("nl.min", one("nl.min(a, axis=1, keepdims=True)", "1"), {"x": X},
         lambda given: (given["x"].min(1, keepdims=True),)),
    Case("nl.all", one("nl.expand_dims(nl.all(a, axis=1), 1)", "1"), {"x": np.maximum(TRUTH, X > -1.5)},
         lambda given: (given["x"].all(1, keepdims=True),)),
    Case("nl.prod", one("nl.prod(a, axis=1, keepdims=True)", "1"),
         {"x": (2.0 ** whole(407, -2, 3, 150, 37)).astype(np.float32)},
         lambda given: (given["x"].prod(1, keepdims=True),)),
)  # fmt: skip
OTHERS = (
    Case("what is asked about the chip, and instructions that wait for each other", ASKED,
         {"x": A, "nisa.get_nc_sub_version()": 0},
         lambda given: (np.where(np.arange(37) < 4, given["x"] * np.float32(2), 0),)),
    filled("full((m, columns), 2.5, dtype=x.dtype)", 2.5), filled("ones((m, columns), dtype=x.dtype)", 1.0),
    filled("zeros((m, columns), dtype=x.dtype)", 0.0), filled("zeros_like(a)", 0.0),
    Case("nl.empty_like", LIKE, {"x": A}, lambda given: (given["x"] * 3,)),
    Case("nl.matmul", PRODUCTS, {"x": NUMBERS, "y": whole(408, -8, 9, 100, 130).astype(np.float32)},
         lambda given: (given["x"].T @ given["y"],)),
    Case("nl.transpose of a tile", TURNED.format(value="nl.transpose(nl.load(x))"), {"x": A},
         lambda given: (given["x"].T,)),
    Case("nl.load_transpose2d", TURNED.format(value="nl.load_transpose2d(x)"), {"x": A},
         lambda given: (given["x"].T,)),
    Case("views and what is asked about them", SHAPED, {"x": A}, lambda given: (given["x"] - given["x"][:, 2:3],)),
    *(
        Case(f"nl.dropout at the rate {rate} after nl.random_seed", SEEDED.format(rate=rate),
             {"x": A, "seed": np.array([[7]], np.int32)}, lambda given, kept=1 - rate: (given["x"] * kept,),
             options={"draws": 1})
        for rate in (0.0, 1.0)
    ),
    Case("nisa.exponential", LATEST.format(
        call="exponential(dst=t, src=a, max_value=b, reduce_res=s, reduce_cmd=nisa.reduce_cmd.reset_reduce)"),
        {"x": A, "y": COLUMN}, exponential, roundings=40, options={"target": "trn3"}),
    Case("nisa.activate2", LATEST.format(
        call="activate2(dst=t, op=nl.square, data=a, imm0=2.0, imm1=b, op0=nl.multiply, op1=nl.subtract, reverse1=True,"
        " reduce_op=nl.maximum, reduce_res=s, reduce_cmd=nisa.reduce_cmd.reset_reduce)"),
        {"x": A, "y": COLUMN}, squared, options={"target": "trn3"}),
)  # fmt: skip

CASES = (*unary_cases(), *binary_cases(), *REDUCED, *OTHERS)
