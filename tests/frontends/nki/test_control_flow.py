"""What leaves a loop is written out, and what is skipped says everything it may write."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import kernel, leaves, opaques

from portcheck.ir import Branch, LeaveKind, Loop, Store, operations

LEAVING = {
    "break in one line": ("for i in range(n):\n    if i == 3: break\n    nisa.memset(a, 0.0)", LeaveKind.LOOP),
    "break": ("for i in range(n):\n    if i == 3:\n        break\n    nisa.memset(a, 0.0)", LeaveKind.LOOP),
    "continue in one line": (
        "for i in range(n):\n    if i == 3: continue\n    nisa.memset(a, 0.0)", LeaveKind.ITERATION,
    ),
    "continue": ("for i in range(n):\n    if i == 3:\n        continue\n    nisa.memset(a, 0.0)", LeaveKind.ITERATION),
    "continue after a walrus": (
        "for i in range(n):\n    if (q := i) > 0: continue\n    nisa.memset(a, 0.0)", LeaveKind.ITERATION,
    ),
    "nested": (
        "for i in range(n):\n    if i > 2:\n        if i < 7: continue\n        nisa.memset(b, 0.0)\n"
        "    nisa.memset(a, 0.0)", LeaveKind.ITERATION,
    ),
    "while": ("i = 0\nwhile i < n:\n    i += 1\n    if i == 3: break\n    nisa.memset(a, 0.0)", LeaveKind.LOOP),
}  # fmt: skip


@pytest.mark.parametrize(("body", "kind"), LEAVING.values(), ids=LEAVING)
def test_what_leaves_a_loop_is_an_operation(body: str, kind: LeaveKind) -> None:
    made = kernel(body)
    assert opaques(made) == []
    assert leaves(made.body) == [kind]


def test_a_statement_beside_its_condition_is_read() -> None:
    made = kernel("if n > 3: nisa.memset(a, 0.0)\nfor i in range(n): nisa.memset(b, 0.0)")
    assert opaques(made) == []
    assert [op.access.buffer for op in operations(made.body) if isinstance(op, Store)] == ["a", "b"]


def test_a_carried_number_is_kept_where_the_iteration_ends_early() -> None:
    made = kernel("t = 0\nfor i in range(n):\n    t = t + i\n    if i == 3: continue\n    nisa.memset(a, 0.0)\n"
                  "nisa.memset(b, t)")  # fmt: skip
    loop = next(op for op in operations(made.body) if isinstance(op, Loop))
    branch = next(op for op in loop.body if leaves((op,)))
    assert [op.access.buffer for op in operations((branch,)) if isinstance(op, Store)] == ["t_2"] or [
        op.access.buffer for op in operations((branch,)) if isinstance(op, Store)
    ] == ["t"]


def test_leaving_a_loop_that_is_evaluated_round_by_round_makes_it_opaque() -> None:
    made = kernel("for t in [a, b]:\n    if n == 3: break\n    nisa.memset(t, 0.0)")
    assert leaves(made.body) == []
    assert set(opaques(made)[0].writes) == {"a", "b"}


def test_leaving_a_loop_that_is_evaluated_is_exact_where_the_condition_is_known() -> None:
    made = kernel("for i, t in enumerate([a, b]):\n    if i == 1: break\n    nisa.memset(t, 0.0)")
    assert opaques(made) == []
    assert [op.access.buffer for op in operations(made.body) if isinstance(op, Store)] == ["a"]


SKIPPED = {
    "match": "match n:\n    case [z]:\n        nisa.memset(a, 0.0)",
    "try": "try:\n    if n > 3: raise ValueError\n    nisa.memset(a, 0.0)\nexcept ValueError:\n    nisa.memset(a, 1.0)",
    "with": "with something(n) as s:\n    nisa.memset(a, 0.0)",
    "unknown iteration": "for q in something(n):\n    nisa.memset(a, 0.0)",
    "else of a loop that is left": "for i in range(n):\n    if i == 3: break\nelse:\n    nisa.memset(a, 0.0)",
    "comprehension": "c = [nisa.memset(a, i) for i in something(n)]",
    "dictionary": "c = {i: nisa.memset(a, i) for i in range(n)}",
    "closure": "def f():\n    nisa.memset(a, 0.0)\nmatch n:\n    case [z]:\n        f()",
    "list": "c = [a]\nmatch n:\n    case [z]:\n        nisa.memset(c[0], 0.0)",
    "table": "c = {'q': a}\nmatch n:\n    case [z]:\n        nisa.memset(c['q'], 0.0)",
    "call that does not fit": "nisa.memset(output=a, value=0.0)",
    "too many arguments": "nisa.memset(1, 2, 3, 4, 5, 6, 7, 8, 9, a)",
}


@pytest.mark.parametrize("body", SKIPPED.values(), ids=SKIPPED)
def test_what_is_skipped_says_what_it_may_write(body: str) -> None:
    found = opaques(kernel(body))
    assert any("a" in op.writes for op in found)
    assert all("b" not in op.writes for op in found)


def test_a_name_bound_in_skipped_text_is_not_what_it_was() -> None:
    made = kernel("h = 3\nmatch n:\n    case [z]:\n        h = 4\nnisa.memset(a, h)")
    store = next(op for op in operations(made.body) if isinstance(op, Store))
    assert getattr(store.value, "value", None) != 3


def test_a_condition_that_depends_on_a_skipped_name_is_not_the_old_one() -> None:
    made = kernel("h = 3\ntry:\n    if n > 3: raise ValueError\n    h = 4\nexcept ValueError:\n    pass\n"
                  "if h == 3:\n    nisa.memset(a, 0.0)")  # fmt: skip
    assert any(isinstance(op, Branch) for op in made.body)


RETURNING = {
    "in a loop": "def f(c):\n    for i in range(c):\n        if i == 3:\n            return 1\n"
    "        nisa.memset(a, 0.0)\nf(n)",
    "skipped": "match n:\n    case 3:\n        return x\nnisa.memset(a, 0.0)",
}


@pytest.mark.parametrize("body", RETURNING.values(), ids=RETURNING)
def test_what_follows_a_return_that_is_not_followed_may_not_run(body: str) -> None:
    assert any("a" in op.writes for op in opaques(kernel(body)))


def test_a_name_that_a_helper_declares_nonlocal_is_unknown_after_it() -> None:
    made = kernel("h = 3\ndef f():\n    nonlocal h\n    h = 4\nf()\nnisa.memset(a, h)")
    store = next(op for op in operations(made.body) if isinstance(op, Store))
    assert getattr(store.value, "value", None) != 3


def test_an_argument_that_no_lowering_reads_makes_the_call_opaque() -> None:
    made = kernel("nisa.dma_compute(dst=a, srcs=[a, b], reduce_op=nl.add, unique_indices=False)")
    assert [op.writes for op in opaques(made)] == [("a",)]
    assert "unique_indices" in opaques(made)[0].reason


NEUTRAL = {
    "default": "nisa.nc_matmul(dst=p, stationary=a, moving=b, is_transpose=False)",
    "name": "nisa.nc_matmul(dst=p, stationary=a, moving=b, name='q')",
    "engine": "nisa.tensor_copy(dst=a, src=b, engine=nisa.vector_engine)",
}


@pytest.mark.parametrize("call", NEUTRAL.values(), ids=NEUTRAL)
def test_an_argument_without_effect_on_values_is_fine(call: str) -> None:
    made = kernel(f"p = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.psum)\n{call}")
    assert opaques(made) == []
