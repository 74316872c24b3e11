"""Objects that a kernel is given: what their class works out from their fields is known."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import opaques, program

from portcheck.ir import Alloc, Kernel, Program, operations

BEFORE = """
from dataclasses import dataclass
from typing import Optional
from elsewhere import foreign


@dataclass
class Sizes:
    rows: int
    columns: int

    def __post_init__(self):
        {}
"""
USE = "t = nl.ndarray((128, s.{}), dtype=nl.float32, buffer=nl.sbuf)\nnisa.memset(t, value=0.0)"
DERIVED = "self.half = self.columns // 2"
LEFT_ALONE = {
    "a field that is set again": f"self.columns = self.columns + 1\n        {DERIVED}",
    "text that is not followed": f"foreign(self)\n        {DERIVED}",
    "an error": f"{DERIVED}\n        raise ValueError('no')",
}


def _kernel(after: str, attribute: str, annotation: str = "Sizes") -> Kernel:
    return program(USE.format(attribute), BEFORE.format(after), f"s: {annotation}").kernels[0]


def test_what_is_worked_out_from_fields_is_known() -> None:
    made, given = _kernel(DERIVED, "half"), _kernel("pass", "columns // 2")
    assert not opaques(made)
    tiles = [
        next(op for op in operations(kernel.body) if isinstance(op, Alloc) and op.name == "t")
        for kernel in (made, given)
    ]
    assert tiles[0].type == tiles[1].type


@pytest.mark.parametrize("after", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_fields_stay_what_they_are_and_nothing_is_known_beyond(after: str) -> None:
    assert opaques(_kernel(after, "half"))
    assert not opaques(_kernel(after, "columns"))


def test_an_object_that_may_be_none_is_taken_to_be_given_and_that_is_said() -> None:
    made = program(USE.format("half"), BEFORE.format(DERIVED), "s: Optional[Sizes] = None")
    assert not opaques(made.kernels[0])
    assert "s is taken to be given" in made.notes
    assert "s is taken to be given" not in program(USE.format("half"), BEFORE.format(DERIVED), "s: Sizes").notes


CHANGED = """self.half = 0
        self.third = 3

    def derive(self):
        self.half = self.columns // 2
"""


def test_of_a_number_that_a_method_sets_again_nothing_is_known() -> None:
    sizes = [
        str(next(op for op in operations(_kernel(CHANGED, word).body) if isinstance(op, Alloc) and op.name == "t").type)
        for word in ("half", "third")
    ]
    assert ("s.half" in sizes[0], "s.third" in sizes[1]) == (True, False)


CHOSEN = """
    whole: bool = {}

    def __post_init__(self):
        self.half = self.columns // 2
        if self.whole:
            self.columns = {}
"""


def _chosen(default: str, columns: str, attribute: str) -> Program:
    before = BEFORE.format("pass").partition("    def __post_init__")[0].rstrip() + CHOSEN.format(default, columns)
    return program(USE.format(attribute), before, "s: Sizes")


def test_a_flag_that_decides_whether_a_field_is_set_again_is_its_default() -> None:
    made = _chosen("False", "8", "half")
    assert not opaques(made.kernels[0])
    assert made.notes == (
        "s.whole is taken to be its default",
        "s is taken to be as Sizes makes it: no field was set again",
    )


def test_a_flag_that_decides_nothing_is_open() -> None:
    assert _chosen("False", "self.columns", "columns + 8 * s.whole").notes == (
        "s is taken to be as Sizes makes it: no field was set again",
    )
    assert opaques(_chosen("True", "8", "half").kernels[0])
