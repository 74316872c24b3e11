"""What is understood of the conditions that a program asserts."""

from __future__ import annotations

import pytest
from tests.passes.program_text import port
from tests.values.reading import nki_program

from portcheck.passes.assertions import assertions

CONDITIONS = {
    "a multiple": ("floor_modulo(n, 128) == 0", ["n is a multiple of 128"]),
    "a multiple of a size": ("floor_modulo(n, d) == 0", ["n is a multiple of d"]),
    "a remainder that is not zero": ("floor_modulo(n, 128) == 1", ["(n mod 128) equals 1"]),
    "a number": ("n == 512", ["n equals 512"]),
    "another size": ("n == d", ["n equals d"]),
    "at most": ("n <= 512", ["n is at most 512"]),
    "at most, the other way round": ("512 >= n", ["n is at most 512"]),
    "less than": ("n < 512", ["n is at most 511"]),
    "less than, the other way round": ("512 > n", ["n is at most 511"]),
    "at least": ("n >= 1", ["1 is at most n"]),
    "two conditions": ("n <= 512 && d == 64", ["n is at most 512", "d equals 64"]),
    "three conditions": (
        "n <= 512 && d == 64 && floor_modulo(n, d) == 0", ["n is at most 512", "d equals 64", "n is a multiple of d"],
    ),
    "one that is understood and one that is not": ("n != 3 && d == 64", ["d equals 64"]),
    "either of two": ("n == 1 || d == 64", []),
    "the opposite": ("!(n == 1)", []),
}  # fmt: skip


@pytest.mark.parametrize("name", CONDITIONS)
def test_each_conjunct_that_is_understood_is_an_assertion(name: str) -> None:
    condition, expected = CONDITIONS[name]
    found = assertions(port(f"%2: assume {condition}"))
    assert sorted(map(str, found)) == sorted(expected)


def test_assertions_stand_in_the_order_of_the_program() -> None:
    program = port("%2: assume d == 64", "%3: loop i = 0 to n step 1", "  %4: assume n <= 512")
    assert [(assertion.op.id, assertion.kind) for assertion in assertions(program)] == [(2, "equal"), (4, "most")]


def test_assertions_of_a_port_are_read_from_its_text() -> None:
    program = nki_program(
        "def k(x):\n    n, d = x.shape\n    assert n % 128 == 0, 'whole tiles'\n    assert d <= 512 and n > 0\n"
        "    y = nl.ndarray((n, d), dtype=x.dtype, buffer=nl.shared_hbm)\n    return y\n"
    )
    expected = ["n is a multiple of 128", "d is at most 512", "0 is at most n - 1"]
    assert [str(assertion) for assertion in assertions(program)] == expected
