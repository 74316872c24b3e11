"""A parameter that is annotated as a tensor and used as an object of a class of the port."""

from __future__ import annotations

import numpy as np
import pytest
from tests.execution.tiles.ports import executed
from tests.frontends.nki.reading import opaques, program

from portcheck.core.source import SourceFile
from portcheck.frontends.nki import NkiOptions, read_nki

STRIP = """
class Strip(nl.NKIObject):
    inner: nl.ndarray
    sizes: tuple
    first: int
    shape: tuple

    def __init__(self, inner: nl.ndarray):
        self.inner = inner
        self.sizes = tuple(inner.shape)
        self.shape = self.sizes
        self.first = 0

    def from_row(self, row: int):
        made = Strip(self.inner)
        made.first = self.first + row
        return made

    def tile(self, rows: int):
        return self.inner[self.first : self.first + rows, 0 : self.sizes[1]]
"""
HEAD = f"import nki\nimport nki.isa as nisa\nimport nki.language as nl\n\n{STRIP}"
KERNEL = """

@nki.jit
def kernel(strip: nl.ndarray):
    base = strip.inner
    rows, columns = base.shape
    out = nl.ndarray((rows - 3, columns), dtype=base.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray((rows - 3, columns), dtype=base.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=strip.from_row(2).tile(rows - 3))
    nisa.dma_copy(dst=out, src=t)
    return out
"""


def test_what_only_a_class_of_the_port_has_says_what_a_parameter_is() -> None:
    given = np.arange(24, dtype=np.float32).reshape(6, 4)
    done = executed(HEAD + KERNEL, {"strip.inner": given, "strip.first": 1})
    np.testing.assert_array_equal(done.results[0], given[3:])


def test_that_it_is_taken_to_be_such_an_object_is_said() -> None:
    module = read_nki(SourceFile("port.py", HEAD + KERNEL), NkiOptions())
    assert module.lower(["kernel"]).notes[0] == "strip is taken to be an object of Strip, which has from_row, inner"


@pytest.mark.parametrize(
    ("before", "asked"),
    [
        (STRIP, "strip.outer"),
        (STRIP + STRIP.replace("Strip", "Other"), "strip.inner"),
        (STRIP, "strip.from_row"),
        ("", "strip.inner"),
    ],
    ids=["a field that no class has", "a field that two classes have", "a method", "no class"],
)
def test_it_is_no_such_object_where_that_is_not_the_only_answer(before: str, asked: str) -> None:
    made = program(f"base = {asked}\nnisa.memset(strip[0:8, 0:4], 0.0)", before, "strip: nl.ndarray")
    [parameter] = made.kernels[0].parameters
    assert (parameter.name, parameter.is_buffer) == ("strip", True)


ROWS = """
from dataclasses import dataclass
from typing import Optional


class Rows(nl.NKIObject):
    def __init__(self, inner: nl.ndarray):
        self.inner = inner
        self.first = 0
        self.count = inner.shape[0]

    def slice(self, dim: int, start: int, end: int):
        made = Rows(self.inner)
        made.first, made.count = self.first + start, end - start
        return made

    def tile(self):
        return self.inner[self.first : self.first + self.count, 0 : self.inner.shape[1]]


@dataclass
class Settings:
    weights: {}
"""
SLICED = """

@nki.jit
def kernel(x, s: Settings):
    rows, columns = x.shape
    out = nl.ndarray((2, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x[0:2, :])
    if s.weights is not None:
        part = s.weights.slice(dim=0, start=1, end=5).slice(dim=0, start=1, end=3)
        nisa.dma_copy(dst=out, src=part.tile())
    return out
"""
IMPORTS = "import nki\nimport nki.isa as nisa\nimport nki.language as nl\n\n"


@pytest.mark.parametrize("annotation", ["nl.ndarray", "Optional[nl.ndarray]"])
def test_a_part_is_an_object_where_a_method_that_no_tensor_has_says_so(annotation: str) -> None:
    given = np.arange(24, dtype=np.float32).reshape(6, 4)
    done = executed(
        IMPORTS + ROWS.format(annotation) + SLICED, {"x": -given, "s.weights.inner": given, "s.weights is None": 0}
    )
    np.testing.assert_array_equal(done.results[0], given[2:4])


def test_a_part_that_may_be_missing_may_be_missing_as_an_object() -> None:
    port = SourceFile("port.py", IMPORTS + ROWS.format("Optional[nl.ndarray]") + SLICED)
    made = read_nki(port, NkiOptions()).lower(["kernel"]).kernels[0]
    assert opaques(made) == []
    assert [type(op).__name__ for op in made.body].count("Branch") == 1


@pytest.mark.parametrize("also", ["s.weights.ap([[8, 128], [1, 8]])", "s.weights[0:128, 0:8]"])
def test_a_part_is_a_tensor_where_it_is_used_as_one_too(also: str) -> None:
    body = f"part = s.weights.slice(dim=0, start=0, end=128).tile()\nnisa.dma_copy(dst=a, src={also})"
    made = program(body, ROWS.format("nl.ndarray"), "s: Settings").kernels[0]
    assert [item.name for item in made.parameters] == ["s", "s.weights"]


@pytest.mark.parametrize("asked", ["shape", "dtype", "strides", "offset"])
def test_what_every_tensor_has_says_nothing(asked: str) -> None:
    before = STRIP.replace("first: int", "strides: tuple\n    offset: int\n    dtype: object")
    made = program(f"base = strip.{asked}\nnisa.memset(strip[0:8, 0:4], 0.0)", before, "strip: nl.ndarray")
    assert [parameter.name for parameter in made.kernels[0].parameters] == ["strip"]
    assert opaques(made.kernels[0]) == []


@pytest.mark.parametrize("rank", [2, 4, 6])
def test_a_rank_is_found_step_by_step(rank: int) -> None:
    steps = "".join(f"nisa.memset(a, sizes[{step}] * 1.0)\n" for step in range(1, rank))
    made = program(f"sizes = tuple(x.shape)\n{steps}", parameters="x: nl.ndarray").kernels[0]
    assert opaques(made) == []
    assert len(made.parameters[0].type.shape) == rank


def test_a_parameter_that_is_annotated_as_an_integer_is_one() -> None:
    body = "if isinstance(n, int):\n    nisa.memset(a, 1.0)\nelse:\n    nisa.memset(b, 1.0)"
    for parameters, count in (("x, n: int", 1), ("x, n", 2), ("x, n: float", 2)):
        made = program(body, parameters=parameters).kernels[0]
        assert len([op for op in made.body if type(op).__name__ == "Branch"]) == count - 1
