"""What the vendor leaves open is decided by an option, and the run says where; what it says is not."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from tests.execution.tiles.ports import NEW, OLD, executed, normal

from portcheck.core.errors import InputError
from portcheck.execution.tiles import (
    EventKind,
    Execution,
    FirstSum,
    NanRule,
    Options,
    Outlier,
    Overflow,
    Subnormals,
    SumOrder,
    WholeNan,
    Winner,
)
from portcheck.execution.tiles.reducing import _product, summed

ONE = (
    NEW
    + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, {width}), dtype=nl.{result}, buffer=nl.shared_hbm)
    a = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    t = nl.ndarray((rows, {width}), dtype=nl.{result}, buffer=nl.sbuf)
    {call}
    nisa.dma_copy(dst=out, src=t)
    return out
"""
)


def ran(call: str, x: np.ndarray, *, result: str = "float32", width: str = "columns", **options: object) -> Execution:
    return executed(ONE.format(call=call, result=result, width=width), {"x": x}, **options)


def chosen(done: Execution) -> list[tuple[str, str]]:
    return [(choice.name, choice.value) for choice in done.choices]


SUM = "nisa.tensor_reduce(dst=t, op=nl.add, data=a, axis=1)"
MAXIMUM = "nisa.tensor_reduce(dst=t, op=nl.maximum, data=a, axis=1)"
BIG = np.float32(2**24)


@pytest.mark.parametrize(
    ("order", "total"),
    [(SumOrder.SEQUENTIAL, 2**24), (SumOrder.REVERSED, 2**24 + 4), (SumOrder.PAIRWISE, 2**24 + 2),
     (SumOrder.EXACT, 2**24 + 4)],
)  # fmt: skip
def test_the_order_of_a_sum_is_chosen(order: SumOrder, total: float) -> None:
    done = ran(SUM, np.array([[BIG, 1, 1, 1]], np.float32), width="1", sums=order)
    assert done.results[0].item() == total
    assert chosen(done) == [("sums", order.value)]
    assert done.choices[0].span.start.line == 14


@pytest.mark.parametrize(
    ("order", "total"),
    [(SumOrder.SEQUENTIAL, 2**24), (SumOrder.REVERSED, 2**24 + 4), (SumOrder.PAIRWISE, 2**24 + 2),
     (SumOrder.EXACT, 2**24 + 4)],
)  # fmt: skip
def test_the_order_inside_a_product_is_chosen(order: SumOrder, total: float) -> None:
    text = (
        NEW
        + """
def kernel(a, b):
    out = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    acc = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=acc, stationary=nl.load(a), moving=nl.load(b))
    back = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=back, src=acc)
    nisa.dma_copy(dst=out, src=back)
    return out
"""
    )
    given = {"a": np.array([[BIG], [1], [1], [1]], np.float32), "b": np.ones((4, 1), np.float32)}
    done = executed(text, given, sums=order)
    assert done.results[0].item() == total
    assert chosen(done) == [("sums", order.value)]


def test_two_terms_have_one_order() -> None:
    assert chosen(ran(SUM, normal(1, 4, 2), width="1")) == []
    assert chosen(ran(MAXIMUM, normal(1, 4, 9), width="1")) == []


def test_a_documented_order_is_no_choice() -> None:
    call = (
        "b = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)\n    nisa.memset(dst=b, value=1.0)\n"
        "    nisa.tensor_tensor_scan(dst=t, data0=b, data1=a, initial=0.0, op0=nl.multiply, op1=nl.add)"
    )
    done = ran(call, np.array([[BIG, 1, 1]], np.float32), sums=SumOrder.REVERSED)
    assert done.results[0].tolist() == [[BIG, BIG, BIG]]
    assert chosen(done) == []


