"""Scales of packed numbers are chosen as the version chooses them, and nothing else is taken for a packed format."""

from __future__ import annotations

import pytest
from tests.frontends.nki.instructions import obstacles, on_tiles

from portcheck.ir import Alloc, Compute, Const, Load, Operator, operations

QUANTIZE = (
    "q = nl.ndarray((128, 128), dtype=nl.float8_{}_x4, buffer=nl.sbuf)\n"
    "z = nl.ndarray((128, 128), dtype={}, buffer=nl.sbuf)\nnisa.quantize_mx(dst=q, src=b, dst_scale=z)"
)
VERSIONS = [("0.4", "e4m3fn", 8.0), ("0.5", "e4m3fn", 7.0), ("0.4", "e5m2", 15.0), ("0.6", "e5m2", 14.0)]


@pytest.mark.parametrize(("version", "kind", "top"), VERSIONS)
def test_scales_are_twice_as_large_from_sdk_2_31(version: str, kind: str, top: float) -> None:
    made = on_tiles(QUANTIZE.format(kind, "nl.uint8"), version=version)
    assert obstacles(made) == []
    lowered = [op for op in operations(made.body) if isinstance(op, Compute) and op.operator is Operator.SUBTRACT]
    assert [operand.value for op in lowered for operand in op.operands if isinstance(operand, Const)] == [top]


def test_a_scale_in_its_own_format_is_a_power_of_two() -> None:
    made = on_tiles(QUANTIZE.format("e5m2", "nl.float8_e8m0fnu"))
    assert obstacles(made) == []
    assert len([op for op in operations(made.body) if isinstance(op, Compute) and op.operator is Operator.LDEXP]) == 2


def test_a_tile_that_is_not_packed_has_no_scales() -> None:
    made = on_tiles("nisa.quantize_mx(dst=i, src=b, dst_scale=u)")
    assert "is no packed format" in obstacles(made)[0]


PRODUCT = (
    "q = nl.ndarray((128, 128), dtype={}, buffer=nl.sbuf)\nz = nl.ndarray((128, 128), dtype=nl.uint8, buffer=nl.sbuf)\n"
    "m = nl.ndarray((128, 512), dtype=nl.float8_e4m3fn_x4, buffer=nl.sbuf)\n"
    "y8 = nl.ndarray((128, 512), dtype=nl.uint8, buffer=nl.sbuf)\n"
    "nisa.nc_matmul_mx(dst=p, stationary=q, moving=m, stationary_scale=z, moving_scale=y8)"
)


def test_a_product_takes_packed_numbers_whose_format_nothing_states() -> None:
    made = on_tiles(PRODUCT.format("x.dtype"))
    assert obstacles(made) == []
    shown = [op.type.dtype.name for op in operations(made.body) if isinstance(op, Alloc) and op.base == "q"]
    assert shown == ["dtype(element(x))"]
    units = {op.access.buffer: op for op in operations(made.body) if isinstance(op, Load)}
    assert len([name for name in units if name.startswith("q_")]) == 1


def test_a_product_of_a_format_that_is_not_packed_is_none() -> None:
    assert "is no packed format" in obstacles(on_tiles(PRODUCT.format("nl.uint8")))[0]
    quantized = QUANTIZE.format("e5m2", "nl.uint8").replace("nl.float8_e5m2_x4", "x.dtype")
    assert "is no packed format" in obstacles(on_tiles(quantized))[0]
