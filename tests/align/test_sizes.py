"""Which size of the port is which of the original."""

from __future__ import annotations

import pytest

from portcheck.align.sizes import Sizes, covered
from portcheck.ir import Polynomial, number
from portcheck.ir.algebra import ceiling_divide, floor_divide, minimum
from portcheck.ir.polynomial import symbol

ROWS, COLS, N, D, H = (symbol(name) for name in ("rows", "cols", "n", "d", "h"))
FIXED = frozenset({"rows", "cols"})
TILES = number(128) * ceiling_divide(N, number(128))
WHOLE_TILES = number(128) * floor_divide(N, number(128))
LAUNCHED = minimum([ROWS, number(256) * symbol("gridDim.x")])
Learned = tuple[dict[str, str], dict[str, str]]


def learned(*pairs: tuple[Polynomial, Polynomial]) -> Learned:
    """The port's and the original's sizes after all pairs, original first, were equated in order."""
    sizes = Sizes()
    for original, port in pairs:
        sizes.equate(original, port, FIXED)
    return _texts(sizes.port), _texts(sizes.original)


def _texts(found: dict[str, Polynomial]) -> dict[str, str]:
    return {name: str(value) for name, value in found.items()}


EQUATED = {
    "a size": ([(ROWS, N)], {"n": "rows"}, {}),
    "a size of the same name": ([(ROWS, ROWS)], {"rows": "rows"}, {}),
    "a size that is a number in the original": ([(number(512), N)], {"n": "512"}, {}),
    "a size that is a product in the original": ([(ROWS * COLS, N)], {"n": "cols*rows"}, {}),
    "a size rounded up to whole tiles": ([(ROWS, TILES)], {"n": "rows"}, {}),
    "a size rounded down to whole tiles": ([(ROWS, WHOLE_TILES)], {"n": "rows"}, {}),
    "two sizes": ([(ROWS, N), (COLS, D)], {"n": "rows", "d": "cols"}, {}),
    "what is learned first": ([(ROWS, N), (COLS, N)], {"n": "rows"}, {}),
    "a size of the original that is a product in the port": ([(ROWS, N * D)], {}, {"rows": "d*n"}),
    "a product with whole tiles": ([(ROWS, TILES * D)], {}, {"rows": "d*n"}),
    "a product of which one factor is known": ([(COLS, D), (ROWS, N * D)], {"d": "cols"}, {}),
    "a sum": ([(ROWS, N + D)], {}, {}),
    "a multiple": ([(ROWS, N * 2)], {}, {}),
    "two parameters of the original": ([(ROWS, COLS)], {}, {}),
    "two parameters through one size of the port": ([(ROWS, N), (COLS, N), (COLS, ROWS)], {"n": "rows"}, {}),
    "a number": ([(ROWS, number(512))], {}, {}),
}


@pytest.mark.parametrize("name", EQUATED)
def test_equating_two_extents_teaches(name: str) -> None:
    pairs, port, original = EQUATED[name]
    assert learned(*pairs) == (port, original)


def test_what_is_learned_is_used_in_later_expressions() -> None:
    sizes = Sizes()
    sizes.equate(ROWS, N, FIXED)
    assert sizes.in_original(N * D + 1) == ROWS * D + 1


def test_a_product_is_an_assumption_and_a_plain_size_is_none() -> None:
    sizes = Sizes()
    sizes.equate(COLS, H, FIXED)
    sizes.equate(ROWS, N * D, FIXED)
    assert sizes.assumptions == ["rows = d*n"]


SAID = {
    "an extent of a parameter": (ROWS, frozenset({"n"}), []),
    "a size that is none": (ROWS, frozenset(), ["n = rows"]),
    "an extent that is no size of the original": (ROWS - 1, frozenset({"n"}), ["n = rows - 1"]),
    "a number": (number(512), frozenset({"n"}), ["n = 512"]),
}


@pytest.mark.parametrize("name", SAID)
def test_a_size_that_is_more_than_another_name_for_an_extent_is_an_assumption(name: str) -> None:
    original, shapes, said = SAID[name]
    sizes = Sizes(shapes=shapes)
    sizes.equate(original, N, FIXED)
    assert sizes.assumptions == said


def test_a_size_is_not_taken_to_be_what_a_launch_happens_to_cover() -> None:
    assert learned((minimum([ROWS, number(256)]), N)) == ({}, {})


ASSERTED = {
    "a size to be a number": (N, number(512), {"n": "512"}, {"rows": "512"}, ["rows = 512 (asserted by the port)"]),
    "a size to be another": (N, D, {"n": "rows"}, {}, []),
    "a product to be a number": (N * D, number(512), {"n": "rows"}, {}, []),
    "whole tiles to be a number": (TILES, number(512), {"n": "rows"}, {}, []),
}


@pytest.mark.parametrize("name", ASSERTED)
def test_the_port_asserts(name: str) -> None:
    value, limit, port, original, assumptions = ASSERTED[name]
    sizes = Sizes()
    sizes.equate(ROWS, N, FIXED)
    sizes.assert_equal(value, limit)
    assert (_texts(sizes.port), _texts(sizes.original), sizes.assumptions) == (port, original, assumptions)


COVERED = {
    "an extent": (ROWS, ROWS, False),
    "what an unknown launch limits": (LAUNCHED, ROWS, True),
    "the smaller of two sizes": (minimum([ROWS, COLS]), minimum([ROWS, COLS]), False),
    "the smaller of two sizes, limited": (minimum([ROWS, COLS, symbol("gridDim.x")]), minimum([ROWS, COLS]), True),
}


@pytest.mark.parametrize("name", COVERED)
def test_only_the_limit_of_a_launch_is_taken_off_an_extent(name: str) -> None:
    extent, expected, was_limited = COVERED[name]
    assert covered(extent) == (expected, was_limited)
