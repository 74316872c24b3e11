"""Every function that the other tables of the first generation leave out: each with a mask, on tiles with a tail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from tests.execution.tiles import elementwise_kernels, wrapper_kernels
from tests.execution.tiles.ports import OLD, Arrays, Case, normal, whole
from tests.execution.tiles.wrapper_kernels import of_one, of_two

BLOCKS = (
    OLD
    + """
def kernel({parameters}):
    rows, columns = x.shape
    out = nl.ndarray((rows, {width}), dtype=nl.{result}, buffer=nl.shared_hbm)
    ip = nl.arange(128)[:, None]
    jf = nl.arange(64)[None, :]
    of = nl.arange({width})[None, :]
    for block in nl.affine_range((rows + 127) // 128):
        p = block * 128 + ip
        inside = (p < rows) & (jf < columns)
        a = nl.load(x[p, jf], mask=inside)
{second}        t = {value}
        nl.store(out[p, of], t[ip, of], mask=p < rows)
    return out
"""
)
SECOND = "        b = nl.load(y[p, jf], mask=inside)\n"
X, Y = normal(421, 150, 37), normal(422, 150, 37)
FAR = (np.abs(Y) + np.float32(0.5)).astype(np.float32)
BITS, MORE = whole(423, 0, 1 << 31, 150, 37, dtype=np.uint32), whole(424, 0, 32, 150, 37, dtype=np.uint32)
TRUTH, LIES = (whole(seed, 0, 2, 150, 37).astype(np.float32) for seed in (425, 426))

FUNCTIONS = ("arctan", "erf", "gelu", "gelu_apprx_tanh", "log", "mish", "relu", "sigmoid", "silu", "sin", "softplus",
             "sqrt")  # fmt: skip
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater_equal")


def one(value: str, result: str = "float32", width: str = "columns") -> str:
    return BLOCKS.format(parameters="x", second="", value=value, result=result, width=width)


def two(value: str, result: str = "float32") -> str:
    return BLOCKS.format(parameters="x, y", second=SECOND, value=value, result=result, width="columns")


def unary_cases() -> list[Case]:
    made = []
    for name in FUNCTIONS:
        function, given = elementwise_kernels.UNARY[name]
        source = one(f"nl.{name}(a, mask=inside)")
        made.append(Case(f"legacy nl.{name}", source, {"x": given[:, :37]}, of_one(function, True), roundings=1.01))
    for name, (known, given, roundings) in wrapper_kernels.UNARY.items():
        kind = given.dtype.name
        if name == "gelu_apprx_sigmoid_dx":
            continue
        scale = (lambda arrays: np.abs(arrays["x"]) + 1) if name.endswith("dx") else None
        source = one(f"nl.{name}(a, dtype=nl.{kind}, mask=inside)", kind)
        made.append(Case(
            f"legacy nl.{name}", source, {"x": given}, of_one(known, bool(roundings)), roundings, scale=scale,
        ))  # fmt: skip
    return made


def of_both(function: Callable[..., Any]) -> Callable[[Arrays], tuple[Any]]:
    return lambda given: (function(given["x"], given["y"]).astype(np.float32),)


def binary_cases() -> list[Case]:
    made = []
    for name in (*COMPARISONS, "minimum"):
        source = two(f"nl.{name}(a, b, dtype=nl.float32, mask=inside)")
        given = {"x": X.round(0), "y": Y.round(0)}
        made.append(Case(f"legacy nl.{name}", source, given, of_both(getattr(np, name))))
    for name in ("and", "or", "xor"):
        source = two(f"nl.logical_{name}(a, b, dtype=nl.float32, mask=inside)")
        made.append(
            Case(f"legacy nl.logical_{name}", source, {"x": TRUTH, "y": LIES}, of_both(getattr(np, f"logical_{name}")))
        )
    for name, function in elementwise_kernels.BITWISE.items():
        source = two(f"nl.{name}(a, b, mask=inside)", "uint32")
        made.append(Case(
            f"legacy nl.{name}", source, {"x": BITS, "y": MORE}, lambda given, f=function: (f(given["x"], given["y"]),),
        ))  # fmt: skip
    for name in ("mod", "fmod", "power"):
        function, roundings = wrapper_kernels.BINARY[name]
        given = {"x": FAR[::-1] if name == "power" else X, "y": FAR}
        made.append(Case(
            f"legacy nl.{name}", two(f"nl.{name}(a, b, mask=inside)"), given, of_two(function, bool(roundings)),
            roundings,
        ))  # fmt: skip
    return made


def of_rows(function: Callable[..., Any]) -> Callable[[Arrays], tuple[Any]]:
    return lambda given: (function(given["x"], axis=1, keepdims=True).astype(np.float32),)


REDUCED = (
    Case("legacy nl.min", one("nl.min(a, axis=1, keepdims=True, mask=inside)", width="1"), {"x": X}, of_rows(np.min)),
    Case("legacy nl.prod", one("nl.prod(a, axis=1, keepdims=True, mask=inside)", width="1"),
         {"x": (2.0 ** whole(427, -2, 3, 150, 37)).astype(np.float32)}, of_rows(np.prod)),
    Case("legacy nl.all", one("nl.expand_dims(nl.all(a, axis=1, dtype=nl.float32, mask=inside), 1)", width="1"),
         {"x": np.maximum(TRUTH, X > -1.5)}, of_rows(np.all)),
)  # fmt: skip

WHOLE_TILE = (
    OLD
    + """
def kernel({parameters}):
    rows, columns = x.shape
    out = nl.ndarray(({rows}, {width}), dtype=nl.{result}, buffer=nl.shared_hbm)
    a = nl.load(x)
    {text}
    nl.store(out, t)
    return out
"""
)


def whole_tile(
    text: str, *, rows: str = "rows", width: str = "columns", result: str = "float32", parameters: str = "x"
) -> str:  # fmt: skip
    return WHOLE_TILE.format(text=text, rows=rows, width=width, result=result, parameters=parameters)


DEVICE = (
    OLD
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.shared_hbm)
    wide = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=wide, src=x)
    t = nisa.dma_transpose(wide)
    nisa.dma_copy(dst=out, src=nisa.tensor_copy(t))
    return out
"""
)
TWICE = (
    OLD
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns, 2), dtype=nl.float32, buffer=nl.shared_hbm)
    a = nl.load(x)
    nl.store(out, nl.copy(nl.broadcast_to(nl.expand_dims(a, 2), shape=(rows, columns, 2))))
    return out
