"""Either of two values that is only passed on, or read an attribute of: nothing is evaluated twice for that."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import kernel, opaques, program, stores, value_of

from portcheck.ir.text import print_program

BEFORE = """
class Box:
    def __init__(self, *given, k=2.0):
        self.given = given
        self.k = k

    def take(self, *given):
        self.given = given
        self.k = 2.0

    @property
    def doubled(self):
        return self.k * 2


class Other:
    def __init__(self):
        self.k = 2.0
"""
FIVE = "".join(f"w{i} = b if n > {i} else None\n" for i in range(5))
GIVEN = "w0, w1, w2, w3, w4"
EITHER = "one, other = Box(k={}), Other()\ns = one if n > 3 else other\n"


@pytest.mark.parametrize("text", [f"s = Box({GIVEN})\n", f"s = Box(k=3.0)\ns.take({GIVEN})\n"], ids=["made", "method"])
def test_an_object_takes_what_is_either_of_two_as_it_is(text: str) -> None:
    body = f"{FIVE}{text}nisa.tensor_scalar(a, b, nl.multiply, s.k)"
    assert value_of(body, BEFORE) == value_of("nisa.tensor_scalar(a, b, nl.multiply, 2.0)")
    used = program(f"{FIVE}{text}nisa.tensor_copy(a, s.given[0])", BEFORE)
    assert "assume n > 0" in print_program(used)


def test_an_attribute_that_both_have_alike_is_that() -> None:
    made = kernel(f"{EITHER.format(2.0)}nisa.tensor_scalar(a, b, nl.multiply, s.k)", BEFORE)
    assert len(stores(made.body)) == 1
    assert not opaques(made)


@pytest.mark.parametrize(
    ("made", "values"),
    [
        ("Box(k=5.0), Other()", {"s.k": ("5.0", "2.0")}),
        ("Box(k=4.0), Box(k=1.0)", {"s.doubled": ("8.0", "2.0")}),
    ],
    ids=["attribute", "property"],
)
def test_an_attribute_is_that_of_the_one_it_is(made: str, values: dict[str, tuple[str, str]]) -> None:
    for expression, shown in values.items():
        body = f"one, other = {made}\ns = one if n > 3 else other\nnisa.tensor_scalar(a, b, nl.multiply, {expression})"
        text = print_program(program(body, BEFORE))
        assert "opaque" not in text
        chosen, _, other = text.partition("branch n > 3")[2].partition("else")
        found = [value in arm for value in shown for arm in (chosen, other.partition("use ")[0])]
        assert found == [True, False, False, True]
