"""Objects made in both arms of a branch: one object afterwards, unless something could tell that it is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from tests.frontends.nki.reading import kernel, opaques

from portcheck.core.dtype import INT64
from portcheck.frontends.nki.values.arithmetic import known
from portcheck.ir import Branch, Const, Kernel, Load, Op, Store, operations, substitute

POINT = """
class P:
    def __init__(self, n):
        self.n = n

    def more(self):
        self.n += 1


class Q(P):
    pass


def choose(n):
    if n > 3:
        return P(1)
    return P(5)


def give(n):
    p = P(n)

    def f():
        p.n += 1

    return p, f
"""
MADE = "if n > 3:\n    p = P(1)\nelse:\n    p = P(5)\n"
LAST = "\nnisa.memset(a[:, p.n:p.n + 1], 0.0)"


def columns(made: Kernel, n: int) -> tuple[object, ...]:
    """Which columns are written in a kernel that is given `n`."""
    given = {made.parameters[1].name: Const(n, INT64)}

    def stores(ops: Sequence[Op]) -> Iterator[Store]:
        for op in ops:
            if isinstance(op, Branch):
                yield from stores(op.then if known(substitute(op.condition, dict(given))) else op.otherwise)
            elif isinstance(op, Store):
                yield op

    found = []
    for store in stores(made.body):
        first = {axis.name: Const(0, INT64) for axis in store.access.axes}
        found.append(known(substitute(store.access.index[1], {**given, **first})))
    return tuple(found)


def branches(made: Kernel) -> int:
    return len([op for op in operations(made.body) if isinstance(op, Branch)])


ONE = {
    "an attribute": (MADE, (1, 5)),
    "a method that changes it": (f"{MADE}p.more()", (2, 6)),
    "two names of one": ("if n > 3:\n    p = q = P(1)\nelse:\n    p = q = P(5)\nq.n += 1", (2, 6)),
    "objects that hold each other": (
        "if n > 3:\n    p, q = P(1), P(2)\n    p.q = q\n    q.p = p\n"
        "else:\n    p, q = P(5), P(6)\n    p.q = q\n    q.p = p\n"
        "p.q.p.n += 1",
        (2, 6),
    ),
    "a list of them": ("if n > 3:\n    c = [P(1)]\nelse:\n    c = [P(5)]\np = c[0]\nc[0].n += 1", (2, 6)),
    "what a helper gives": ("p = choose(n)\np.n += 1", (2, 6)),
}


@pytest.mark.parametrize(("body", "values"), ONE.values(), ids=ONE)
def test_objects_of_one_class_made_in_both_arms_are_one_object(body: str, values: tuple[int, int]) -> None:
    made = kernel(body + LAST, POINT)
    assert opaques(made) == []
    assert branches(made) == 0
    assert (*columns(made, 9), *columns(made, 0)) == values


TOLD_APART = {
    "one of them has two names": (
        "if n > 3:\n    p = q = P(1)\nelse:\n    p, q = P(5), P(6)\nq.n += 10",
        (11, 5),
    ),
    "a list holds it beside something else": (
        "if n > 3:\n    p = P(1)\n    c = [p, 0]\nelse:\n    p = P(5)\n    c = [p]\nc[0].n += 10",
        (11, 15),
    ),
    "a function that was made with it changes it": (
        "if n > 3:\n    p, f = give(1)\nelse:\n    p, f = give(5)\nf()",
        (2, 6),
    ),
    "it is of another class": ("if n > 3:\n    p = P(1)\nelse:\n    p = Q(5)\np.n += 10", (11, 15)),
    "it is older in one arm": ("o = P(5)\nif n > 3:\n    p = P(1)\nelse:\n    p = o\np.n += 10\no.n += 1", (11, 16)),
}


@pytest.mark.parametrize(("body", "values"), TOLD_APART.values(), ids=TOLD_APART)
def test_objects_that_can_be_told_apart_stay_two(body: str, values: tuple[int, int]) -> None:
    made = kernel(body + LAST, POINT)
    assert opaques(made) == []
    assert branches(made) > 0
    assert (*columns(made, 9), *columns(made, 0)) == values


def test_a_number_that_grows_too_large_goes_through_a_register() -> None:
    arms = "".join(f"if n > {place}:\n    t = t * 2 + {place}\nelse:\n    t = t * 3 - {place}\n" for place in range(12))
    made = kernel(f"t = m\n{arms}nisa.memset(a[:, t:t + 1], 0.0)", parameters="x, n, m")
    assert opaques(made) == []
    assert [op for op in operations(made.body) if isinstance(op, Load)]
