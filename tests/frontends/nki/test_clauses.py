"""What assertions say of conditions: which arms of later branches cannot be, and which still may."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import kernel, opaques

from portcheck.core.dtype import BOOL
from portcheck.frontends.nki.state.clauses import Clauses, clauses_of
from portcheck.ir import Branch, Expr, Operator, Symbol, apply, operations

A, B, C = (Symbol(name, BOOL) for name in "ABC")
MODES = "from enum import Enum\nclass Mode(Enum):\n    PLAIN = 0\n    WIDE = 1\n    DEEP = 2\n"


def neither(*parts: Expr) -> Expr:
    return apply(Operator.LOGICAL_NOT, apply(Operator.LOGICAL_OR, *parts))


def test_a_condition_is_taken_apart_into_clauses() -> None:
    assert clauses_of(apply(Operator.LOGICAL_AND, A, apply(Operator.LOGICAL_OR, B, C))) == [
        ((A, True),), ((B, True), (C, True)),
    ]  # fmt: skip
    assert clauses_of(neither(A, B)) == [((A, False),), ((B, False),)]


def test_what_was_asserted_in_an_arm_follows_where_its_condition_holds_and_only_there() -> None:
    clauses = Clauses()
    before = clauses.held
    clauses.add(B)
    clauses.leave(before, A, True)
    assert clauses.with_consequences({}, A, True) == {A: True, B: True}
    assert clauses.with_consequences({}, B, False) == {A: False, B: False}
    assert clauses.with_consequences({}, A, False) == {A: False}
    assert clauses.with_consequences({A: True}, B, False) is None


def test_one_of_several_is_the_last_that_may_be() -> None:
    clauses = Clauses()
    clauses.add(apply(Operator.LOGICAL_OR, A, B))
    assert clauses.with_consequences({}, A, False) == {A: False, B: True}
    assert clauses.with_consequences({}, A, True) == {A: True}


def test_of_conditions_that_exclude_each_other_one_holds_at_most() -> None:
    clauses = Clauses()
    clauses.exclude((A, B, C))
    assert clauses.with_consequences({}, A, True) == {A: True, B: False, C: False}
    assert clauses.with_consequences({}, A, False) == {A: False}
    assert clauses.with_consequences({B: True}, A, True) is None


ARMS = """
if flag:
    assert mode == Mode.PLAIN
if mode == Mode.WIDE or mode == Mode.DEEP:
    if flag:
        nisa.memset(a, value=who.knows())
    else:
        nisa.memset(a, value=1)
"""


def branches(body: str) -> list[str]:
    made = kernel(body, MODES, "x, flag: bool, mode: Mode = Mode.PLAIN")
    return [op.reason for op in opaques(made)]


def test_an_arm_that_an_assertion_excludes_is_not_evaluated() -> None:
    assert branches(ARMS) == []


@pytest.mark.parametrize(
    "text",
    [
        ARMS.replace("    assert mode == Mode.PLAIN", "    pass"),
        ARMS.replace("== Mode.PLAIN", "!= Mode.PLAIN"),
        ARMS.replace("if flag:\n    assert", "if not flag:\n    assert"),
        ARMS.replace("mode == Mode.WIDE or", "mode == Mode.PLAIN or"),
        "for i in range(n):\n    assert not flag\nif flag:\n    nisa.memset(a, value=who.knows())\n",
        "if flag:\n    nisa.memset(a, value=who.knows())\nassert not flag\n",
    ],
)
def test_an_arm_that_may_be_is_evaluated(text: str) -> None:
    made = kernel(text, MODES, "x, n, flag: bool, mode: Mode = Mode.PLAIN")
    assert opaques(made)


def test_the_only_arm_that_can_be_is_evaluated_without_a_branch() -> None:
    text = "assert flag or other\nif not flag:\n    if other:\n        nisa.memset(a, value=1)\n"
    made = kernel(text, MODES, "x, flag: bool, other: bool")
    assert len([op for op in operations(made.body) if isinstance(op, Branch)]) == 1
