"""Python objects that change: in the arms of a branch, in loops, under several names."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import kernel, opaques, stores, value_of

from portcheck.ir import Apply, Branch, Cast, Const, Loop, Operator, Store, operations, subexpressions, symbols_in

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


BY_CONDITION = {
    "a tile by an if": "if n > 3:\n    p = a\nelse:\n    p = b\nnisa.memset(p, 0.0)",
    "a tile by an expression": "p = a if n > 3 else b\nnisa.memset(p, 0.0)",
    "a tile in a list": "p = [a if n > 3 else b]\nnisa.memset(p[0], 0.0)",
    "a list": "p = [a] if n > 3 else [b]\nnisa.memset(p[0], 0.0)",
    "what a helper returns": "def f(v):\n    if v > 3:\n        return a\n    return b\nnisa.memset(f(n), 0.0)",
    "a function": "def f():\n    nisa.memset(a, 0.0)\ndef g():\n    nisa.memset(b, 0.0)\n(f if n > 3 else g)()",
    "an effect": "nisa.memset(a, 0.0) if n > 3 else nisa.memset(b, 0.0)",
    "a part of a tile": "p = b\nif n > 3:\n    p = a\np[:, 0:8] = 0.0 * b",
    "None": "p = None\nif n > 3:\n    p = a\nif p is None:\n    nisa.memset(b, 0.0)\nelse:\n    nisa.memset(p, 0.0)",
    "None, asked by its truth": (
        "p = None\nif n > 3:\n    p = [a]\nif p:\n    nisa.memset(p[0], 0.0)\nelse:\n    nisa.memset(b, 0.0)"
    ),
    "a name of one arm": "if n > 3:\n    p = a\nif n > 3:\n    nisa.memset(p, 0.0)\nelse:\n    nisa.memset(b, 0.0)",
    "an and": "p = a if n > 3 else None\np is not None and nisa.memset(p, 0.0)\np is None and nisa.memset(b, 0.0)",
}  # fmt: skip


@pytest.mark.parametrize("body", BY_CONDITION.values(), ids=BY_CONDITION)
def test_one_of_two_objects_is_used_as_the_one_it_is(body: str) -> None:
    made = kernel(body)
    assert opaques(made) == []
    written: dict[bool, set[str]] = {True: set(), False: set()}
    for branch in (op for op in made.body if isinstance(op, Branch)):
        is_first = not (isinstance(branch.condition, Apply) and branch.condition.operator is Operator.LOGICAL_NOT)
        written[is_first] |= {op.access.buffer for op in stores(branch.then)}
        written[not is_first] |= {op.access.buffer for op in stores(branch.otherwise)}
    assert {side: names & {"a", "b"} for side, names in written.items()} == {True: {"a"}, False: {"b"}}


def test_a_tile_that_an_arm_allocates_can_be_used_after_it() -> None:
    made = kernel(
        "p = b\nif n > 3:\n    p = nl.ndarray((128, 4), dtype=nl.bfloat16, buffer=nl.sbuf)\nnisa.memset(p, 0.0)"
    )
    assert opaques(made) == []
    branch = next(op for op in made.body if isinstance(op, Branch))
    assert [op.access.buffer for op in stores((branch,))] == ["p", "b"]


def test_a_condition_inside_a_loop_is_not_asked_after_it() -> None:
    made = kernel("p = b\nfor i in range(n):\n    p = a if i > 3 else b\nnisa.memset(p, 0.0)")
    branch = next(op for op in made.body if isinstance(op, Branch))
    assert "i" not in symbols_in(branch.condition)
