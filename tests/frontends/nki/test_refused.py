"""`None` where a number must be: an arm of a branch that computes with it is one that nothing takes."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import kernel, opaques, program

from portcheck.ir.text import print_program

CHOSEN = "w = None\nif n > 3:\n    w = n\n"
FAILS = {
    "divided": "m = w // 2\nnisa.memset(a, value=m)",
    "on the right": "m = 2 - w\nnisa.memset(a, value=m)",
    "with a tile": "t = nl.load(x)\nu = t * w\nnl.store(x, value=u)",
    "a size": "t = nl.ndarray((128, w), dtype=nl.float32, buffer=nl.sbuf)\nnisa.memset(t, value=0.0)",
    "in what is evaluated perhaps": "m = 1 if n > 3 else w * 2\nnisa.memset(a, value=m)",
}


@pytest.mark.parametrize("text", FAILS.values(), ids=FAILS)
def test_an_arm_that_computes_with_none_is_not_taken(text: str) -> None:
    shown = print_program(program(CHOSEN + text))
    assert "opaque" not in shown
    assert "assume n > 3" in shown


def test_none_is_no_operand_where_it_stands_for_nothing_else() -> None:
    assert opaques(kernel("w = None\nnisa.memset(a, value=w * 2)"))


def test_what_is_evaluated_perhaps_fails_only_where_it_is() -> None:
    shown = print_program(program("w = None\nm = n > 3 and w * 2\nnisa.memset(b, value=1.0)"))
    assert "assume !(n > 3" in shown
    assert "store b" in shown


def test_none_is_compared_as_ever() -> None:
    assert "assume" not in print_program(program(CHOSEN + "if w is None or w != None:\n    nisa.memset(a, value=1.0)"))
