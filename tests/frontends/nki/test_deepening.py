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
