"""Objects that a kernel is given, of classes whose `__init__` says what they hold."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import opaques, program

from portcheck.ir import Program
from portcheck.ir.text import print_program

BEFORE = """
from dataclasses import dataclass
from typing import Optional
from elsewhere import foreign


@dataclass
class Scope:
    start: int
    name: str


class Log:
    def __init__(self, level=3):
        self.level = level
        self.lines = []

    def write(self, text):
        if self.level > 5:
            self.lines.append(text)


class Manager:
    def __init__(self, lower: int, width: int = 16):
        self.lower = lower
        self.width = width
        self.rows = 4
        self.used = lower
        self.tiles = []
        self.scopes: list[Scope] = []
        self.log = Log()

    def open(self):
        self.scopes.append(Scope(self.used, "inner"))

    def make(self, shape, dtype):
        assert self.scopes
        self.used = self.used + shape[1]
        if self.used > 4096:
            self.log.write("much")
        made = nl.ndarray(shape, dtype=dtype, buffer=nl.sbuf)
        self.tiles.append(made)
        return made


class Foreign:
    def __init__(self):
        self.rows = 4
        foreign(self)
"""
TILE = "t = nl.ndarray(({}, 8), dtype=nl.float32, buffer=nl.sbuf)\nnisa.memset(t, value=0.0)"


def _rows(made: Program) -> str:
    (line,) = [line for line in print_program(made).split("\n") if "alloc t: float32[" in line]
    size = line.partition("float32[")[2].rpartition(", 8")[0]
    return size.replace(":int64", "").replace('"', "")


def test_a_method_that_makes_a_tile_is_followed() -> None:
    made = program("t = m.make((64, 8), nl.float32)\nnisa.memset(t, value=0.0)", BEFORE, "x, m: Manager")
    assert not opaques(made.kernels[0])
    assert "m is taken to be as Manager makes it: only its numbers may have changed since" in made.notes


@pytest.mark.parametrize(
    ("attribute", "rows"),
    {
        "what stays as it was made": ("m.rows", "4"),
        "what is made by default": ("m.width", "16"),
        "what must be given": ("m.lower", "m.lower"),
        "a number that a method changes": ("m.used", "m.used"),
        "a list of objects": ("m.scopes[-1].start", "m.scopes[0].start"),
    }.values(),
)
def test_an_attribute_is_as_it_is_made_unless_a_method_may_have_changed_it(attribute: str, rows: str) -> None:
    made = program(TILE.format(attribute), BEFORE, "x, m: Manager")
    assert not opaques(made.kernels[0])
    assert _rows(made) == rows


def test_a_number_that_changed_is_followed_from_there() -> None:
    made = program("m.make((64, 8), nl.float32)\n" + TILE.format("m.used"), BEFORE, "x, m: Manager")
    assert _rows(made) == "m.used + 8"


def test_an_object_whose_making_is_not_followed_stays_unknown() -> None:
    made = program(TILE.format("m.rows"), BEFORE, "x, m: Foreign")
    assert _rows(made) == "m.rows"
    assert made.notes == ()


def test_what_is_left_out_by_default_is_none() -> None:
    body = "rows = 2 if m is None else 3\n" + TILE.format("rows")
    assert _rows(program(body, BEFORE, "x, m: Optional[Manager] = None")) == "2"


@pytest.mark.parametrize("use", ["if m is None:\n    m = Missing(0)", "if n > 3:\n    m.open()"])
def test_what_cannot_be_left_out_is_given(use: str) -> None:
    body = f"{use}\n{TILE.format('m.rows')}"
    made = program(body, BEFORE, "x, n, m: Optional[Manager] = None")
    assert not opaques(made.kernels[0])
    assert _rows(made) == "4"


@pytest.mark.parametrize(
    ("test", "rows"),
    {
        "an object": ("not m", "3"),
        "a list of none": ("not m.tiles", "2"),
        "a list of some": ("not m.scopes", "3"),
    }.values(),
)
def test_not_of_what_is_no_number_is_known(test: str, rows: str) -> None:
    assert _rows(program(f"rows = 2 if {test} else 3\n" + TILE.format("rows"), BEFORE, "x, m: Manager")) == rows


TAKEN = "make is taken to make a tile of its own of the shape and dtype that it is given"


@pytest.mark.parametrize("call", ["make(({}, 8), nl.float32)", "make(shape=({}, 8), dtype=nl.float32, name='t')"])
def test_a_function_that_is_called_as_what_makes_a_tile_makes_one(call: str) -> None:
    made = program(f"t = {call.format('x.shape[0]')}\nnisa.memset(t, value=0.0)", "", "x, make")
    assert not opaques(made.kernels[0])
    assert _rows(made) == "x.shape[0]"
    assert TAKEN in made.notes


@pytest.mark.parametrize("call", ["make((64, 8))", "make(64, nl.float32)", "make((64, 8), nl.float32, other=3)"])
def test_another_call_of_what_is_given_is_kept(call: str) -> None:
    made = program(f"t = {call}\nnisa.memset(t, value=0.0)", "", "x, make")
    assert opaques(made.kernels[0])
    assert made.notes == ()
