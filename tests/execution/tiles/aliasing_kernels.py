"""Kernels in which several names mean one tile, and iterators that are used up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.execution.tiles.ports import NEW, Case, normal

_HEAD = "    n, d = x.shape\n    out = nl.ndarray((n, d), dtype=nl.float32, buffer=nl.shared_hbm)\n    t = nl.load(x)\n"
_TAIL = "    nl.store(out, t)\n    return out\n"
_ADD_U = "    nisa.tensor_tensor(t, t, u, nl.add)\n"
_INC = "def inc(tile):\n    nisa.tensor_scalar(tile, tile, nl.add, 1.0)\n\n\n"
_MAYBE = "    u = t\n    if d > {}:\n        u = nl.multiply(t, 2.0)\n"


def _case(name: str, body: str, reference: Callable[[Any], Any], before: str = "") -> Case:
    text = NEW.replace("@nki.jit\n", _INC + before + "@nki.jit\n") + "def k(x):\n" + _HEAD + body + _TAIL
    arguments = {"x": normal(11, 6, 5)}
    return Case(name, text, arguments, lambda given: (reference(given["x"].astype("float64")),), roundings=40)


def _number(name: str, body: str, number: float, before: str = "") -> Case:
    """A kernel that works out `s` in Python, which must be `number`."""
    add = "    nisa.tensor_scalar(t, t, nl.add, float(s))\n"
    return _case(name, body + add, lambda x: x + number, before)


CASES = (
    _case("an arm that is taken rebinds", _MAYBE.format(4) + "    inc(u)\n" + _ADD_U, lambda x: 3 * x + 1),
    _case("an arm that is not taken leaves an alias", _MAYBE.format(9) + "    inc(u)\n" + _ADD_U, lambda x: 2 * x + 2),
    _case("the other name of an alias is written", _MAYBE.format(9) + "    inc(t)\n" + _ADD_U, lambda x: 2 * x + 2),
    _case(
        "an alias is written in a loop",
        _MAYBE.format(9) + "    for i in range(d):\n        inc(u)\n" + _ADD_U,
        lambda x: 2 * x + 10,
    ),
    _case(
        "an argument that a helper may rebind",
        "    u = h(t, d)\n" + _ADD_U,
        lambda x: 2 * x + 2,
        "def h(t, d):\n    if d > 9:\n        t = nl.multiply(t, 2.0)\n    inc(t)\n    return t\n\n\n",
    ),
    _case(
        "two names in one arm",
        "    if d > 4:\n        u = nl.add(t, 1.0)\n        v = u\n    else:\n        u = nl.add(t, 2.0)\n"
        "        v = nl.add(t, 3.0)\n    inc(u)\n    nisa.tensor_tensor(t, u, v, nl.add)\n",
        lambda x: 2 * x + 4,
    ),
    _case(
        "a list holds what an arm may rebind",
        "    kept = [t]\n    if d > 9:\n        t = nl.add(t, 1.0)\n    inc(t)\n"
        "    nisa.tensor_tensor(t, t, kept[0], nl.add)\n",
        lambda x: 2 * x + 2,
    ),
    _case(
        "an alias is written in the first round and rebound",
        "    a = nl.add(t, 1.0)\n    u = a\n    for i in range(3):\n        inc(u)\n        u = nl.add(u, 1.0)\n"
        "    nisa.tensor_tensor(t, u, a, nl.add)\n",
        lambda x: 2 * x + 9,
    ),
    _case(
        "a buffer is written in the first round and rebound",
        "    a = nl.zeros((n, d), dtype=nl.float32)\n    u = a\n    for i in range(3):\n        inc(u)\n"
        "        u = nl.add(u, 1.0)\n    nisa.tensor_tensor(t, u, a, nl.add)\n",
        lambda x: 0 * x + 7,
    ),
    _case(
        "a tile that no other name means is written and rebound",
        "    for i in range(d):\n        inc(t)\n        t = nl.multiply(t, 2.0)\n",
        lambda x: 32 * x + 62,
    ),
    _number("a generator expression is used up", "    g = (i for i in range(4))\n    s = sum(g) + sum(g)\n", 6),
    _number("a list is not used up", "    g = [i for i in range(4)]\n    s = sum(g) + sum(g)\n", 12),
    _number(
        "an iterator gives the next each time",
        "    it = iter([1, 2, 3])\n    a = next(it)\n    s = a + 10 * sum(it) + 100 * next(it, 7)\n",
        751,
    ),
    _number("an iterator is its own iterator", "    it = iter([1, 2])\n    s = sum(iter(it)) + sum(it)\n", 3),
    _number(
        "a loop that is left goes on",
        "    it = iter(range(5))\n    s = 0\n    for i in it:\n        if i == 2:\n            break\n"
        "    for i in it:\n        s += i\n",
        7,
    ),
    _number(
        "a round takes elements too",
        "    it = iter([1, 2, 3, 4])\n    s = 0\n    for i in it:\n        s += 10 * i + next(it)\n",
        46,
    ),
    _number(
        "map and zip are used up",
        "    m = map(abs, [1, -2])\n    z = zip([1], [2])\n"
        "    s = sum(m) + sum(m) + 10 * len(list(z)) + 100 * len(list(z))\n",
        13,
    ),
    _number(
        "a generator is used up",
        "    g = counts(3)\n    s = sum(g) + 10 * len(list(g))\n",
        6,
        "def counts(n):\n    for i in range(n):\n        yield i + 1\n\n\n",
    ),
    _number("unpacking takes all", "    it = iter([1, 2])\n    a, b = it\n    s = a + b + len([*it]) * 10\n", 3),
    _number(
        "any stops at the first that is true", "    it = iter([0, 1, 2, 3])\n    s = 100 * any(it) + sum(it)\n", 105
    ),
    _number("membership stops where it finds it", "    it = iter([5, 1, 2])\n    s = 100 * (1 in it) + sum(it)\n", 102),
    _number("a loop without rounds binds nothing", "    i = 7\n    for i in range(0):\n        pass\n    s = i\n", 7),
    _number("a loop that has no rounds here", "    i = 7\n    for i in range(d - 5):\n        pass\n    s = i\n", 7),
    _number("a loop that has rounds here", "    i = 7\n    for i in range(d - 3):\n        pass\n    s = i\n", 1),
    _number("bool makes a truth value", "    s = bool(d) * 3 + bool(d - 5) + int(bool(n))\n", 4),
    _case(
        "a generator that computes, used where it is made",
        "    for u in list(nl.add(t, 1.0) for i in range(2)):\n" + "    " + _ADD_U,
        lambda x: 3 * x + 2,
    ),
)
