"""Text that is twice as deep or long takes a few times as much to evaluate; nothing is counted in seconds."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.frontends.nki.reading import kernel, opaques, stores

from portcheck.core.dtype import INT64
from portcheck.frontends.nki.state import learning
from portcheck.frontends.nki.state.context import Context
from portcheck.ir import Const, Expr, Loop, substitute
from portcheck.ir.algebra import polynomial_of

Evaluated = Callable[..., int]


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> Evaluated:
    """How many syntax nodes are evaluated to lower a kernel."""
    burnt = [0]
    burn = Context.burn

    def counted(self: Context, count: int = 1) -> None:
        burnt[0] += count
        burn(self, count)

    monkeypatch.setattr(Context, "burn", counted)

    def of(body: str, before: str = "") -> int:
        burnt[0] = 0
        kernel(body, before)
        return burnt[0]

    return of


def nested(depth: int, before: str, inside: str) -> str:
    lines = [before, *(f"{'    ' * level}for i{level} in range(n):" for level in range(depth))]
    return "\n".join([*lines, *("    " * depth + line for line in inside.splitlines())])


TILE = "u = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)"
NESTED = {
    "a number": ("t = 0", "t += 1\nnisa.memset(a[:, t:t + 1], 0.0)"),
    "a list": ("t = []", f"{TILE}\nnisa.memset(u, 0.0)\nt.append(u)"),
}


@pytest.mark.parametrize(("before", "inside"), NESTED.values(), ids=NESTED)
def test_what_loops_hand_on_is_found_out_once_whatever_their_depth(
    evaluated: Evaluated, before: str, inside: str
) -> None:
    few, many = (evaluated(nested(depth, before, inside)) for depth in (6, 12))
    assert many < 5 * few


def columns(body: str) -> list[str]:
    """Where along the free dimension each store of a kernel begins."""
    made = kernel(body)
    assert opaques(made) == []
    found = []
    for store in stores(made.body):
        start = substitute(store.access.index[1], {axis.name: Const(0, INT64) for axis in store.access.axes})
        found.append(str(polynomial_of(start)))
    return found


def test_a_loop_that_goes_on_otherwise_each_time_is_found_out_each_time() -> None:
    """The text of the inner loop is the same each time, its step is not."""
    body = "t = 0\nfor s in (1, 2, 3):\n    for j in range(4):\n        nisa.memset(a[:, t:t + 1], 0.0)\n        t += s"
    assert columns(body) == ["j", "2*j_2 + 4", "3*j_3 + 12"]


def test_a_step_that_the_loop_around_changes_is_not_taken_from_another_round() -> None:
    body = (
        "t = 0\ns = 1\nfor i in range(n):\n    for j in range(n):\n        nisa.memset(a[:, t:t + 1], 0.0)\n"
        "        t += s\n    s += 1"
    )
    made = kernel(body)
    outer = next(op for op in made.body if isinstance(op, Loop))
    inner = next(op for op in outer.body if isinstance(op, Loop))
    index = stores((inner,))[0].access.index[1]
    step = [substitute(index, {inner.variable: Const(place, INT64)}) for place in (0, 1)]
    assert str(polynomial_of(step[1]) - polynomial_of(step[0])) == f"{outer.variable} + 1"


def arms(depth: int) -> str:
    """Arms in arms, each with text before it and after it that asks what is known."""
    lines = ["for i in range(n):"]
    for level in range(depth):
        lines.append("    " * (level + 1) + f"if n % {level + 3} == 0:")
        lines.append("    " * (level + 2) + f"if i < n + {level}:")
        lines.append("    " * (level + 3) + "nisa.memset(a[:, i:i + 1], 0.0)")
    return "\n".join(lines)


def test_what_follows_from_a_condition_is_worked_out_once_however_many_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    learned = [0]
    learn = learning.learn

    def counted(facts: learning.Known, condition: Expr, *, holds: bool) -> None:
        learned[0] += 1
        learn(facts, condition, holds=holds)

    monkeypatch.setattr(learning, "learn", counted)
    counts = []
    for depth in (6, 12):
        learned[0] = 0
        kernel(arms(depth))
        counts.append(learned[0])
    assert 0 < counts[1] < 3 * counts[0]
