"""What may be given: sizes, dtypes by name, tuples, configurations; and what two dtypes promote to."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from tests.execution.tiles.ports import NEW, OLD, executed, normal, whole

from portcheck.core.dtype import BFLOAT16, FLOAT16, FLOAT32, INT32, DType, dtype_of
from portcheck.core.errors import InputError
from portcheck.execution.tiles import EventKind
from portcheck.execution.tiles.dtypes import missing, resolved

KNOWN = {"dtype(x)": FLOAT16, "dtype(y)": BFLOAT16, "dtype(n)": INT32}


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("x", FLOAT16), ("float32", FLOAT32), ("promote(x, y)", FLOAT32), ("promote(x, n)", FLOAT16),
        ("promote(promote(y, y), n)", BFLOAT16), ("promote(x, z)", None), ("z", None),
    ],
)  # fmt: skip
def test_a_name_of_a_dtype_is_resolved(name: str, dtype: DType | None) -> None:
    assert resolved(name, KNOWN) == dtype


def test_the_name_that_is_missing_is_found() -> None:
    assert missing("promote(promote(x, z), y)", KNOWN) == "z"
    assert dtype_of("z").name not in KNOWN


def test_operands_of_the_first_generation_promote() -> None:
    text = (
        OLD
        + """
def kernel(x, y):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.shared_hbm)
    total = nl.add(nl.load(x), nl.load(y))
    nl.store(out, total)
    return out
"""
    )
    for left, right, result in (
        (np.float16, ml_dtypes.bfloat16, np.float32), (np.float16, np.float16, np.float16),
    ):  # fmt: skip
        x, y = normal(1, 8, 4, dtype=left), normal(2, 8, 4, dtype=right)
        wanted = (x.astype(np.float32) + y.astype(np.float32)).astype(result).astype(np.float32)
        assert (executed(text, {"x": x, "y": y}).results[0] == wanted).all()


def test_a_dtype_is_given_by_its_name_or_as_one() -> None:
    text = (
        NEW
        + """
def kernel(x, kind):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=kind, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=kind, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    nisa.dma_copy(dst=out, src=a)
    return out
"""
    )
    x = normal(1, 8, 4)
    for kind in ("bfloat16", np.dtype(ml_dtypes.bfloat16)):
        assert executed(text, {"x": x, "kind": kind}).results[0].dtype == ml_dtypes.bfloat16
    with pytest.raises(InputError, match="needs a value for kind"):
        executed(text, {"x": x})


def test_attributes_and_items_are_given_by_name_or_together() -> None:
    text = (
        NEW
        + """
def kernel(x, cfg, sizes):
    out = nl.ndarray((sizes[0], sizes[1]), dtype=nl.float32, buffer=nl.shared_hbm)
    a = nl.ndarray((sizes[0], sizes[1]), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x[0:sizes[0], 0:sizes[1]])
    nisa.tensor_scalar(dst=a, data=a, op0=nl.multiply, operand0=cfg.scale)
    nisa.dma_copy(dst=out, src=a)
    return out
"""
    )
    x = normal(1, 8, 4)
    for given in ({"cfg": {"scale": 2.0}, "sizes": (8, 4)}, {"cfg.scale": 2.0, "sizes[0]": 8, "sizes[1]": 4}):
        assert (executed(text, {"x": x, **given}).results[0] == x * 2).all()
    with pytest.raises(InputError, match=r"needs a value for cfg\.scale"):
        executed(text, {"x": x, "sizes": (8, 4)})


DEFAULTS = (
    NEW.replace("@nki.jit", "EPS = 0.5\n\n\n@nki.jit")
    + """
def kernel(x, eps=EPS * 2, kind=nl.bfloat16, mode="add", is_doubled=False, bias=None, sizes=(1, 2)):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=kind, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    nisa.tensor_scalar(dst=a, data=a, op0=nl.add, operand0=eps)
    if is_doubled:
        nisa.tensor_scalar(dst=a, data=a, op0=nl.multiply, operand0=2.0)
    if bias is not None:
        b = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=b, src=bias)
        nisa.tensor_tensor(dst=a, data1=a, data2=b, op=nl.add)
    nisa.dma_copy(dst=out, src=a)
    return out
