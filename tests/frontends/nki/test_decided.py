"""Comparisons of what is one of two by a condition, and of dtypes that nothing states with what they are called."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import kernel, opaques, stores

from portcheck.ir import Alloc, Apply, Branch, Kernel, Symbol, operations
from portcheck.ir.expr import subexpressions

NAMED = """
def named(dtype):
    name = str(dtype)
    if name == 'float32':
        return nl.float32
    elif name == 'bfloat16':
        return nl.bfloat16
    elif name {}:
        return nl.float8_e5m2
    assert False
"""


def _flags(made: Kernel) -> set[str]:
    branches = [op for op in operations(made.body) if isinstance(op, Branch)]
    parts = [part for op in branches for part in subexpressions(op.condition)]
    return {part.name for part in parts if isinstance(part, Symbol) and " == " in part.name}


@pytest.mark.parametrize(
    "test", ["str(x.dtype) == 'float32'", "'float32' == str(x.dtype)", "x.dtype == nl.float32", "nl.float32 == x.dtype"]
)
def test_the_name_of_a_dtype_is_compared_as_the_dtype(test: str) -> None:
    made = kernel(f"if {test}:\n    nisa.memset(a, 0.0)\n    if x.dtype == nl.bfloat16:\n        nisa.memset(b, 0.0)")
    assert opaques(made) == []
    assert _flags(made) == {"dtype(x) == float32"}
    assert [op.access.buffer for op in stores(made.body)] == ["a"]


def test_a_name_that_no_document_has_is_a_condition_of_its_own() -> None:
    made = kernel(
        "if str(x.dtype) == 'wide':\n    nisa.memset(a, 0.0)\nif x.dtype != nl.float32:\n    nisa.memset(a, 0.0)"
    )
    assert _flags(made) == {"dtype(x) == 'wide'", "dtype(x) == float32"}


def test_the_dtype_that_is_found_by_its_name_is_that_dtype() -> None:
    body = "t = nl.ndarray((128, 8), dtype=named(x.dtype), buffer=nl.sbuf)\nnisa.memset(t, 0.0)"
    made = kernel(body, NAMED.format("== 'float8_e5m2'"))
    assert opaques(made) == []
    assert _dtypes(made) == ["dtype(x)"]
    other = kernel(body, NAMED.format("in ['float8_e5m2', 'narrow']"))
    assert _dtypes(other) != ["dtype(x)"]


def _dtypes(made: Kernel) -> list[str]:
    return [op.type.dtype.name for op in operations(made.body) if isinstance(op, Alloc) and op.name == "t"]


@pytest.mark.parametrize(
    ("test", "count"),
    [
        ("m == 'one'", 1),
        ("m != 'one'", 1),
        ("m in ('one', 'two')", 1),
        ("m == 'three'", 0),
        ("m in ('two', 'three')", 1),
    ],
)
def test_one_of_two_values_is_compared_without_a_copy_of_the_text(test: str, count: int) -> None:
    made = kernel(f"m = 'one'\nif n > 3:\n    m = 'two'\nif {test}:\n    nisa.memset(a, 0.0)\nnisa.memset(b, 0.0)")
    assert opaques(made) == []
    assert [op.access.buffer for op in stores(made.body)] == ["a"] * count + ["b"]
    conditions = [op.condition for op in operations(made.body) if isinstance(op, Branch)]
    assert len(conditions) <= 1
    assert all(isinstance(item, Apply) for item in conditions)
