"""A return in a loop of unknown length, where the function returns the same behind the loop."""

from __future__ import annotations

from textwrap import indent

import pytest
from tests.frontends.nki.reading import kernel, opaques, stores

from portcheck.ir import Branch, Leave, LeaveKind, Loop, Op, operations

FIRST = "        if i * 4 >= m:\n            return t\n        nisa.memset(t[:, i:i + 1], 0.0)\n"
INNER = f"    for i in range(n):\n{FIRST}"
USE = "u = fill(a, n, m)\nnisa.memset(u, 1.0)"


def read(before: str, body: str = USE) -> tuple[list[str], list[Op]]:
    made = kernel(body, f"def fill(t, n, m):\n{before}\n")
    return [op.reason for op in opaques(made)], list(operations(made.body))


def test_a_return_of_what_is_returned_behind_the_loop_leaves_the_loop() -> None:
    reasons, found = read(f"    for i in range(n):\n{FIRST}    return t")
    assert reasons == []
    assert [op.kind for op in found if isinstance(op, Leave)] == [LeaveKind.LOOP]
    loop = next(op for op in found if isinstance(op, Loop))
    branch = next(op for op in loop.body if isinstance(op, Branch))
    assert [type(op) for op in branch.then] == [Leave]
    assert [op.access.buffer for op in stores(loop.body)] == ["a"]
    assert stores(found)[-1].access.buffer == "a"


def test_so_does_one_in_the_arm_of_a_branch_that_the_function_ends_with() -> None:
    reasons, found = read(f"    if m > 3:\n{indent(INNER, '    ')}    return t")
    assert reasons == []
    assert sum(isinstance(op, Leave) for op in found) == 1


def test_so_does_one_of_nothing_at_the_end_of_a_function() -> None:
    reasons, found = read(f"    for i in range(n):\n{FIRST}".replace("return t", "return"), "fill(a, n, m)")
    assert reasons == []
    assert sum(isinstance(op, Leave) for op in found) == 1


OTHERWISE = {
    "something else is returned": f"    u = t[:, 0:64]\n    for i in range(n):\n{FIRST}    return u",
    "more is done behind the loop": f"    for i in range(n):\n{FIRST}    nisa.memset(t, 2.0)\n    return t",
    "the loop has an else": f"    for i in range(n):\n{FIRST}    else:\n        nisa.memset(t, 2.0)\n    return t",
    "it is in a loop in the loop": (
        f"    for j in range(n):\n{indent(INNER, '    ')}    return t"
    ),
    "it is in a try": (
        "    for i in range(n):\n        try:\n            if i * 4 >= m:\n                return t\n"
        "        finally:\n            t = a2\n    return t"
    ),
}  # fmt: skip


@pytest.mark.parametrize("before", OTHERWISE.values(), ids=OTHERWISE)
def test_where_the_function_does_otherwise_it_is_no_break(before: str) -> None:
    reasons, found = read(before)
    assert reasons != []
    assert not any(isinstance(op, Leave) for op in found)
