"""Conditions on numbers that other conditions choose: decided where they are the same in every case that can be."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import kernel, opaques, stores

from portcheck.ir import Branch, operations

SIZE = (
    "def bytes_of(dtype):\n"
    "    if str(dtype) == 'float32' or str(dtype) == 'int32':\n        return 4\n"
    "    elif str(dtype) == 'bfloat16' or str(dtype) == 'int16' or str(dtype) in ['half', 'short']:\n        return 2\n"
    "    assert False\n\n\n"
    "PACKED = {nl.int16: nl.bfloat16, nl.int32: nl.float32}\n\n"
)
CAST = (
    "found = PACKED.get(x.dtype)\n"
    "if found is not None:\n"
    "    if bytes_of(x.dtype) {sign} bytes_of({other}):\n"
    "        nisa.memset(a, value=1.0)\n"
    "    else:\n"
    "        nisa.memset(a, value=2.0)\n"
)


def written(sign: str, other: str) -> list[str]:
    made = kernel(CAST.format(sign=sign, other=other), SIZE, parameters="x, y")
    assert opaques(made) == []
    return [getattr(op.value, "value", "") for op in stores(made.body)]


@pytest.mark.parametrize(("sign", "wanted"), [("==", [1.0]), ("<=", [1.0]), ("!=", [2.0]), ("<", [2.0])])
def test_what_holds_of_each_number_that_may_be_chosen_is_decided(sign: str, wanted: list[float]) -> None:
    assert written(sign, "found") == wanted


@pytest.mark.parametrize("other", ["y.dtype", "nl.float32"])
def test_what_differs_from_case_to_case_is_not(other: str) -> None:
    assert written("==", other) == [1.0, 2.0]


CHOSEN = (
    "k = 2 if flag else 3\n"
    "m = 4 if other else 3\n"
    "if {outer}:\n"
    "    if {inner}:\n"
    "        nisa.memset(a, value=1.0)\n"
    "    else:\n"
    "        nisa.memset(a, value=2.0)\n"
)


@pytest.mark.parametrize(
    ("outer", "inner", "count"),
    [
        ("k == m", "flag", 2),
        ("k == m", "k == 3", 1),
        ("k != m", "m > k", 1),
        ("m > 3", "k < m", 1),
        ("n > 3", "k == 3", 2),
    ],
)
def test_what_is_known_of_the_numbers_leaves_cases_out(outer: str, inner: str, count: int) -> None:
    made = kernel(CHOSEN.format(outer=outer, inner=inner), parameters="x, n, flag: bool, other: bool")
    assert opaques(made) == []
    assert len(stores(made.body)) == count
    assert len([op for op in operations(made.body) if isinstance(op, Branch)]) == count
