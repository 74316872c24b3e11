"""What the other tables leave out: random numbers whose values are certain, queries, prints, and instructions that the
first generation has in a form of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from tests.execution.tiles.ports import NEW, OLD, Arrays, Case, normal, whole

X = normal(111, 96, 30)
SMALL = whole(112, -4, 5, 96, 30).astype(np.float32)
DRAWN = {"draws": 1}

NEW_TILE = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    t = nl.ndarray((rows, columns), dtype={dtype}, buffer=nl.sbuf)
    {call}
    nisa.dma_copy(dst=out, src=t)
    return out
"""
)
OLD_TILE = (
    OLD
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray(({rows}, {width}), dtype=nl.{result}, buffer=nl.shared_hbm)
    a = nl.load(x)
    {before}t = {value}
    nl.store(out, t)
    return out
"""
)
TWO_RESULTS = (
    OLD
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.shared_hbm)
    sums = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    a = nl.load(x)
    s = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.sbuf)
    {call}
    nl.store(out, t)
    nl.store(sums, s)
    return out, sums
"""
)
PARTS = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    size = rows // nl.num_programs(0)
    a = nl.ndarray((size, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x[nl.ds(nl.program_id(0) * size, size), :])
    nisa.dma_copy(dst=out[nl.ds(nl.program_id(0) * size, size), :], src=a)
    return out
"""
)
OLD_PARTS = (
    OLD
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    size = rows // nl.num_programs(axes=0)
    for half in nl.static_range(2):
        place = nl.ds(nl.program_id(0) * size + half * (size // 2), size // 2)
        nl.store(out[place, :], nl.load(x[place, :]))
    return out
"""
)


def new(call: str, dtype: str = "x.dtype") -> str:
    return NEW_TILE.format(call=call, dtype=dtype)


def old(value: str, *, before: str = "", rows: str = "rows", width: str = "columns", result: str = "float32") -> str:
    lines = before + "\n    " if before else ""
    return OLD_TILE.format(value=value, before=lines, rows=rows, width=width, result=result)


def same(given: Arrays) -> tuple[Any]:
    return (given["x"],)


def filled(value: float) -> Callable[[Arrays], tuple[Any]]:
    return lambda given: (np.full(given["x"].shape, value, np.float32),)


def norm(given: Arrays) -> tuple[Any]:
    x = given["x"].astype(np.float64)
    return (x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6) * x,)


def squares(given: Arrays) -> tuple[Any, Any]:
    return given["x"] ** 2, (given["x"] ** 2).sum(1, keepdims=True)


def doubles(given: Arrays) -> tuple[Any, Any]:
    return given["x"] * 2, (given["x"] * 2).sum(1, keepdims=True)


