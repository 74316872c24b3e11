"""Lists that hold one of two things by a condition, and what else an open condition leaves."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import kernel, opaques, stores

from portcheck.ir import Alloc, Branch, Kernel, Loop, Op, Opaque, operations

FOLLOWED = {
    "appended in one arm": ("c = [b]\nif n > 3:\n    c.append(a)\nnisa.memset(c[-1], 0.0)", {"a"}, {"b"}),
    "counted": ("c = [1]\nif n > 3:\n    c.append(2)\nnisa.memset(a if len(c) == 2 else b, 0.0)", {"a"}, {"b"}),
    "iterated": ("c = [b]\nif n > 3:\n    c.clear()\n    c.append(a)\n    c.append(a)\n"
                 "for t in c:\n    nisa.memset(t, 0.0)", {"a"}, {"b"}),
    "under another name": ("c = [b]\nd = c\nif n > 3:\n    c.append(a)\nnisa.memset(d[-1], 0.0)", {"a"}, {"b"}),
    "in a list": ("c = [b]\nd = [c]\nif n > 3:\n    c.append(a)\nnisa.memset(d[0][-1], 0.0)", {"a"}, {"b"}),
    "in an arm of a branch": (
        "c = [b]\nif n > 3:\n    c.append(a)\nnisa.memset(c[1], 0.0) if n > 3 else nisa.memset(c[0], 0.0)",
        {"a"}, {"b"},
    ),
    "in a loop of an arm": (
        "c = [b]\nif n > 3:\n    c.append(a)\nif n > 3:\n    for i in range(n):\n        nisa.memset(c[-1], 0.0)\n"
        "else:\n    nisa.memset(c[-1], 0.0)", {"a"}, {"b"},
    ),
    "again by another condition": (
        "c = [b]\nif n > 3:\n    c.append(b)\nif m > 3:\n    c.append(b)\nif n > 3:\n    c.append(a)\n"
        "nisa.memset(c[-1], 0.0)", {"a"}, {"b"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "first", "second"), FOLLOWED.values(), ids=FOLLOWED)
def test_a_list_is_in_each_arm_what_it_is_there(body: str, first: set[str], second: set[str]) -> None:
    made = kernel(body, parameters="x, n, m")
    assert opaques(made) == []
    assert written_where(made, "n > 3") == (first, second)


def written_where(made: Kernel, condition: str) -> tuple[set[str], set[str]]:
    """The buffers of `a` and `b` that are written where the first condition holds, and where it does not."""
    found: tuple[set[str], set[str]] = set(), set()
    pending: list[tuple[tuple[Op, ...], tuple[bool, ...]]] = [(made.body, (True, False))]
    first = next(op.condition for op in operations(made.body) if isinstance(op, Branch) and _is_by(op, "n"))
    while pending:
        body, sides = pending.pop()
        for op in body:
            if isinstance(op, Branch) and op.condition == first:
                pending.extend(
                    ((op.then, tuple(s for s in sides if s)), (op.otherwise, tuple(s for s in sides if not s)))
                )
            elif isinstance(op, Branch):
                pending.extend(((op.then, sides), (op.otherwise, sides)))
            elif isinstance(op, Loop):
                pending.append((op.body, sides))
            else:
                for side in sides:
                    found[0 if side else 1].update({one.access.buffer for one in stores((op,))} & {"a", "b"})
    return found


def _is_by(op: Branch, name: str) -> bool:
    return f"name='{name}'" in repr(op.condition)


LOST = {
    "in each round another": (
        "c = [a]\nfor i in range(n):\n    if x[i, 0] > 3:\n        c.append(b)\nnisa.memset(c[-1], 0.0)"
    ),
    "of a tile of the arm's own size": (
        "c = [a]\nif n > 3:\n    for i in range(x.shape[0]):\n        c.append(c[-1])\nnisa.memset(c[-1], 0.0)"
    ),
}


@pytest.mark.parametrize("body", LOST.values(), ids=LOST)
def test_what_is_not_followed_is_said(body: str) -> None:
    assert opaques(kernel(body))


def test_a_list_of_too_many_ways_is_lost() -> None:
    parameters = ", ".join(f"n{place}" for place in range(5))
    body = (
        "c = [a]\n" + "".join(f"if n{place} > 3:\n    c.append(a)\n" for place in range(5)) + "nisa.memset(c[-1], 0.0)"
    )
    assert opaques(kernel(body, parameters=f"x, {parameters}"))


def test_tiles_of_a_number_that_arms_work_out_last_beyond_arms() -> None:
    made = kernel(
        "m, q = x.shape\nif q > 3:\n    while m > 9:\n        m -= 2\nt = b\nif q > 4:\n"
        "    t = nl.ndarray((m, 8), dtype=nl.float32, buffer=nl.sbuf)\nnisa.memset(t, 0.0)"
    )
    assert opaques(made) == []
    tile = next(op for op in made.body if isinstance(op, Alloc) and op.name == "t")
    assert len(tile.type.shape) == 2


def test_tiles_of_arms_in_arms_last_beyond_both() -> None:
    made = kernel(
        "t = b\nif n > 3:\n    if x.shape[0] > 3:\n        t = nl.ndarray((9, 8), dtype=nl.float32, buffer=nl.sbuf)\n"
        "    else:\n        t = nl.ndarray((7, 8), dtype=nl.float32, buffer=nl.sbuf)\nnisa.memset(t, 0.0)"
    )
    assert opaques(made) == []


def test_a_choice_stays_one_beyond_many_loops() -> None:
    loops = "".join(f"for i in range(n):\n    nisa.memset(b, {place}.0)\n" for place in range(6))
    branch = "if x.shape[0] > 3:\n" + "".join(f"    {line}\n" for line in loops.splitlines())
    made = kernel("p = a if n > 3 else None\n" + branch * 4 + "if p is not None:\n    nisa.memset(p, 0.0)")
    assert opaques(made) == []


def test_text_that_is_not_read_may_write_both_tiles_of_a_choice() -> None:
    made = kernel("p = [a if n > 3 else b]\nfor t in foreign(x):\n    nisa.memset(p[0], 0.0)")
    found = [op for op in operations(made.body) if isinstance(op, Opaque)]
    assert {name for op in found for name in op.writes} >= {"a", "b"}


def test_a_pattern_may_have_one_of_two_pairs() -> None:
    made = kernel("pairs = [[8, 128], [1, 8] if n > 3 else [2, 4]]\nnisa.memset(a.ap(pattern=pairs), 0.0)")
    assert opaques(made) == []
    assert len(stores(made.body)) == 2
