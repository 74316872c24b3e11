"""Generator expressions: their names and objects are read when their elements are asked for, one at a time."""

from __future__ import annotations

import numpy as np
import pytest
from tests.execution.tiles.ports import NEW, executed
from tests.frontends.nki.reading import kernel, opaques, stores, value_of

from portcheck.ir import Const

FOLLOWED = {
    "used where it is made": "c = 5\nnisa.memset(a, float(sum(i * c for i in range(3))))",
    "kept for later": "c = 5\ng = (i * c for i in range(3))\nd = 7\nnisa.memset(a, float(sum(g)))",
    "bound to an equal number again": "c = 5\ng = (i * c for i in range(3))\nc = 5\nnisa.memset(a, float(sum(g)))",
    "its own name is another's too": "i = 1\ng = (i * 5 for i in range(3))\ni = 2\nnisa.memset(a, float(sum(g)))",
    "what is iterated is worked out at once": "c = 5\ng = (i for i in (c, c, c))\nnisa.memset(a, float(sum(g)))",
    "another list changes": "c, d = [5], [1]\ng = (i * c[0] for i in range(3))\nd.append(2)\n"
                            "nisa.memset(a, float(sum(g)))",
    "a function that a call is given": "c = 5\ng = map(lambda i: i * c, range(3))\nnisa.memset(a, float(sum(g)))",
    "in a loop that changes what it reads":
        "c, s = 1, 0\nfor v in (i * c for i in range(1, 3)):\n    s, c = s + v, 7\nnisa.memset(a, float(s))",
    "in a loop, with a condition":
        "c, s = 5, 0\nfor v in (i * c for i in range(5) if i * c % 10):\n    s, c = s + v, c + 1\n"
        "nisa.memset(a, 15.0 if s == 70 else 0.0)",
}  # fmt: skip
CHANGED = {
    "a name": "c = 1\ng = (i * c for i in range(3))\nc = 5\nnisa.memset(a, float(sum(g)))",
    "a name of a function around": "c = 1\ndef f():\n    return (i * c for i in range(3))\ng = f()\nc = 5\n"
                                   "nisa.memset(a, float(sum(g)))",
    "a list": "c = [1]\ng = (i * c[0] for i in range(3))\nc[0] = 5\nnisa.memset(a, float(sum(g)))",
    "an object in a list": "c = [{'k': 1}]\ng = (i * c[0]['k'] for i in range(3))\nc[0]['k'] = 5\n"
                           "nisa.memset(a, float(sum(g)))",
    "a name that a function reads": "c = 1\ng = map(lambda i: i * c, range(3))\nc = 5\nnisa.memset(a, float(sum(g)))",
    "what another generator reads": "c = 1\nh = (i * c for i in range(3))\ng = (2 * i for i in h)\nc = 5\n"
                                    "nisa.memset(a, float(sum(g)))",
    "between two elements": "c = 1\ng = (i * c for i in range(3))\nnext(g)\nc = 5\nnisa.memset(a, float(next(g)))",
    "what is iterated": "c = [1]\ng = (i for i in c)\nc.append(4)\nnisa.memset(a, float(sum(g)))",
}  # fmt: skip


@pytest.mark.parametrize("body", FOLLOWED.values(), ids=FOLLOWED)
def test_elements_are_worked_out(body: str) -> None:
    found = value_of(body)
    assert isinstance(found, Const)
    assert found.value == 15


@pytest.mark.parametrize("body", CHANGED.values(), ids=CHANGED)
def test_elements_whose_names_changed_are_not_known(body: str) -> None:
    made = kernel(body)
    assert opaques(made)
    assert not any(isinstance(op.value, Const) for op in stores(made.body))


@pytest.mark.parametrize("made", ["(nl.add(a, float(i)) for i in range(n))", "map(lambda i: nl.add(a, 1.0), range(n))"])
def test_elements_that_are_computed_in_a_loop_of_unknown_length_take_turns(made: str) -> None:
    read = kernel(f"for u in {made}:\n    nisa.tensor_copy(dst=a, src=u)")
    assert opaques(read)


def test_elements_that_are_computed_take_turns_with_the_body_of_the_loop() -> None:
    text = (
        NEW
        + """
def kernel(x):
    out = nl.ndarray((8, 4), dtype=nl.float32, buffer=nl.shared_hbm)
    t = nl.ndarray((8, 4), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x)
    for u in (nl.multiply(t, i + 2.0) for i in range(3) if i != 1):
        nisa.tensor_tensor(dst=t, data1=t, data2=u, op=nl.add)
    nisa.dma_copy(dst=out, src=t)
    return out
"""
    )
    x = np.arange(32, dtype=np.float32).reshape(8, 4)
    assert (executed(text, {"x": x}).results[0] == x * 3 * 5).all()