"""
)


def test_what_is_left_out_is_its_default() -> None:
    x = whole(1, -8, 8, 8, 4).astype(np.float32)
    for given, wanted in (
        ({}, x + 1), ({"eps": 2.0}, x + 2), ({"is_doubled": True}, 2 * x + 2), ({"bias": x}, 2 * x + 1),
    ):  # fmt: skip
        done = executed(DEFAULTS, {"x": x, **given})
        assert done.results[0].dtype == ml_dtypes.bfloat16 and not done.faults
        assert (done.results[0].astype(np.float32) == wanted).all()
    assert executed(DEFAULTS, {"x": x, "kind": "float32"}).results[0].dtype == np.float32


def test_a_parameter_without_a_default_must_be_given() -> None:
    with pytest.raises(InputError, match="needs a value for eps"):
        executed(DEFAULTS.replace("eps=EPS * 2, kind", "eps, kind"), {"x": normal(1, 8, 4)})


def test_a_default_that_is_worked_out_elsewhere_must_be_given() -> None:
    with pytest.raises(InputError, match="needs a value for eps"):
        executed(DEFAULTS.replace("EPS * 2", "measured()"), {"x": normal(1, 8, 4)})


def test_arrays_are_copied() -> None:
    text = (
        NEW
        + """
def kernel(x):
    rows, columns = x.shape
    a = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.memset(dst=a, value=0.0)
    nisa.dma_copy(dst=x, src=a)
    return x
"""
    )
    x = normal(1, 8, 4)
    done = executed(text, {"x": x})
    assert (done.arrays["x"] == 0).all() and (x == normal(1, 8, 4)).all()
    assert (done.results[0] == 0).all()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1 << 70])
def test_a_size_that_cannot_be_is_told(value: float) -> None:
    text = (
        NEW
        + """
def kernel(x, size):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a[0:size, :], src=x[0:size, :])
    nisa.dma_copy(dst=out, src=a)
    return out
"""
    )
    assert executed(text, {"x": normal(1, 8, 4), "size": 8}).events == ()
    try:
        stopped = executed(text, {"x": normal(1, 8, 4), "size": value}).stopped
        assert stopped is not None and stopped.kind is EventKind.BUDGET_SPENT
    except InputError as error:
        assert "for a whole number" in str(error)


def test_numbers_that_grow_without_end_are_refused() -> None:
    text = (
        NEW
        + """
def kernel(x, size):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.dynamic_range(min(size ** size ** size, 1)):
        nisa.dma_copy(dst=out, src=x)
    return out
"""
    )
    assert executed(text, {"x": normal(1, 8, 4), "size": 2}).events == ()
    with pytest.raises(InputError, match="a number too large"):
        executed(text, {"x": normal(1, 8, 4), "size": 99})


def test_truth_values_become_numbers() -> None:
    text = (
        NEW
        + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=nl.int8, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    b = nl.ndarray((rows, columns), dtype=nl.int8, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    nisa.tensor_copy(dst=b, src=a)
    nisa.dma_copy(dst=out, src=b)
    return out
"""
    )
    x = normal(1, 8, 4) > 0
    assert (executed(text, {"x": x}).results[0] == x).all()


ROUNDED = (
    NEW
    + """
def kernel(x, y=None):
    assert x.buffer != nl.sbuf
    n, m = (nl.num_programs(0), 2) if nl.program_ndim() != 0 else (1, 3)
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    assert t.buffer == nl.sbuf
    nisa.dma_copy(dst=t, src=x)
    if y is not None:
        nisa.dma_copy(dst=t, src=y)
    nisa.tensor_scalar(dst=t, data=t, op0=nl.multiply, operand0=m)
    nisa.dma_copy(dst=out, src=t)
    return out
"""
)


