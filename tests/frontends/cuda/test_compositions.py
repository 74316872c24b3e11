"""Functions that are several operators become those their documentation spells out."""

from __future__ import annotations

import pytest
from tests.frontends.cuda.reading import body, not_understood

from portcheck.ir import Cast, Compute, Load, Operator, Rounding, Select

PARAMETERS = "float* x, const float* w, unsigned* u, double* d, half2* h"

COMPOSED = {
    "saturation": (
        "x[0] = __saturatef(w[0]);", [Operator.MAXIMUM, Operator.MINIMUM, Operator.IS_NAN],
    ),
    "saturating sums of packed halves": (
        "h[0] = __hadd2_sat(h[1], h[2]);",
        [Operator.ADD, Operator.MAXIMUM, Operator.MINIMUM, Operator.IS_NAN] * 2,
    ),
    "a comparison of both halves": (
        "u[0] = __hbeq2(h[0], h[1]);", [Operator.EQUAL, Operator.EQUAL, Operator.LOGICAL_AND],
    ),
    "both results of an angle": (
        "float s, c; sincosf(w[0], &s, &c); x[0] = s * c;", [Operator.SIN, Operator.COS, Operator.MULTIPLY],
    ),
    "a Bessel function of a fixed order": ("x[0] = j1f(w[0]);", [Operator.BESSEL_J]),
    "a function of two numbers": ("x[0] = atan2f(w[0], w[1]);", [Operator.ARCTAN2]),
    "the sum of distances": (
        "u[0] = __usad(u[1], u[2], u[3]);",
        [Operator.MAXIMUM, Operator.MINIMUM, Operator.SUBTRACT, Operator.ADD],
    ),
    "rounding away from zero to an integer": ("u[0] = lroundf(w[0]);", [Operator.ROUND_AWAY]),
    "reversed bits": ("u[0] = __brev(u[1]);", [Operator.BIT_REVERSE]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "operators"), COMPOSED.values(), ids=COMPOSED)
def test_function_is_composed(text: str, operators: list[Operator]) -> None:
    found = body(text, PARAMETERS)
    assert not not_understood(found)
    assert [op.operator for op in found if isinstance(op, Compute)] == operators


def test_halves_of_a_double_are_cut_from_its_bits() -> None:
    found = body("u[0] = __double2hiint(d[0]); d[1] = __hiloint2double(1, u[0]);", PARAMETERS)
    assert not not_understood(found)
    assert [op.type.dtype.name for op in found if isinstance(op, Cast) and op.bitwise] == ["uint64", "float64"]


def test_number_that_is_not_finite_is_its_own_fraction() -> None:
    found = body("int e; x[0] = frexpf(w[0], &e); u[0] = e;", PARAMETERS)
    fraction, power = (op for op in found if isinstance(op, Select))
    assert fraction.on_false == next(
        op for op in found if isinstance(op, Compute) and op.operator is Operator.EXPONENT
    ).operands[0]  # fmt: skip
    assert fraction.condition == power.condition


def test_lane_is_chosen_by_the_name() -> None:
    found = body("x[0] = __high2float(h[1]);", PARAMETERS)
    loads = [op for op in found if isinstance(op, Load)]
    cast = next(op for op in found if isinstance(op, Cast))
    assert cast.operand.id == loads[-1].id  # type: ignore[union-attr]
    assert cast.rounding is Rounding.EXACT


def test_products_of_bytes_are_signed_where_the_sum_is() -> None:
    found = body("u[0] = __dp4a((int)u[1], (int)u[2], 3); u[1] = __dp4a(u[1], u[2], 3u);", PARAMETERS)
    assert not not_understood(found)
    bytes_ = [op.type.dtype.name for op in found if isinstance(op, Cast) and op.type.dtype.name.endswith("int8")]
    assert bytes_ == ["int8"] * 8 + ["uint8"] * 8
