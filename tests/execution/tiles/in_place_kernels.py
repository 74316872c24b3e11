"""Kernels that write in place to tiles that were computed before a loop or branch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.execution.tiles.ports import NEW, Case, normal

_HEAD = "    n, d = x.shape\n    out = nl.ndarray((n, d), dtype=nl.float32, buffer=nl.shared_hbm)\n    t = nl.load(x)\n"
_TAIL = "    nl.store(out, t)\n    return out\n"
_ADD_ONE = "nisa.tensor_scalar(t, t, nl.add, 1.0)\n"


def _case(name: str, body: str, reference: Callable[[Any], Any], before: str = "") -> Case:
    text = NEW.replace("@nki.jit\n", before + "@nki.jit\n") + "def k(x):\n" + _HEAD + body + _TAIL
    arguments = {"x": normal(11, 6, 5)}
    return Case(name, text, arguments, lambda given: (reference(given["x"].astype("float64")),), roundings=40)


CASES = (
    _case("in place in a loop", f"    for i in range(3):\n        {_ADD_ONE}", lambda x: x + 3),
    _case(
        "in place after a read in the same round",
        "    total = nl.zeros((n, d), dtype=nl.float32)\n    for i in range(3):\n"
        f"        nisa.tensor_tensor(total, total, t, nl.add)\n        {_ADD_ONE}"
        "    nisa.tensor_tensor(t, t, total, nl.add)\n",
        lambda x: x + 3 + 3 * x + 3,
    ),
    _case(
        "in place in a loop whose body is a function",
        "    def body(i):\n        u = nl.multiply(t, 2.0)\n        nisa.tensor_copy(t, u)\n"
        "    nl.fori_loop(0, 3, body)\n",
        lambda x: 8 * x,
    ),
    _case(
        "in place in one arm of a branch",
        f"    if d > 4:\n        {_ADD_ONE}    else:\n        nisa.memset(t, 9.0)\n",
        lambda x: x + 1,
    ),
    _case(
        "in place in a loop of a loop",
        "    for i in range(d):\n        u = nl.multiply(t, 0.5)\n        for j in range(2):\n"
        "            if j > 0:\n                nisa.tensor_tensor(t, t, u, nl.add)\n"
        "            nisa.tensor_scalar(u, u, nl.add, 1.0)\n",
        lambda x: _halves(x, 5),
    ),
    _case(
        "in place in a helper called by a while",
        "    at = 0\n    while at < d:\n        bump(t)\n        at += 2\n",
        lambda x: x + 3,
        f"def bump(t):\n    {_ADD_ONE}\n\n",
    ),
    _case(
        "in place under another name",
        "    both = [t, nl.copy(t)]\n    for one in both:\n        nisa.tensor_scalar(one, one, nl.multiply, 2.0)\n"
        f"    other = t\n    for i in range(d):\n        {_ADD_ONE.replace('t,', 'other,')}"
        "    nisa.tensor_tensor(t, t, both[1], nl.add)\n",
        lambda x: 4 * x + 5,
    ),
    _case(
        "in place where each round broadcasts",
        "    c = nl.load(x[:, 0:1])\n    for i in range(3):\n        b = nl.broadcast_to(c, (n, d))\n"
        "        nisa.tensor_tensor(t, t, b, nl.add)\n        nisa.tensor_scalar(c, c, nl.add, 1.0)\n",
        lambda x: x + 3 * x[:, :1] + 3,
    ),
)


def _halves(x: Any, rounds: int) -> Any:
    for _ in range(rounds):
        x = x + (x * 0.5 + 1)
    return x
