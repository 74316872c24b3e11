"""Objects made in both arms of a branch: one object afterwards, unless something could tell that it is not."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import kernel, opaques, stores

from portcheck.ir import Apply, Branch, Const, Kernel, Load, Operator, Space, operations

POINT = (
    "class P:\n    def __init__(self, t, n):\n        self.t = t\n        self.n = n\n\n"
    "    def more(self):\n        self.n += 1\n        return self.n\n"
)
MADE = "if n > 3:\n    p = P(a, 1)\nelse:\n    p = P(a, 5)\n"


def branches(made: Kernel) -> int:
    return len([op for op in operations(made.body) if isinstance(op, Branch)])


ONE = {
    "an attribute": f"{MADE}nisa.memset(p.t, p.n)",
    "a method that changes it": f"{MADE}p.more()\nnisa.memset(p.t, p.n)",
    "two names of one": "if n > 3:\n    p = q = P(a, 1)\nelse:\n    p = q = P(a, 5)\nq.n += 1\nnisa.memset(p.t, p.n)",
    "objects that hold each other": (
        "if n > 3:\n    p, q = P(a, 1), P(a, 2)\n    p.q, q.p = q, p\nelse:\n    p, q = P(a, 5), P(a, 6)\n    p.q, q.p = q, p\n"
        "p.q.p.n += 1\nnisa.memset(p.t, p.n)"
    ),
    "a list of them": "if n > 3:\n    c = [P(a, 1)]\nelse:\n    c = [P(a, 5)]\nc[0].n += 1\nnisa.memset(c[0].t, c[0].n)",
    "what a helper gives": "p = choose(a, n)\np.n += 1\nnisa.memset(p.t, p.n)",
}
CHOOSE = "\n\ndef choose(a, n):\n    if n > 3:\n        return P(a, 1)\n    return P(a, 5)\n"


@pytest.mark.parametrize("body", ONE.values(), ids=ONE)
def test_objects_of_one_class_made_in_both_arms_are_one_object(body: str) -> None:
    made = kernel(body, POINT + CHOOSE)
    assert opaques(made) == []
    assert branches(made) == 0
    value = stores(made.body)[0].value
    assert any(isinstance(op, Apply) and op.operator is Operator.SELECT for op in _parts(value))


def _parts(value: object) -> list[object]:
    return [value, *(part for item in value.arguments for part in _parts(item))] if isinstance(value, Apply) else [value]


TOLD_APART = {
    "one of them has two names": (
        "if n > 3:\n    p = q = P(a, 1)\nelse:\n    p, q = P(a, 5), P(a, 6)\nq.n += 10\nnisa.memset(a, p.n)", (11, 5)
    ),
    "a list holds it beside something else": (
        "if n > 3:\n    p = P(a, 1)\n    c = [p, 0]\nelse:\n    p = P(a, 5)\n    c = [p]\nc[0].n += 10\nnisa.memset(a, p.n)",
        (11, 15),
    ),
    "a function that was made with it changes it": (
        "if n > 3:\n    p, f = give(a, 1)\nelse:\n    p, f = give(a, 5)\nf()\nnisa.memset(a, p.n)", (2, 6)
    ),
    "it is of another class": (
        "if n > 3:\n    p = P(a, 1)\nelse:\n    p = Q(a, 5)\np.n += 10\nnisa.memset(a, p.n)", (11, 15)
    ),
}  # fmt: skip
GIVE = "\n\ndef give(a, n):\n    p = P(a, n)\n\n    def f():\n        p.n += 1\n\n    return p, f\n\n\nclass Q(P):\n    pass\n"


@pytest.mark.parametrize(("body", "values"), TOLD_APART.values(), ids=TOLD_APART)
def test_objects_that_can_be_told_apart_stay_two(body: str, values: tuple[int, int]) -> None:
    made = kernel(body, POINT + GIVE)
    assert opaques(made) == []
    branch = [op for op in operations(made.body) if isinstance(op, Branch) and stores(op.then)][-1]
    found = [stores(arm)[0].value for arm in (branch.then, branch.otherwise)]
    assert [value.value for value in found if isinstance(value, Const)] == list(values)


def test_a_number_that_grows_too_large_goes_through_a_register() -> None:
    arms = "".join(f"if n > {place}:\n    t = t * 2 + {place}\nelse:\n    t = t * 3 - {place}\n" for place in range(12))
    made = kernel(f"t = m\n{arms}nisa.memset(a[:, t:t + 1], 0.0)", parameters="x, n, m")
    assert opaques(made) == []
    registers = {op.access.buffer for op in stores(made.body) if op.type.space is Space.REGISTER} if False else None
    loads = [op for op in operations(made.body) if isinstance(op, Load)]
    assert registers is None and loads