@pytest.mark.parametrize(("rule", "is_nan"), [(NanRule.NUMBER, False), (NanRule.NAN, True)])
def test_a_maximum_with_nan_is_chosen(rule: NanRule, is_nan: bool) -> None:
    x = np.array([[1, np.nan, 3], [4, 5, 6]], np.float32)
    for call, width in ((MAXIMUM, "1"), ("nisa.tensor_scalar(dst=t, data=a, op0=nl.maximum, operand0=2.0)", "columns")):
        done = ran(call, x, width=width, nan=rule)
        assert np.isnan(done.results[0][0]).any() == is_nan
        assert not np.isnan(done.results[0][1]).any()
        assert chosen(done) == [("nan", rule.value)]
    assert chosen(ran(MAXIMUM, np.nan_to_num(x), width="1", nan=rule)) == []


@pytest.mark.parametrize(("rule", "is_right"), [(FirstSum.OVERWRITE, True), (FirstSum.UNDEFINED, False)])
def test_a_product_added_to_nothing_is_chosen_in_the_first_generation(rule: FirstSum, is_right: bool) -> None:
    text = (
        OLD
        + """
def kernel(a, b):
    m, n = a.shape
    out = nl.ndarray((4, 5), dtype=nl.float32, buffer=nl.shared_hbm)
    acc = nl.{made}((4, 5), dtype=nl.float32, buffer=nl.psum)
    left, right = nl.load(a), nl.load(b)
    for i in nl.affine_range(3):
        acc[...] += nisa.nc_matmul(left, right)
    nl.store(out, nl.copy(acc))
    return out
"""
    )
    given = {"a": np.ones((6, 4), np.float32), "b": np.ones((6, 5), np.float32)}
    told = executed(text.replace("{made}", "ndarray"), given, first_sum=rule)
    assert ("first_sum", rule.value) in chosen(told)
    assert (told.faults == ()) == is_right
    assert (told.results[0] == 18).all() == is_right
    zeroed = executed(text.replace("{made}", "zeros"), given, first_sum=rule)
    assert zeroed.faults == () and (zeroed.results[0] == 18).all()
    assert ("first_sum", rule.value) not in chosen(zeroed)


def test_nothing_is_chosen_for_what_is_not_defined() -> None:
    text = (
        NEW
        + """
def kernel(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.sbuf)
    t = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a[0:rows, :], src=x)
    nisa.tensor_scalar(dst=a, data=a, op0=nl.maximum, operand0=0.5)
    nisa.tensor_reduce(dst=t, op=nl.maximum, data=a, axis=1)
    nisa.dma_copy(dst=out, src=t[0:rows, :])
    return out
"""
    )
    done = executed(text, {"x": normal(1, 8, 4)})
    assert done.faults == () and done.choices == ()


@pytest.mark.parametrize(("rule", "value"), [(Subnormals.KEPT, 2.0**-128), (Subnormals.FLUSHED, 0.0)])
def test_what_is_too_small_is_chosen(rule: Subnormals, value: float) -> None:
    x = np.array([[2.0**-100, -1.0, 0.0]], np.float32)
    done = ran(f"nisa.tensor_scalar(dst=t, data=a, op0=nl.multiply, operand0={2.0**-28})", x, subnormals=rule)
    assert done.results[0].tolist() == [[value, -(2.0**-28), 0.0]]
    assert chosen(done) == [("subnormals", rule.value)]
    done = ran("nisa.tensor_copy(dst=t, src=a)", np.array([[2.0**-20]], np.float32), result="float16", subnormals=rule)
    assert done.results[0].tolist() == [[2.0**-20 if value else 0.0]]
    assert chosen(ran("nisa.tensor_copy(dst=t, src=a)", np.array([[2.0**-14]], np.float32), result="float16")) == []


@pytest.mark.parametrize(("rule", "value"), [(Overflow.INFINITY, np.inf), (Overflow.LARGEST, 65504.0)])
def test_what_overflows_is_chosen(rule: Overflow, value: float) -> None:
    x = np.array([[1e6, -1e6, 2, np.inf]], np.float32)
    done = ran("nisa.tensor_copy(dst=t, src=a)", x, result="float16", overflow=rule)
    assert done.results[0].tolist() == [[value, -value, 2, np.inf]]
    assert chosen(done) == [("overflow", rule.value)]
    assert chosen(ran("nisa.tensor_copy(dst=t, src=a)", x, result="bfloat16", overflow=rule)) == []