@pytest.mark.parametrize(("grid", "axes"), [(None, 0), ((1,), 1)])
def test_a_tensor_may_be_none_and_the_grid_says_how_many_axes_there_are(grid: tuple[int] | None, axes: int) -> None:
    x, y = normal(1, 8, 4), normal(2, 8, 4)
    factor = 2 if axes else 3
    for other, wanted in ((None, x * factor), (y, y * factor)):
        execution = executed(ROUNDED, {"x": x, "y": other}, grid)
        assert not execution.faults
        assert (execution.results[0] == wanted).all()


def test_dtypes_of_arguments_decide_comparisons() -> None:
    text = (
        NEW
        + """
def kernel(x, y):
    out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    t = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x)
    if x.dtype == nl.float32:
        nisa.tensor_scalar(dst=t, data=t, op0=nl.multiply, operand0=2.0)
    if x.dtype != y.dtype:
        nisa.tensor_scalar(dst=t, data=t, op0=nl.multiply, operand0=3.0)
    nisa.dma_copy(dst=out, src=t)
    return out
"""
    )
    for x, y, factor in ((np.float32, np.float32, 2), (np.float32, np.float16, 6), (np.float16, np.float16, 1)):
        done = executed(text, {"x": np.ones((2, 3), x), "y": np.ones((2, 3), y)})
        assert done.events == ()
        assert (done.results[0] == factor).all(), (x, y)


def test_kernels_may_ask_for_different_arguments() -> None:
    text = (
        NEW
        + """
def first(x, factor):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.load(x)
    nisa.tensor_scalar(dst=a, data=a, op0=nl.multiply, operand0=factor)
    nl.store(out, a)
    return out


@nki.jit
def second(y):
    n, m = y.shape
    out = nl.ndarray((n, m), dtype=y.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(y))
    return out
"""
    )
    x, y = normal(1, 4, 3), normal(2, 5, 6)
    done = executed(text, {"x": x, "factor": 2.0, "y": y, "rows": 4})
    assert done.events == ()
    assert (done.returned["first"][0] == 2 * x).all() and (done.returned["second"][0] == y).all()
    with pytest.raises(InputError, match="nothing in second is called z"):
        executed(text, {"x": x, "factor": 2.0, "y": y, "z": 1})
    with pytest.raises(InputError, match="rows is 3 by its argument and 4"):
        executed(text, {"x": x, "factor": 2.0, "y": y, "rows": 3})


CHOSEN = """
def kernel(x, narrow: bool):
    rows, columns = x.shape
    if narrow:
        kind = nl.bfloat16
    else:
        kind = nl.float32
    out = nl.ndarray((rows, columns), dtype=kind, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=kind, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    nisa.dma_copy(dst=out, src=a)
    return out
"""


@pytest.mark.parametrize(("narrow", "dtype"), [(True, ml_dtypes.bfloat16), (False, np.float32)])
def test_a_dtype_that_is_one_of_two_is_the_one_that_the_arguments_say(narrow: bool, dtype: type) -> None:
    x = normal(1, 8, 4)
    made = executed(NEW + CHOSEN, {"x": x, "narrow": narrow}).results[0]
    assert made.dtype == dtype
    assert (made.astype(np.float32) == x.astype(dtype).astype(np.float32)).all()


GROWN = [f"width = min(width * width + n // (width + 1), n % (width + {place}))" for place in range(2, 12)]
LARGE = """
def kernel(x, n: int):
    rows, columns = x.shape
    width = n
    {grown}
    width = width % 3 + 1
    out = nl.ndarray((rows, width), dtype=nl.float32, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, width), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x[:, 0:width])
    nisa.dma_copy(dst=out, src=a)
    return out
"""


@pytest.mark.parametrize(("n", "width"), [(11, 3), (96, 1)])
def test_a_number_that_is_too_large_to_be_written_out_is_computed(n: int, width: int) -> None:
    x = normal(1, 8, 4)
    text = NEW + LARGE.replace("{grown}", "\n    ".join(GROWN))
    assert (executed(text, {"x": x, "n": n}).results[0] == x[:, :width]).all()
