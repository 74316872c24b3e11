"""Functions of Python that only give a number do nothing to a kernel, also where the number is not known."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import kernel, opaques

from portcheck.ir import Call, operations

UNKNOWN = "v = missing.thing(a)\n"


@pytest.mark.parametrize("text", ["len(v)", "min(v, 3)", "max(v.shape)", "int(v)", "math.ceil(v)"])
def test_a_number_of_what_is_not_known_leaves_no_call(text: str) -> None:
    made = kernel(f"{UNKNOWN}w = {text}", "import math\nimport missing\n")
    assert [op.callee for op in operations(made.body) if isinstance(op, Call)] == ["missing.thing"]


def test_what_uses_such_a_number_is_not_understood() -> None:
    made = kernel(f"{UNKNOWN}nisa.memset(b, len(v))", "import missing\n")
    assert [op.reason for op in opaques(made)] == ["nisa.memset: the value is not understood"]
    assert opaques(made)[0].writes == ("b",)


def test_the_item_of_a_number_is_the_number() -> None:
    made = kernel("nisa.memset(b, np.finfo(np.float32).min.item())", "import numpy as np\n")
    assert not opaques(made)
    assert not any(isinstance(op, Call) for op in operations(made.body))