def shuffled(given: Arrays) -> tuple[Any]:
    lanes = np.arange(len(given["x"]))
    return (given["x"][lanes // 32 * 32 + 31 - lanes % 32],)


def sums_from_left(given: Arrays) -> tuple[Any]:
    return (np.add.accumulate(given["x"], axis=1, dtype=np.float32),)


SHUFFLE = (
    "t = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)\n"
    "    nisa.nc_stream_shuffle(a, t, [31 - i for i in range(32)])"
)
PREDICATED = (
    "t = nl.zeros((rows, columns), dtype=nl.float32, buffer=nl.sbuf)\n"
    "    nisa.tensor_copy_predicated(src=a, dst=t, predicate=nl.greater(a, 0.0, dtype=nl.uint8))"
)
SELECTED = (
    "t = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)\n"
    "    nisa.select_reduce(dst=t, predicate=nl.greater(a, 0.0, dtype=nl.uint8), on_true=a, on_false=-1.0)"
)
RANGE = (
    "low = nl.full((rows, 1), 5.0, dtype=nl.float32)\n    high = nl.full((rows, 1), 20.0, dtype=nl.float32)\n"
    "    t = nisa.range_select(on_true_tile=a, comp_op0=np.greater_equal, comp_op1=np.less, bound0=low, bound1=high,"
    " range_start=0, on_false_value=-3.4028235e38)"
)
CONSTANT = (
    NEW.replace("import nki\n", "import numpy as np\nimport nki\n", 1)
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    unit = nl.shared_constant(np.identity(30, dtype=np.float32))
    b = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=b, src=unit)
    nisa.tensor_tensor(dst=a, data1=a, data2=b, op=nl.multiply)
    nisa.dma_copy(dst=out, src=a)
    return out
"""
)


def in_range(given: Arrays) -> tuple[Any]:
    place = np.arange(given["x"].shape[1])
    return (np.where((place >= 5) & (place < 20), given["x"], np.float32(-3.4028235e38)),)


CASES = (
    Case("dropout of nothing", new("nisa.dropout(dst=t, data=a, prob=0.0)"), {"x": X}, same, options=DRAWN),
    Case("dropout of everything", new("nisa.dropout(dst=t, data=a, prob=1.0)"), {"x": X}, filled(0), options=DRAWN),
    Case("random bits that are masked out", new(
        "nisa.rng(dst=t)\n    nisa.tensor_scalar(dst=t, data=t, op0=nl.bitwise_and, operand0=0)", "nl.uint32"),
        {"x": X}, filled(0), options=DRAWN),
    Case("a random number between equal limits", new("nisa.rand2(dst=t, min=2.5, max=2.5)"), {"x": X}, filled(2.5),
         options=DRAWN),
    Case("random numbers below 1", new(
        "nisa.tensor_copy(dst=t, src=nl.floor(nl.rand((rows, columns), dtype=nl.float32)))"),
        {"x": X}, filled(0), options=DRAWN),
    Case("a seed", new(
        "seed = nl.ndarray((1, 1), dtype=nl.uint32, buffer=nl.sbuf)\n    nisa.memset(dst=seed, value=3)\n"
        "    nisa.set_rng_seed(src_seeds=seed)\n    nisa.tensor_copy(dst=t, src=a)"), {"x": X}, same),
    Case("a print", new("nl.device_print('a', a)\n    nisa.tensor_copy(dst=t, src=a)"), {"x": X}, same),
    Case("no_reorder", new("with nl.no_reorder():\n        nisa.tensor_copy(dst=t, src=a)"), {"x": X}, same),
    Case("parts by program", PARTS, {"x": X}, same, grid=(2,)),
    Case("legacy parts by program", OLD_PARTS, {"x": X}, same, grid=(3,)),
    Case("legacy dropout of nothing", old("nl.dropout(a, rate=0.0)"), {"x": X}, same, options=DRAWN),
    Case("legacy random numbers below 1", old("nl.floor(nl.rand((rows, columns)))"), {"x": X}, filled(0),
         options=DRAWN),
    Case("legacy rms_norm", old("nl.rms_norm(a, a, axis=1, n=columns)"), {"x": X}, norm, roundings=40),
    Case("legacy activation_reduce", TWO_RESULTS.format(
        call="t = nisa.activation_reduce(nl.square, a, reduce_op=np.add, reduce_res=s)"),
        {"x": SMALL}, squares),
    Case("legacy tensor_scalar_reduce", TWO_RESULTS.format(
        call="t = nisa.tensor_scalar_reduce(data=a, op0=np.multiply, operand0=2.0, reduce_op=np.add, reduce_res=s)"),
        {"x": SMALL}, doubles),
    Case("legacy scalar_tensor_tensor", old(
        "nisa.scalar_tensor_tensor(data=a, op0=np.multiply, operand0=2.0, op1=np.subtract, operand1=a)"),
        {"x": SMALL}, same),
    Case("legacy tensor_partition_reduce", old("nisa.tensor_partition_reduce(np.add, a)", rows="1"), {"x": SMALL},
         lambda given: (given["x"].sum(0, keepdims=True),)),
    Case("legacy tensor_tensor_scan", old(
        "nisa.tensor_tensor_scan(nl.ones((rows, columns), dtype=nl.float32), a, initial=0.0, op0=np.multiply,"
        " op1=np.add)"),
        {"x": X}, sums_from_left),
    Case("legacy nc_stream_shuffle", old("t", before=SHUFFLE), {"x": X}, shuffled),
    Case("legacy tensor_copy_predicated", old("t", before=PREDICATED), {"x": X},
         lambda given: (np.maximum(given["x"], 0),)),
    Case("legacy select_reduce", old("t", before=SELECTED), {"x": X},
         lambda given: (np.where(given["x"] > 0, given["x"], np.float32(-1)),)),
    Case("legacy bits of a float", old("nl.copy(a, dtype=nl.float32).view(nl.uint32)", result="uint32"), {"x": X},
         lambda given: (given["x"].view(np.uint32),)),
    Case("legacy range_select", old("t", before=RANGE), {"x": X}, in_range),
    Case("legacy seed", old("a", before="nl.random_seed(nl.full((1, 1), 3, dtype=nl.uint32))"), {"x": X}, same),
    Case("a constant of the host", CONSTANT, {"x": X[:30]}, lambda given: (given["x"] * np.eye(30, dtype=np.float32),)),
    Case("legacy assert_shape", old("a.assert_shape((rows, columns))"), {"x": X}, same),
    Case("legacy print", old("a", before="nl.device_print('a', a)"), {"x": X}, same),
)  # fmt: skip
