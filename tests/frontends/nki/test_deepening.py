"""How many dimensions a tensor has that is written as a whole."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import opaques, program

CUBE = "t = nl.ndarray((128, 4, 8), dtype=nl.float32, buffer=nl.sbuf)\nnisa.memset(t, value=0.0)\n"
MATRIX = "t = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)\nnisa.memset(t, value=0.0)\n"


def _rank(body: str) -> int:
    made = program(body, "", "x, y").kernels[0]
    assert opaques(made) == []
    return next(len(item.type.shape) for item in made.parameters if item.name == "y")


@pytest.mark.parametrize(
    ("body", "rank"),
    {
        "it is not known otherwise": (CUBE + "nisa.activation(dst=y, op=nl.exp, data=t)", 3),
        "one size is asked for": (MATRIX + "assert y.shape[0] == 128\nnisa.activation(dst=y, op=nl.exp, data=t)", 2),
        "one of three is asked for": (CUBE + "assert y.shape[1] == 4\nnisa.activation(dst=y, op=nl.exp, data=t)", 3),
        "a matrix": (MATRIX + "nisa.activation(dst=y, op=nl.exp, data=t)", 2),
    }.values(),
)
def test_a_tensor_has_the_dimensions_of_what_fills_it(body: str, rank: int) -> None:
    assert _rank(body) == rank


@pytest.mark.parametrize("shown", ["rows, columns = y.shape", "assert len(y.shape) == 2"])
def test_a_tensor_whose_dimensions_are_shown_has_no_more(shown: str) -> None:
    made = program(f"{CUBE}{shown}\nnisa.activation(dst=y, op=nl.exp, data=t)", "", "x, y").kernels[0]
    assert [op.reason for op in opaques(made)] == ["nisa.activation: 3 dimensions where there are 2"]


ONE_ROW = "t = nl.ndarray((1, 8), dtype=nl.float32, buffer=nl.sbuf)\nnisa.memset(t, value=0.0)\n"


@pytest.mark.parametrize("copied", ["nisa.dma_copy(dst=t, src=y)", "nisa.dma_copy(dst=y, src=t)"])
@pytest.mark.parametrize(
    ("body", "rank"),
    {
        "one size is asked for": (MATRIX + "n = y.shape[0]\n", 2),
        "it is not known otherwise": (CUBE, 3),
        "more sizes are asked for": (CUBE + "n = y.shape[2]\n", 3),
        "a row may hold a vector": (ONE_ROW + "n = y.shape[0]\n", 1),
        "it has that many": (MATRIX + "(n,) = y.shape\n", 1),
        "it is asked how many": (MATRIX + "n = y.shape[0]\nassert len(y.shape) < 3\n", 1),
    }.values(),
)
def test_a_tensor_has_the_dimensions_of_the_tile_that_it_is_copied_to_or_from(
    body: str, rank: int, copied: str
) -> None:
    assert _rank(body + copied) == rank


RESHAPED = "if n > 1:\n    y = y.reshape((4, 2, 4, 8))\n"


@pytest.mark.parametrize(
    ("shown", "rank"), [("", 4), ("rows, columns = y.shape\n", 2), ("assert len(y.shape) < 4\n", 2)]
)
def test_a_tensor_has_the_dimensions_that_an_arm_gives_it_where_the_text_is_about_both(shown: str, rank: int) -> None:
    made = program(f"{shown}{RESHAPED}m = y.shape[1]\n", "", "x, y, n: int").kernels[0]
    assert next(len(item.type.shape) for item in made.parameters if item.name == "y") == rank
