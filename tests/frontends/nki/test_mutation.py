"""Python objects that change: in the arms of a branch, in loops, under several names."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import kernel, opaques, stores, value_of

from portcheck.ir import Apply, Branch, Cast, Const, Loop, Operator, Store, operations, subexpressions

KNOWN = {
    "list += changes the list itself": ("c = [1]\nd = c\nd += [5]\nnisa.memset(a, float(c[1]))", 5.0),
    "appended under another name": ("c = [1]\nd = c\nd.append(5)\nnisa.memset(a, float(c[-1]))", 5.0),
    "appended by a helper": ("def f(z):\n    z.append(7)\nc = []\nf(c)\nnisa.memset(a, float(c[0]))", 7.0),
    "both arms append the same": (
        "c = []\nif n > 3:\n    c.append(4)\nelse:\n    c.append(4)\nnisa.memset(a, float(c[0]))", 4.0,
    ),
    "an arm that raises": ("c = []\nif n > 3:\n    raise ValueError\nelse:\n    c.append(4)\n"
                           "nisa.memset(a, float(c[0]))", 4.0),
}  # fmt: skip


@pytest.mark.parametrize(("body", "value"), KNOWN.values(), ids=KNOWN)
def test_what_an_object_holds_is_known(body: str, value: float) -> None:
    found = value_of(body)
    assert isinstance(found, Const)
    assert found.value == value


CHOSEN = {
    "dictionary": "c = {'q': 1.0}\nif n > 3:\n    c['q'] = 2.0\nnisa.memset(a, c['q'])",
    "list": "c = [1.0]\nif n > 3:\n    c[0] = 2.0\nnisa.memset(a, c[0])",
    "returned from two places": "def f(z):\n    if z > 3:\n        return 2.0\n    return 1.0\nnisa.memset(a, f(n))",
    "returned from inside": "def f(z):\n    if z > 3:\n        if z > 3:\n            return 2.0\n    return 1.0\n"
    "nisa.memset(a, f(n))",
}  # fmt: skip


@pytest.mark.parametrize("body", CHOSEN.values(), ids=CHOSEN)
def test_what_depends_on_a_condition_is_chosen_by_it(body: str) -> None:
    made = kernel(body)
    assert opaques(made) == []
    written = next(op.operand for op in operations(made.body) if isinstance(op, Cast))
    assert [part.operator for part in subexpressions(written) if isinstance(part, Apply)][0] is Operator.SELECT


LOST = {
    "appended in one arm": "c = [a]\nif n > 3:\n    c.append(b)\nnisa.memset(c[-1], 0.0)",
    "appended in one arm and counted": "c = [1]\nif n > 3:\n    c.append(2)\nif len(c) == 1:\n    nisa.memset(a, 0.0)",
    "appended and evaluated perhaps": "c = [1]\nn > 3 and c.append(2)\nif len(c) == 1:\n    nisa.memset(a, 0.0)",
    "an attribute of what is not known": "x.q = 3\nif x.q == 3:\n    nisa.memset(a, 0.0)",
}


@pytest.mark.parametrize("body", LOST.values(), ids=LOST)
def test_what_is_not_followed_is_said(body: str) -> None:
    made = kernel(body)
    assert opaques(made)
    assert all(op.access.buffer != "a" for op in made.body if isinstance(op, Store))


def test_an_object_that_a_round_leaves_as_it_was_keeps_a_loop() -> None:
    made = kernel("c = [0]\nfor i in range(n):\n    c.append(4)\n    nisa.memset(a, float(c[1]))\n    c.pop()")
    assert [type(op) for op in made.body[2:]] == [Loop]
    assert opaques(made) == []


def test_a_list_that_grows_is_followed_round_by_round() -> None:
    made = kernel("c = [a]\nfor i in range(3):\n    c.append(b)\nnisa.memset(c[3], 0.0)")
    assert [op.access.buffer for op in stores(made.body)] == ["b"]


def test_a_helper_that_returns_from_inside_an_arm_is_written_out() -> None:
    made = kernel("def f(c):\n    if c > 1:\n        if c > 2:\n            return 1\n        nisa.memset(b, 0.0)\n"
                  "    nisa.memset(a, 0.0)\nf(n)")  # fmt: skip
    assert opaques(made) == []
    outer = next(op for op in made.body if isinstance(op, Branch))
    assert [op.access.buffer for op in stores(outer.then)] == ["b", "a"]
    assert [op.access.buffer for op in stores(outer.otherwise)] == ["a"]