"""
)
ASKED = (
    OLD
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray((nl.par_dim(rows), columns), dtype=nl.float32, buffer=nl.sbuf)
    t[...] = nl.load(x)
    assert t.ndim == 2 and nl.program_ndim() == 0
    t[...] = nl.maximum(t, nl.constants.sizeinbytes(nl.bfloat16) / nl.finfo(nl.bfloat16).max)
    if nisa.get_nc_version() == nisa.nc_version.gen3:
        t[...] = nl.multiply(t, 2.0)
    nl.store(out, t)
    return out
"""
)
SEGMENTS = (
    OLD
    + """
def kernel(ids):
    one, columns = ids.shape
    out = nl.ndarray((1, 2, columns), dtype=nl.int32, buffer=nl.shared_hbm)
    nl.store(out, nisa.sequence_bounds(segment_ids=nl.load(ids)))
    return out
"""
)
A = X[:100]
IDS = np.array([[1, 1, 1, 3, 3, 0, 0, 2, 2, 2, 2, 0]], np.int32)


def bounds(given: Arrays) -> tuple[Any]:
    ids = given["ids"][0]
    wanted = np.array([np.full(ids.size, ids.size), np.full(ids.size, -1)], np.int32)
    for segment in set(ids.tolist()) - {0}:
        (places,) = np.nonzero(ids == segment)
        wanted[0, places], wanted[1, places] = places[0], places[-1] + 1
    return (wanted[None],)


def pasted(given: Arrays) -> tuple[Any]:
    wanted = np.zeros_like(given["x"])
    wanted[:, given["at"][0, 0] :][:, :8] = given["x"][:, :8]
    return (wanted,)


PLACE = "parts = nl.load(at)\n    "
OTHERS = (
    Case("what a legacy kernel asks", ASKED, {"x": A}, lambda given: (
        np.maximum(given["x"], np.float32(2 / float(ml_dtypes.finfo(ml_dtypes.bfloat16).max))) * np.float32(2),)),
    Case("legacy nisa.reciprocal", whole_tile("t = nisa.reciprocal(a)"), {"x": FAR[:100]},
         lambda given: (1 / given["x"].astype(float),), roundings=1.01),
    Case("legacy nl.zeros_like", whole_tile("t = nl.zeros_like(a)\n    t[:, 0:7] = nl.negative(a[:, 0:7])"),
         {"x": A}, lambda given: (np.where(np.arange(37) < 7, -given["x"], 0),)),
    Case("legacy nl.empty_like", whole_tile("t = nl.empty_like(a)\n    t[...] = nl.add(a, 1.0)"), {"x": A},
         lambda given: (given["x"] + np.float32(1),)),
    Case("legacy memset", whole_tile("t = nisa.memset((100, columns), 1.5, nl.float32)\n    t[:, 3:9] = a[:, 3:9]"),
         {"x": A}, lambda given: (np.where((np.arange(37) > 2) & (np.arange(37) < 9), given["x"], np.float32(1.5)),)),
    Case("legacy broadcast_to and expand_dims", TWICE, {"x": A},
         lambda given: (np.repeat(given["x"][:, :, None], 2, axis=2),)),
    Case("legacy astype", whole_tile("t = a.astype(nl.int32).astype(nl.float32)"), {"x": A * 9},
         lambda given: (np.rint(given["x"]),)),
    Case("legacy copies by an instruction", DEVICE, {"x": A}, lambda given: (given["x"].T,)),
    Case("legacy identity", whole_tile(
        "t = nl.matmul(nl.shared_identity_matrix(100, dtype=nl.float32), a, transpose_x=True)"), {"x": A},
        lambda given: (given["x"],)),
    Case("legacy sequence_bounds", SEGMENTS, {"ids": IDS}, bounds),
    Case("legacy tensor_copy_dynamic_src", whole_tile(
        PLACE + "t = nisa.tensor_copy_dynamic_src(a[nl.arange(100)[:, None], parts + nl.arange(8)[None, :]])",
        width="8", parameters="x, at"),
        {"x": A, "at": np.array([[11]], np.int32)}, lambda given: (given["x"][:, 11:19],)),
    Case("legacy tensor_copy_dynamic_dst", whole_tile(
        PLACE + "t = nl.zeros((100, columns), dtype=nl.float32)\n    nisa.tensor_copy_dynamic_dst("
        "dst=t[nl.arange(100)[:, None], parts + nl.arange(8)[None, :]], src=a[:, 0:8])", parameters="x, at"),
        {"x": A, "at": np.array([[11]], np.int32)}, pasted),
    *(
        Case(f"legacy dropout with the probability {rate}", whole_tile(f"t = nisa.dropout(a, prob={rate})"), {"x": A},
             lambda given, kept=1 - rate: (given["x"] * kept,), options={"draws": 1})
        for rate in (0.0, 1.0)
    ),
)  # fmt: skip

CASES = (*unary_cases(), *binary_cases(), *REDUCED, *OTHERS)
