"""What a parameter may be left out for: `or` and `and` as values, `None` where a tile is needed, unknown dtypes."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import kernel, opaques

from portcheck.ir import Alloc, Apply, Assume, Branch, Kernel, Operator, operations

SETTINGS = """
from dataclasses import dataclass

@dataclass
class Settings:
    width: int = 8

class Empty:
    def __bool__(self):
        return False
"""


def branches(made: Kernel) -> list[Branch]:
    return [op for op in operations(made.body) if isinstance(op, Branch)]


def allocated(made: Kernel) -> list[str]:
    return [str(op.type.shape[-1]) for op in operations(made.body) if isinstance(op, Alloc) and op.name.startswith("c")]


@pytest.mark.parametrize(
    ("text", "operator"), [("n > 3 or x > 2", Operator.LOGICAL_OR), ("n > 3 and x > 2", Operator.LOGICAL_AND)]
)
def test_of_two_conditions_it_is_a_condition(text: str, operator: Operator) -> None:
    condition = branches(kernel(f"if {text}:\n    nisa.memset(a, 1.0)"))[0].condition
    assert isinstance(condition, Apply)
    assert condition.operator is operator


@pytest.mark.parametrize(("text", "operator"), [("n or x", Operator.LOGICAL_OR), ("n and x", Operator.LOGICAL_AND)])
def test_where_only_its_truth_counts_it_is_a_condition(text: str, operator: Operator) -> None:
    condition = branches(kernel(f"if {text}:\n    nisa.memset(a, 1.0)"))[0].condition
    assert isinstance(condition, Apply)
    assert condition.operator is operator


def test_an_object_or_its_default_is_one_of_the_two() -> None:
    body = "s = s or Settings()\nc = nl.ndarray((128, s.width), dtype=nl.float32, buffer=nl.sbuf)\nnisa.memset(c, 0.0)"
    made = kernel(body, SETTINGS, "s=None")
    assert opaques(made) == []
    assert len(allocated(made)) == 2
    assert "s is None" in str(branches(made)[0].condition)


def test_an_object_of_the_port_that_is_false_gives_way() -> None:
    body = "s = Empty() or Settings()\nc = nl.ndarray((128, s.width), dtype=nl.float32, buffer=nl.sbuf)"
    made = kernel(body, SETTINGS)
    assert len(allocated(made)) == 1
    assert branches(made) == []


def test_an_index_into_none_says_that_its_branch_is_not_taken() -> None:
    made = kernel("t = a if n > 3 else None\nnisa.tensor_copy(dst=b, src=t[:, 0:8])")
    assert opaques(made) == []
    assert any(isinstance(op, Assume) for op in operations(made.body))


def test_none_for_a_tile_says_that_its_branch_is_not_taken() -> None:
    made = kernel("t = a if n > 3 else None\nnisa.tensor_copy(dst=b, src=t)")
    assert opaques(made) == []
    assert any(isinstance(op, Assume) for op in operations(made.body))


@pytest.mark.parametrize("text", ["nisa.tensor_copy(dst=b, src=None)", "nisa.tensor_copy(dst=b, src=None[0])"])
def test_none_for_a_tile_that_is_always_used_is_not_understood(text: str) -> None:
    made = kernel(text)
    assert opaques(made)
    assert not any(isinstance(op, Assume) for op in operations(made.body))


def test_dtypes_that_are_not_known_are_not_one() -> None:
    made = kernel(
        "c = nl.ndarray((128, 8), dtype=look(1), buffer=nl.sbuf)\n"
        "c2 = nl.ndarray((128, 8), dtype=look(1), buffer=nl.sbuf)"
    )
    found = {op.type.dtype for op in operations(made.body) if isinstance(op, Alloc) and op.name.startswith("c")}
    assert len(found) == 2
    assert all(dtype.is_symbolic for dtype in found)
