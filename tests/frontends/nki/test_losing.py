"""What rounds hand on in objects, and what of it is lost: it alone, with all that it may be, and not the loop."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import kernel, opaques, stores
from tests.frontends.nki.test_loops import IN_MEMORY, first_column, parsed

from portcheck.ir import Alloc, Loop, Space, operations
from portcheck.ir.algebra import polynomial_of

STATE = """
class S:
    def __init__(self):
        self.n = 0
        self.inner = [0, 0]

    def take(self, count):
        at = self.n
        self.n += count
        return at
"""
GO_ON = {
    "an attribute": ("s = S()\nfor i in range(n):\n    nisa.memset(a[:, s.n:s.n + 1], 0.0)\n    s.n += 2", "2*i"),
    "by a method": ("s = S()\nfor i in range(n):\n    t = s.take(3)\n    nisa.memset(a[:, t:t + 1], 0.0)", "3*i"),
    "in a list in an object": (
        "s = S()\nfor i in range(n):\n    t = s.inner[1]\n    nisa.memset(a[:, t:t + 1], 0.0)\n    s.inner[1] += 2",
        "2*i",
    ),
    "in a dictionary": (
        "d = {'t': 1}\nfor i in range(n):\n    t = d['t']\n    nisa.memset(a[:, t:t + 1], 0.0)\n    d['t'] = t + 2",
        "1 + 2*i",
    ),
    "by a function around which it stands": (
        "t = 0\ndef more():\n    nonlocal t\n    t += 2\n"
        "def f():\n    for i in range(n):\n        nisa.memset(a[:, t:t + 1], 0.0)\n        more()\nf()",
        "2*i",
    ),
    "by an inner loop": (
        "s = S()\nfor i in range(n):\n    t = s.n\n    nisa.memset(a[:, t:t + 1], 0.0)\n"
        "    for j in range(5):\n        s.n += 2",
        "10*i",
    ),
}


@pytest.mark.parametrize(("body", "column"), GO_ON.values(), ids=GO_ON)
def test_a_number_in_an_object_goes_on_as_one_that_has_a_name(body: str, column: str) -> None:
    made = kernel(body, STATE)
    assert opaques(made) == []
    assert polynomial_of(first_column(made)) == polynomial_of(parsed(column))


POSITIONS = {name: body for name, body in IN_MEMORY.items() if "[:, t:t + 1]" in body}


@pytest.mark.parametrize("body", POSITIONS.values(), ids=POSITIONS)
def test_a_number_in_an_object_that_does_not_goes_through_memory(body: str) -> None:
    lines = [f"s.n = {body.partition(chr(10))[0].removeprefix('t = ')}"]
    lines += [_in_object(line) for line in body.splitlines()[1:]]
    made = kernel("s = S()\n" + "\n".join(lines), STATE, "x, n, m")
    assert opaques(made) == []
    assert [op.type.space for op in operations(made.body) if isinstance(op, Alloc)][2:] == [Space.REGISTER]


def _in_object(line: str) -> str:
    return line.replace("t += ", "s.n += ").replace("t *= ", "s.n *= ").replace("t:t + 1", "s.n:s.n + 1")


def test_a_number_in_an_object_is_after_the_loop_what_the_rounds_made_of_it() -> None:
    made = kernel("s = S()\nfor i in range(n):\n    s.take(3)\nnisa.memset(a[:, s.n:s.n + 1], 0.0)", STATE)
    assert opaques(made) == []
    plain = kernel("nisa.memset(a[:, n * 3:n * 3 + 1], 0.0)")
    columns = [polynomial_of(stores(item.body)[0].access.index[1]) for item in (made, plain)]
    assert columns[0] == columns[1]


LOST = {
    "two tiles change places": "p, q = a, b\nfor i in range(n):\n    nisa.memset(c, 0.0)\n    nisa.memset(q, 1.0)\n"
    "    p, q = q, p",
    "a list that grows and is read": "p = [a]\nfor i in range(n):\n    nisa.memset(c, 0.0)\n    p.append(b)\n"
    "    nisa.memset(p[len(p) - 1], 0.0)",
    "a list of nothing that is filled": "p = [None] * 4\nfor i in range(n):\n    nisa.memset(c, 0.0)\n    p[i] = a\n"
    "    p[i + 1] = b\nfor i in range(n):\n    nisa.memset(p[i], 1.0)",
    "an attribute": "s = S()\ns.t = a\nfor i in range(n):\n    nisa.memset(c, 0.0)\n    nisa.memset(s.t, 1.0)\n"
    "    s.t = b if i == 0 else a",
    "a list under another name": "p, q = [a], [b]\nfor i in range(n):\n    nisa.memset(c, 0.0)\n"
    "    nisa.memset(p[0], 1.0)\n    p, q = q, p",
}
THIRD = "c = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)\n"


@pytest.mark.parametrize("body", LOST.values(), ids=LOST)
def test_what_is_lost_may_be_all_that_it_was_and_the_loop_stays(body: str) -> None:
    made = kernel(THIRD + body, STATE)
    loop = next(op for op in made.body if isinstance(op, Loop))
    assert [op.access.buffer for op in stores((loop,))] == ["c"]
    written = {name for op in opaques(made) for name in op.writes}
    assert {"a", "b"} <= written
    assert "c" not in written


def test_the_opaque_that_uses_what_is_lost_says_all_that_it_may_write() -> None:
    made = kernel("p, q = a, b\nfor i in range(n):\n    nisa.memset(q, 1.0)\n    p, q = q, p")
    call = next(op for op in opaques(made) if op.via == "nisa.memset")
    assert set(call.writes) == {"a", "b"}


def test_what_is_lost_is_not_known_after_the_loop() -> None:
    body = "p = [a]\nfor i in range(n):\n    p.append(b)\n    nisa.memset(p[len(p) - 1], 0.0)\nnisa.memset(p[0], 1.0)"
    made = kernel(body)
    assert [set(op.writes) for op in opaques(made) if op in made.body] == [{"a", "b"}]


def test_what_an_inner_loop_loses_belongs_to_the_round_that_made_it() -> None:
    body = (
        "last = None\nfor i in range(n):\n    if last is None:\n        nisa.memset(a, 2.0)\n    s = S()\n"
        "    for j in range(i):\n        s.turn = (j, 'even')\n        nisa.memset(b, 1.0)\n    last = (i, 'x')"
    )
    made = kernel(body, STATE)
    assert [op.access.buffer for op in stores(made.body)] == ["a", "b"]
    assert [op.via for op in opaques(made)] == ["=", "="]
