"""In which formats buffers are stored, and what is done in double precision."""

from __future__ import annotations

import pytest
from tests.passes.program_text import original, port

from portcheck.core.dtype import FLOAT16, FLOAT32, FLOAT64
from portcheck.passes.precision import global_buffers, precision

LOADED = "%1 = load w[0] -> float32"


def test_the_storage_is_that_of_buffers_and_allocations() -> None:
    program = original("%1: alloc total: float64", "%2: alloc tile: float16[32] shared")
    expected = {"y": FLOAT32, "x": FLOAT16, "w": FLOAT32, "total": FLOAT64, "tile": FLOAT16}
    assert precision(program).storage == expected


DOUBLE = {
    "nothing": (("%2 = compute %1 * %1 -> float32",), []),
    "a cast": (("%2 = cast %1 exact -> float64",), [2]),
    "a product": (("%2 = cast %1 exact -> float64", "%3 = compute %2 * %2 -> float64"), [2, 3]),
    "a variable": (("%2: alloc total: float64",), [2]),
    "a reduction": (
        ("%2 = cast %1 exact -> float64", "%3 = reduce add(%2) lanes(32) accumulate(float64) -> float64"), [2, 3],
    ),
    "a cast back": (("%2 = cast %1 exact -> float64", "%3 = cast %2 -> float32"), [2]),
    "inside a branch": (("%2: branch n > 0", "  %3 = cast %1 exact -> float64"), [3]),
}  # fmt: skip


@pytest.mark.parametrize("name", DOUBLE)
def test_operations_that_compute_or_hold_doubles_are_listed(name: str) -> None:
    lines, expected = DOUBLE[name]
    assert [op.id for op in precision(original(LOADED, *lines)).double] == expected


def test_global_buffers_are_parameters_and_what_a_port_allocates_there() -> None:
    program = port("%2: alloc tile: float32[128, d] shared", "%3: alloc scratch: float32[n] global")
    assert set(global_buffers(program)) == {"x", "y", "scratch"}


def test_scalars_are_no_buffers() -> None:
    assert set(global_buffers(original(LOADED))) == {"y", "x", "w"}