def test_what_overflows_is_nan_where_that_is_documented() -> None:
    x = np.array([[1e6, -250, 240, np.inf]], np.float32)
    done = ran("nisa.tensor_copy(dst=t, src=a)", x, result="float8_e4m3", overflow=Overflow.LARGEST)
    wide = done.results[0].astype(np.float32)
    assert np.isnan(wide[0, [0, 1, 3]]).all() and wide[0, 2] == 240
    assert chosen(done) == []


@pytest.mark.parametrize(("rule", "is_fault"), [(Outlier.FUNCTION, False), (Outlier.UNDEFINED, True)])
def test_an_input_outside_the_range_is_told_with_the_range(rule: Outlier, is_fault: bool) -> None:
    call, inside = "nisa.activation(dst=t, op=nl.sqrt, data=a)", np.array([[4.0, 1.0]], np.float32)
    assert ran(call, inside, outlier=rule).events == ()
    done = ran(call, np.array([[4.0, 0.0]], np.float32), outlier=rule)
    assert done.events[0].kind is EventKind.OUTSIDE_RANGE
    assert done.events[0].element == (0, 1)
    assert "1.20370622e-35 to 3.32306999e+35" in done.events[0].message
    assert chosen(done) == [("outlier", rule.value)]
    assert (EventKind.UNDEFINED_RESULT in [event.kind for event in done.faults]) == is_fault


def test_a_range_is_that_of_the_engine() -> None:
    tiny = np.array([[2.0**-60, 1.0]], np.float32)
    assert ran("nisa.reciprocal(dst=t, data=a)", tiny).events == ()
    told = ran("nisa.activation(dst=t, op=nl.reciprocal, data=a)", tiny)
    assert [event.kind for event in told.events] == [EventKind.OUTSIDE_RANGE]


def test_random_numbers_are_drawn_where_that_is_asked_for() -> None:
    call = "nisa.dropout(dst=t, data=a, prob=0.5)"
    stopped = ran(call, np.ones((8, 100), np.float32)).stopped
    assert stopped is not None and stopped.kind is EventKind.NOT_EXECUTED
    done = ran(call, np.ones((8, 100), np.float32), draws=1)
    assert done.stopped is None and 300 < done.results[0].sum() < 500
    assert (done.results[0] == ran(call, np.ones((8, 100), np.float32), draws=1).results[0]).all()
    assert [event.kind for event in done.events] == [EventKind.ASSUMED]


def test_an_option_is_one_of_its_kind() -> None:
    assert Options(winner=Winner.FIRST).winner is Winner.FIRST
    with pytest.raises(InputError, match="overflow is 'saturate'"):
        Options(overflow="saturate")  # type: ignore[arg-type]


def test_numbers_of_a_narrow_format_are_compared_in_float32() -> None:
    x = np.array([[1.5, -3.25, 0.125]], ml_dtypes.bfloat16)
    assert ran(MAXIMUM, x, result="bfloat16", width="1").results[0].tolist() == [[1.5]]


@pytest.mark.parametrize(("rule", "value"), [(WholeNan.ZERO, 0), (WholeNan.LOWEST, -128)])
def test_nan_as_a_whole_number_is_chosen(rule: WholeNan, value: int) -> None:
    x = np.array([[np.nan, 3.5, -1000.0]], np.float32)
    done = ran("nisa.tensor_copy(dst=t, src=a)", x, result="int8", whole_nan=rule)
    assert done.results[0].tolist() == [[value, 4, -128]]
    assert chosen(done) == [("whole_nan", rule.value)]
    assert chosen(ran("nisa.tensor_copy(dst=t, src=a)", x[:, 1:], result="int8", whole_nan=rule)) == []


@pytest.mark.parametrize("order", SumOrder)
def test_a_sum_of_no_terms_is_zero(order: SumOrder) -> None:
    assert summed(np.zeros((3, 0), np.float32), order).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("order", SumOrder)
def test_a_product_of_no_terms_is_zero(order: SumOrder) -> None:
    nothing = np.zeros((0, 2), np.float32)
    assert _product(nothing, nothing, order).tolist() == [[0.0, 0.0], [0.0, 0.0]]
