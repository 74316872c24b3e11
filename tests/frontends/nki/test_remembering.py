"""Helpers that only work out numbers, texts and dtypes: what they gave is remembered, and when it is not."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import burnt_by, kernel, opaques, stores

from portcheck.core.dtype import INT64
from portcheck.ir import Alloc, Const, Expr, operations

WIDTH = """
def width(dtype, count):
    if dtype == nl.float32:
        size = 4
    elif dtype == nl.bfloat16 or dtype == nl.float16:
        size = 2
    else:
        size = 1
    total = 0
    total = (total + size * count) * 2 - 1
    total = (total + size * count) * 2 - 1
    total = (total + size * count) * 2 - 1
    total = (total + size * count) * 2 - 1
    return total
"""


def spent(body: str, before: str, parameters: str, monkeypatch: pytest.MonkeyPatch) -> int:
    return burnt_by(lambda: kernel(body, before, parameters), monkeypatch)


def calls(count: int, argument: str = "nl.float32, 8") -> str:
    return "".join(f"nisa.memset(a, value=width({argument}))\n" for _ in range(count))


def test_a_helper_is_evaluated_once_for_the_same_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    same = spent(calls(8), WIDTH, "x", monkeypatch)
    others = spent("".join(calls(1, f"nl.float32, {place}") for place in range(8)), WIDTH, "x", monkeypatch)
    assert 2 * same < others


@pytest.mark.parametrize(
    "before",
    [
        "COUNTS = [0]\n" + WIDTH.replace("total = 0", "total = 0\n    COUNTS.append(total)"),
        "def made(width):\n    def inner(dtype, count):\n        return count\n    return inner\nwidth = made(3)\n",
    ],
)
def test_a_helper_that_uses_something_that_may_change_is_evaluated_again(
    before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, three = (spent(calls(count), before, "x", monkeypatch) for count in (1, 2, 3))
    assert three - two == two - one


def values(body: str, before: str, parameters: str) -> list[Expr]:
    made = kernel(body, before, parameters)
    assert opaques(made) == []
    return [store.value for store in stores(made.body)]


CHOOSE = "def choose(n):\n    if n > 4:\n        return 1\n    return 2\n"


def test_what_an_arm_decided_is_not_remembered_outside_of_it() -> None:
    body = "if n > 4:\n    nisa.memset(a, value=choose(n))\nnisa.memset(b, value=choose(n))\n"
    made = kernel(body, CHOOSE, "x, n: int")
    inner, *others = [store.value for store in stores(made.body)]
    assert opaques(made) == []
    assert inner not in others
    again = "nisa.memset(b, value=choose(n))\nif n > 4:\n    nisa.memset(a, value=choose(n))\n"
    assert len(values(again, CHOOSE, "x, n: int")) >= 2


def test_a_helper_that_emits_does_so_each_time() -> None:
    before = "def filled(value):\n    t = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)\n"
    before += "    nisa.memset(t, value=value)\n    return t\n"
    made = kernel("t = filled(1)\nu = filled(1)\nnisa.tensor_copy(dst=a, src=t)\n", before, "x")
    assert len([op for op in operations(made.body) if isinstance(op, Alloc)]) == 4


def test_lists_that_a_helper_gives_are_its_own() -> None:
    before = "def pair(one):\n    return [one, one]\n"
    body = "p = pair(3)\nq = pair(3)\np[0] = 5\nnisa.memset(a, value=q[0])\nnisa.memset(b, value=p[0])\n"
    first, second = values(body, before, "x")
    assert first != second


OF_DTYPES = """
def width(dtype):
    if str(dtype) == str(nl.float32):
        return 4
    elif str(dtype) == str(nl.bfloat16) or str(dtype) == str(nl.float16):
        return 2
    assert False
"""
DTYPE = "if n > 4:\n    dt = nl.float16\nelse:\n    dt = x.dtype\n"


def test_what_asserts_something_is_remembered_with_that(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = (spent(DTYPE + calls(count, "dt"), OF_DTYPES, "x, n: int", monkeypatch) for count in (1, 2))
    assert two - one < 40
    body = DTYPE + "".join(f"{name} = nl.ndarray((128, width(dt)), dtype=dt, buffer=nl.sbuf)\n" for name in "tu")
    found = operations(kernel(body, OF_DTYPES, "x, n: int").body)
    shapes = {op.name: op.type.shape for op in found if isinstance(op, Alloc)}
    assert shapes["t"] == shapes["u"]


SMALL = "def small(n):\n    if n < 4:\n        return 1\n    return 2\n"


def test_what_an_assertion_in_a_loop_decided_is_asked_again_behind_it() -> None:
    tile = "{} = nl.ndarray((128, small(k)), dtype=nl.float32, buffer=nl.sbuf)\n"
    body = f"k = n + 1\nfor i in range(m):\n    assert k < 4\n    {tile.format('t')}{tile.format('u')}"
    made = kernel(body, SMALL, "x, n: int, m: int")
    shapes = {op.name: op.type.shape[1] for op in operations(made.body) if isinstance(op, Alloc) and op.name in "tu"}
    assert shapes["t"] == Const(1, INT64)
    assert shapes["u"] != shapes["t"]
