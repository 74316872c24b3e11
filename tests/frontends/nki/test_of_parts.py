"""Tensors inside what a kernel is given, where a function asks for an object around one."""

from __future__ import annotations

import numpy as np
import pytest
from tests.execution.tiles.ports import executed
from tests.frontends.nki.reading import opaques, program

from portcheck.ir import Branch, operations

CLASSES = """
from dataclasses import dataclass
from typing import Optional


class Strip(nl.NKIObject):
    def __init__(self, inner: nl.ndarray):
        self.inner = inner
        self.first = 0

    def tile(self, rows):
        return self.inner[self.first : self.first + rows, 0 : self.inner.shape[1]]


@dataclass
class Settings:
    weights: nl.ndarray
    bias: Optional[nl.ndarray]


def tile_of(strip: {}, rows):
    return strip.tile(rows)


def raw(strip: Strip):
    return strip[0:128, 0:8]
"""
KERNEL = """

@nki.jit
def kernel(x, s: Settings):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=tile_of(s.weights, rows))
    return out
"""
NOTE = "s.weights is taken to be the Strip of a whole tensor where one is asked for"


def test_a_function_is_given_the_object_that_it_asks_for() -> None:
    given = np.arange(24, dtype=np.float32).reshape(6, 4)
    head = "import nki\nimport nki.isa as nisa\nimport nki.language as nl\n\n" + CLASSES.format("Strip")
    done = executed(head + KERNEL, {"x": given[:3], "s.weights": given})
    np.testing.assert_array_equal(done.results[0], given[:3])


@pytest.mark.parametrize("annotation", ["nl.ndarray", "object"])
def test_a_function_asks_for_an_object_by_a_method_that_no_tensor_has(annotation: str) -> None:
    given = np.arange(24, dtype=np.float32).reshape(6, 4)
    head = "import nki\nimport nki.isa as nisa\nimport nki.language as nl\n\n" + CLASSES.format(annotation)
    done = executed(head + KERNEL, {"x": given[:3], "s.weights": given})
    np.testing.assert_array_equal(done.results[0], given[:3])


FIELD = """

class Held(nl.NKIObject):
    inner: nl.ndarray
    first: int

    def __init__(self, inner):
        self.inner = inner
        self.first = 1


def rows_of(held, rows):
    base = held.inner
    return base[held.first : held.first + rows, 0:8]


@nki.jit
def kernel(x, s: nl.ndarray, deep: bool):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    if deep:
        nisa.dma_copy(dst=out, src=rows_of(s, rows))
    else:
        nisa.dma_copy(dst=out, src=s[0:rows, 0:8])
    return out
"""


@pytest.mark.parametrize("deep", [True, False])
def test_a_function_asks_for_an_object_by_a_field_that_no_tensor_has(deep: bool) -> None:
    given = np.arange(32, dtype=np.float32).reshape(4, 8)
    head = "import nki\nimport nki.isa as nisa\nimport nki.language as nl\n\n"
    done = executed(head + FIELD, {"x": given[:3], "s": given, "deep": deep})
    np.testing.assert_array_equal(done.results[0], given[1:4] if deep else given[:3])


OTHER = "\n\nclass Other(nl.NKIObject):\n    def __init__(self, inner):\n        self.inner = inner\n{}"
TILE = "\n    def tile(self, rows):\n        return self.inner[0:rows]\n"
VIEWED = "\n\ndef viewed(strip, rows):\n    whole = strip.ap([[8, 128], [1, 8]])\n    return strip.tile(rows)\n"


@pytest.mark.parametrize(
    ("annotation", "after", "parameters", "call"),
    {
        "a method that two classes have": ("object", OTHER.format(TILE), "x, s: Settings", "tile_of(s.weights, 128)"),
        "a method of a tensor beside it": ("object", VIEWED, "x, s: Settings", "viewed(s.weights, 128)"),
        "a tensor that is no part": ("Strip", "", "x, s: nl.ndarray", "tile_of(s, 128)"),
    }.values(),
)
def test_another_tensor_stays_one(annotation: str, after: str, parameters: str, call: str) -> None:
    made = program(f"nisa.dma_copy(dst=a, src={call})", CLASSES.format(annotation) + after, parameters)
    assert opaques(made.kernels[0])
    assert NOTE not in made.notes


def test_what_a_function_takes_elements_of_stays_a_tensor() -> None:
    made = program("nisa.dma_copy(dst=a, src=raw(s.weights))", CLASSES.format("Strip"), "x, s: Settings")
    assert opaques(made.kernels[0]) == []
    assert NOTE not in made.notes


def test_an_object_around_what_may_be_missing_may_be_missing() -> None:
    body = "if bound(s.bias):\n    nisa.dma_copy(dst=a, src=tile_of(s.bias, 128))"
    before = CLASSES.format("Strip") + "\n\ndef bound(strip: Strip):\n    return strip is not None\n"
    made = program(body, before, "x, s: Settings").kernels[0]
    assert opaques(made) == []
    assert len([op for op in operations(made.body) if isinstance(op, Branch)]) == 1
