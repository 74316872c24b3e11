"""Loops stay loops: what their rounds hand on, and lists that grow in them."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import kernel, opaques, stores

from portcheck.ir import Alloc, Const, Expr, Kernel, Loop, Space, Store, operations, substitute
from portcheck.ir.algebra import polynomial_of

CLOSED = {
    "a counter": ("t = 0\nfor i in range(n):\n    nisa.memset(a[:, t:t + 1], 0.0)\n    t += 2", "2*i"),
    "down": ("t = 9\nfor i in range(n):\n    t = t - 1\n    nisa.memset(a[:, t:t + 1], 0.0)", "8 - i"),
    "with a step": ("t = 7\nfor i in range(3, n, 2):\n    nisa.memset(a[:, t:t + 1], 0.0)\n    t += 2", "4 + i"),
    "by an inner loop": (
        "t = 0\nfor i in range(n):\n    nisa.memset(a[:, t:t + 1], 0.0)\n    for j in range(5):\n        t += 2",
        "10*i",
    ),
    "by a helper": (
        "def f(v):\n    return v + 3\nt = 0\nfor i in range(n):\n    nisa.memset(a[:, t:t + 1], 0.0)\n    t = f(t)",
        "3*i",
    ),
    "two at once": (
        "t = 0\nu = 1\nfor i in range(n):\n    nisa.memset(a[:, t + u:t + u + 1], 0.0)\n    t, u = t + 1, u + 1",
        "1 + 2*i",
    ),
}  # fmt: skip


def first_column(made: Kernel) -> Expr:
    """Where along the free dimension the first store in the first loop begins."""
    loop = next(op for op in made.body if isinstance(op, Loop))
    access = stores((loop,))[0].access
    free = {axis.name: Const(0, made.parameters[0].type.dtype) for axis in access.axes}
    return substitute(access.index[1], dict(free))


@pytest.mark.parametrize(("body", "column"), CLOSED.values(), ids=CLOSED)
def test_a_number_that_goes_on_evenly_is_an_expression_of_the_loop(body: str, column: str) -> None:
    made = kernel(body)
    assert opaques(made) == []
    assert not [op for op in operations(made.body) if isinstance(op, Alloc) and op.type.space is Space.REGISTER]
    assert polynomial_of(first_column(made)) == polynomial_of(parsed(column))


def parsed(text: str) -> Expr:
    """An expression of `i` and `n`, read as a port would."""
    made = kernel(f"for i in range(n):\n    nisa.memset(a[:, {text}:{text} + 1], 0.0)")
    return first_column(made)


IN_MEMORY = {
    "a sum of positions": "t = 0\nfor i in range(n):\n    t += i\n    nisa.memset(a[:, t:t + 1], 0.0)",
    "a product": "t = 1\nfor i in range(n):\n    t *= 2\n    nisa.memset(a[:, t:t + 1], 0.0)",
    "in one arm only": "t = 0\nfor i in range(n):\n    if i > 3:\n        t += 1\n    nisa.memset(a[:, t:t + 1], 0.0)",
    "after what ends a round early": (
        "t = 0\nfor i in range(n):\n    nisa.memset(a[:, t:t + 1], 0.0)\n    if i == 3: continue\n    t += 1"
    ),
    "where it is left": "t = 0\nfor i in range(n):\n    if i == m: break\n    t += 1\nnisa.memset(a[:, t:t + 1], 0.0)",
    "a float": "t = 0.5\nfor i in range(n):\n    t += 0.1\n    nisa.memset(a, t)",
}


@pytest.mark.parametrize("body", IN_MEMORY.values(), ids=IN_MEMORY)
def test_a_number_that_does_not_goes_through_memory(body: str) -> None:
    made = kernel(body, parameters="x, n, m")
    assert opaques(made) == []
    assert [op.type.space for op in operations(made.body) if isinstance(op, Alloc)][2:] == [Space.REGISTER]


NOT_FOLLOWED = {
    "two tiles change places": "p, q = a, b\nfor i in range(n):\n    nisa.tensor_copy(dst=q, src=p)\n    p, q = q, p",
    "nothing, then a tile": (
        "p = None\nfor i in range(n):\n    if p is not None:\n        nisa.tensor_copy(dst=b, src=p)\n    p = a"
    ),
    "a list that is read": "c = [a]\nfor i in range(n):\n    c.append(b)\n    nisa.memset(c[len(c) - 1], 0.0)",
    "an earlier element": "c = []\nfor i in range(n):\n    c.append(a)\n    nisa.memset(c[0], 0.0)",
    "two elements a round": "c = []\nfor i in range(n):\n    c.append(a)\n    c.append(b)\nnisa.memset(c[n], 0.0)",
    "an element in one arm": "c = []\nfor i in range(n):\n    if i > 3:\n        c.append(a)\nnisa.memset(c[0], 0.0)",
    "an element of a series that changes": (
        "c = [[i] for i in range(n)]\nfor q in c:\n    q.append(1)\nif len(c[0]) == 1:\n    nisa.memset(a, 0.0)"
    ),
}  # fmt: skip


@pytest.mark.parametrize("body", NOT_FOLLOWED.values(), ids=NOT_FOLLOWED)
def test_what_changes_from_round_to_round_in_another_way_is_not_understood(body: str) -> None:
    made = kernel(body)
    assert opaques(made)
    assert not [op for op in made.body if isinstance(op, Store)]


def test_tiles_of_all_rounds_are_one_buffer() -> None:
    made = kernel("c = [nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf) for _ in range(n)]\n"
                  "for t in c:\n    nisa.memset(t, 0.0)\nnisa.memset(c[n - 1], 1.0)")  # fmt: skip
    assert opaques(made) == []
    allocated = [op for op in operations(made.body) if isinstance(op, Alloc)][2:]
    assert [len(op.type.shape) for op in allocated] == [3]
    assert {op.access.buffer for op in stores(made.body)} == {allocated[0].name}


def test_the_length_of_a_list_that_grew_is_that_of_its_loop() -> None:
    made = kernel(
        "c = []\nfor i in range(0, n, 2):\n    c.append(i)\nif len(c) == (n + 1) // 2:\n    nisa.memset(a, 0.0)"
    )
    assert opaques(made) == []


def test_a_list_of_a_known_length_is_followed_round_by_round() -> None:
    made = kernel("c = []\nfor i in range(3):\n    c.append([a, b, a][i])\nnisa.memset(c[1], 0.0)")
    assert [op.access.buffer for op in stores(made.body)] == ["b"]


def test_a_loop_that_cannot_be_kept_is_tried_once() -> None:
    depth = 8
    loops = "".join(f"{'    ' * level}for i{level} in range(2):\n" for level in range(depth))
    changed = "    " * depth + "h[i0 % 2] = {'a': [a], 'b': [b]}\n"
    made = kernel("h = [None, None]\n" + loops + changed + "nisa.memset(h[1]['a'][0], 1.0)")
    assert opaques(made) == []
    assert len(stores(made.body)) == 1
