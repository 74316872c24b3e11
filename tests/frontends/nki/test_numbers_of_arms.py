"""Numbers that are one of two by a condition, and numbers that are not understood but fixed while tracing."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from tests.execution.tiles.ports import executed

from portcheck.core.source import SourceFile
from portcheck.frontends.nki import NkiOptions, read_nki
from portcheck.ir import Alloc, Branch, Opaque, kernel_operations

PORT = """
import nki
import nki.isa as nisa
import nki.language as nl

class Plan:
    offset = None
    width = 4
    tile = None

@nki.jit
def kernel(x, flag: bool, limit: int, cap: int = None):
    out = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.shared_hbm)
    plan = Plan()
{body}
    t = nl.ndarray((128, {size}), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(t, 0.0)
    nisa.dma_copy(dst=out, src=t)
    return out
"""


def extents(body: str, size: str) -> tuple[str, int, int]:
    """The last extent of the tile, how many branches there are, and how much is not understood."""
    text = PORT.format(body="".join(f"    {line}\n" for line in body.splitlines()), size=size)
    port = read_nki(SourceFile("port.py", text), NkiOptions())
    program = port.lower(["kernel"])
    found = list(kernel_operations(program))
    tiles = [op for op in found if isinstance(op, Alloc) and op.name == "t"]
    branches = sum(isinstance(op, Branch) for op in found)
    opaque = sum(isinstance(op, Opaque) for op in found)
    return str(tiles[0].type.shape[1]) if tiles else "", branches, opaque


CHOSEN = [
    ("place = 0 if flag else 1\nb, w = x.shape\nn = x.shape[place]", "n"),
    ("place = 0 if flag else 1\nn = (8, 16)[place]", "n"),
    ("n = limit\nif flag:\n    n = 0", "n + 1"),
    ("n = cap\nif cap is None:\n    n = 4", "n"),
    ("if flag:\n    plan.width = 8", "plan.width"),
]


@pytest.mark.parametrize(("body", "size"), CHOSEN)
def test_a_number_that_is_one_of_two_is_one_number(body: str, size: str) -> None:
    extent, branches, opaque = extents(body, size)
    assert "select" in extent.lower()
    assert (branches, opaque) == (0, 0)


def test_a_parameter_that_may_be_none_is_no_number_of_an_arm() -> None:
    _, branches, _ = extents("n = cap\nif flag:\n    n = 4\nif n is None:\n    n = 8", "n")
    assert branches > 0


def test_an_attribute_that_one_arm_sets_is_that_of_the_class_in_the_other() -> None:
    body = "if flag:\n    plan.offset = limit\nn = 4 if plan.offset is None else plan.offset"
    _, _, opaque = extents(body, "n")
    assert opaque == 0


FIXED = [
    "x.shape[limit] + 1",
    "(x.shape[limit] + 7) // 8",
    "min(x.shape[limit], 8) * 2",
]


@pytest.mark.parametrize("size", FIXED)
def test_what_is_computed_from_a_size_that_is_not_understood_is_a_number(size: str) -> None:
    extent, _, opaque = extents("", size)
    assert extent != ""
    assert opaque == 0


def test_what_differs_from_round_to_round_is_no_number_of_its_own() -> None:
    body = "for i in range(limit):\n    u = nl.ndarray((128, x.shape[i] + 1), dtype=nl.float32, buffer=nl.sbuf)"
    _, _, opaque = extents(body, "4")
    assert opaque > 0


STEPS = "        n = (n * m + n // (m + 1)) % 97\n" * 9
LARGE = f"""
n = m
if f:
    if h:
{STEPS}
    else:
        n = n + 5
{STEPS}
    if k:
        n = n + 1
if g:
    if f:
        n = n + 2
n = n % 5
"""
COUNTING = """
import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def kernel(x, m: int, f: bool, g: bool, h: bool, k: bool):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x)
{body}
    for i in range(n):
        nisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0=1.0)
    nisa.dma_copy(dst=out, src=t)
    return out
"""


def test_a_large_number_of_one_arm_and_a_parameter_of_the_other_are_one_number() -> None:
    port = COUNTING.replace("{body}", "".join(f"    {line}\n" for line in LARGE.strip().splitlines()))
    given = np.zeros((4, 2), dtype=np.float32)
    for flags in itertools.product((False, True), repeat=4):
        names: dict[str, Any] = {"m": 3, **dict(zip("fghk", flags, strict=True))}
        done = executed(port, {"x": given, **names})
        exec(LARGE, {}, names)
        np.testing.assert_array_equal(done.results[0], given + names["n"])
