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


NOT_CHOSEN = {
    "indexed": "u = w[0:4]\nnl.store(x, value=u)",
    "divided": "m = w // 2\nnisa.memset(a, value=m)",
    "given to a call": "nisa.tensor_copy(dst=a, src=w)",
    "a size": "t = nl.ndarray((128, w), dtype=nl.float32, buffer=nl.sbuf)\nnisa.memset(t, value=0.0)",
}


@pytest.mark.parametrize("text", NOT_CHOSEN.values(), ids=NOT_CHOSEN)
def test_none_that_no_arm_chose_ends_none(text: str) -> None:
    """It may be there because of what was assumed, such as the rank of a tensor."""
    inside = text.replace("\n", "\n    ")
    made = program(f"w = None\nif n > 3:\n    {inside}\nnisa.memset(b, value=1.0)")
    assert opaques(made.kernels[0])
    shown = print_program(made)
    assert "assume" not in shown
    assert "store b" in shown


def test_none_is_what_an_arm_chose_within_that_arm_alone() -> None:
    either = "if not n > 3:\n    v = w\nelse:\n    v = None\n"
    text = f"{CHOSEN}{either}if n > 7:\n    m = v // 2\n    nisa.memset(a, value=m)"
    made = program(text)
    assert opaques(made.kernels[0])
    assert "assume" not in print_program(made)


@pytest.mark.parametrize("text", ["u = w[0:4]\nnl.store(x, value=u)", "nisa.tensor_copy(dst=a, src=w)"])
def test_an_arm_that_uses_none_as_a_tile_is_not_taken(text: str) -> None:
    made = program(f"w = None\nif n > 3:\n    w = b\n{text}")
    assert opaques(made.kernels[0]) == []
    assert "assume n > 3" in print_program(made)


def test_none_is_no_operand_where_it_stands_for_nothing_else() -> None:
    assert opaques(kernel("w = None\nnisa.memset(a, value=w * 2)"))


def test_what_is_evaluated_perhaps_fails_only_where_it_is() -> None:
    shown = print_program(program(f"{CHOSEN}m = n > 5 and w * 2\nnisa.memset(b, value=1.0)"))
    assert "assume !(n > 5" in shown
    assert "store b" in shown


def test_none_is_compared_as_ever() -> None:
    assert "assume" not in print_program(program(CHOSEN + "if w is None or w != None:\n    nisa.memset(a, value=1.0)"))
