"""What is left of one of several values where more is known: in an arm, of a dictionary, behind a test for `None`."""

from __future__ import annotations

import numpy as np
import pytest
from tests.execution.tiles.ports import NEW, executed
from tests.frontends.nki.reading import kernel, opaques

from portcheck.core.dtype import INT64
from portcheck.frontends.nki.state.clauses import Clauses
from portcheck.frontends.nki.state.mutation import alike
from portcheck.frontends.nki.state.narrowing import either, narrowed
from portcheck.frontends.nki.values.values import NONE, Either, Text
from portcheck.ir import Alloc, Operator, Symbol, apply, integer, operations

A, B, C = (apply(Operator.NOT_EQUAL, Symbol(name, INT64), integer(0)) for name in "abc")
ONE, OTHER = Text("one"), Text("other")
TABLE = "SEEN = {nl.uint16: nl.bfloat16, nl.int16: nl.bfloat16, nl.uint32: nl.float32, nl.int32: nl.float32}\n\n"
STAND_IN = """
def stand_in(t, kind=None):
    found = SEEN.get(t.dtype)
    if kind is None:
        return found if found is not None else t.dtype
    return kind

"""


def test_a_value_that_comes_again_is_one_by_either_condition() -> None:
    assert alike(either(A, ONE, Either(B, ONE, OTHER)), Either(apply(Operator.LOGICAL_OR, A, B), ONE, OTHER))
    assert alike(either(A, ONE, Either(B, OTHER, ONE)), Either(A, ONE, Either(B, OTHER, ONE)))


def test_a_choice_that_cannot_be_is_left_out() -> None:
    value = Either(A, ONE, Either(B, OTHER, NONE))
    any_of = apply(Operator.LOGICAL_OR, A, B)
    assert alike(narrowed(Clauses(), value, {any_of: True}), Either(A, ONE, OTHER))
    assert narrowed(Clauses(), value, {any_of: False, A: False, B: False}) is NONE
    assert narrowed(Clauses(), value, {C: True}) is value


def test_what_was_asserted_leaves_a_choice_out_too() -> None:
    clauses = Clauses()
    clauses.add(apply(Operator.LOGICAL_OR, A, B))
    assert alike(narrowed(clauses, Either(A, ONE, Either(B, OTHER, NONE)), {}), Either(A, ONE, OTHER))


PORT = (
    NEW.replace("@nki.jit", f"{TABLE}{STAND_IN}@nki.jit") + "def k(x):\n"
    "    out = nl.ndarray((4, 8), dtype=stand_in(x), buffer=nl.shared_hbm)\n"
    "    nisa.dma_copy(dst=out, src=x)\n"
    "    return out\n"
)


@pytest.mark.parametrize(("dtype", "wanted"), [(np.uint16, "bfloat16"), (np.int32, "float32"), (np.float16, "float16")])
def test_a_dtype_that_a_dictionary_gives_for_another_is_that_of_the_tile(dtype: type[np.generic], wanted: str) -> None:
    assert executed(PORT, {"x": np.ones((4, 8), dtype)}).results[0].dtype.name == wanted


PICKED = "from elsewhere import pick\n"
EITHER_OF = "dt = pick(n) if n > 3 else {other}\nt = nl.ndarray((128, 8), dtype=dt, buffer=nl.sbuf)\n"


def test_a_dtype_and_what_is_not_known_are_one_dtype_that_is_not_known() -> None:
    made = kernel(EITHER_OF.format(other="nl.bfloat16") + "nisa.memset(t, value=0)", PICKED)
    assert [op.reason for op in opaques(made)] == []
    assert [op.type.dtype.is_symbolic for op in operations(made.body) if isinstance(op, Alloc)] == [False, False, True]


SIZE = (
    "def size(n, flag, other):\n"
    "    if flag:\n        return 1\n"
    "    elif n > 4:\n"
    "        if other:\n            return 2\n"
    "    n += 1\n"
    "    return n\n\n\n"
)
SIZED = (
    NEW.replace("@nki.jit", f"{SIZE}@nki.jit") + "def k(x, flag: bool, other: bool):\n"
    "    out = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n"
    "    t = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)\n"
    "    nisa.memset(t, value=size(5, flag, other))\n"
    "    nisa.dma_copy(dst=out, src=t)\n"
    "    return out\n"
)


@pytest.mark.parametrize(
    ("flag", "other", "wanted"), [(True, True, 1), (True, False, 1), (False, True, 2), (False, False, 6)]
)
def test_an_arm_that_is_taken_and_may_return_runs_on_to_the_end_of_the_function(
    flag: bool, other: bool, wanted: int
) -> None:
    found = executed(SIZED, {"x": np.ones((4, 8), np.float32), "flag": flag, "other": other}).results[0]
    assert np.array_equal(found, np.full((4, 8), wanted, np.float32))
