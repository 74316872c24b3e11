"""What follows for a condition from others, and what a parameter that is one thing is not."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import kernel, opaques, stores

from portcheck.core.dtype import BOOL, INT64
from portcheck.frontends.nki.state.answers import answer
from portcheck.ir import Apply, Branch, Const, Expr, Operator, Symbol, apply, operations

P, Q, R = (apply(Operator.NOT_EQUAL, Symbol(name, INT64), Const(0, INT64)) for name in "pqr")
NOT, AND, OR, SELECT = Operator.LOGICAL_NOT, Operator.LOGICAL_AND, Operator.LOGICAL_OR, Operator.SELECT
TRUE, FALSE = Const(True, BOOL), Const(False, BOOL)


def made(operator: Operator, *parts: Expr) -> Expr:
    return Apply(operator, parts, BOOL)


@pytest.mark.parametrize(
    ("condition", "holding", "expected"),
    [
        (P, {P: True}, True), (P, {Q: True}, None), (made(NOT, P), {P: True}, False), (made(NOT, P), {}, None),
        (made(AND, P, Q), {P: True}, None), (made(AND, P, Q), {Q: False}, False),
        (made(AND, P, Q), {P: True, Q: True}, True),
        (made(OR, P, Q), {P: False}, None), (made(OR, P, Q), {Q: True}, True),
        (made(OR, P, Q), {P: False, Q: False}, False),
        (made(SELECT, P, Q, R), {P: True, Q: False, R: True}, False),
        (made(SELECT, P, Q, R), {P: False, R: True}, True),
        (made(SELECT, P, TRUE, FALSE), {P: True}, True), (made(SELECT, P, Q, R), {Q: True, R: True}, True),
        (made(SELECT, P, Q, R), {Q: True, R: False}, None), (made(SELECT, P, Q, R), {P: True, R: True}, None),
    ],
)  # fmt: skip
def test_what_follows_from_other_conditions(condition: Expr, holding: dict[Expr, bool], expected: bool | None) -> None:
    assert answer(condition, holding) is expected


KINDS = "from enum import Enum\nclass Kind(Enum):\n    NONE = 0\n    ROW = 1\n    WHOLE = 2\n"


def test_a_parameter_that_is_one_member_is_none_of_the_others() -> None:
    made = kernel(
        "t = a\nif kind == Kind.ROW:\n    t = b\nif kind == Kind.WHOLE:\n    nisa.memset(t, 0.0)\n",
        before=KINDS, parameters="x, kind: Kind",
    )  # fmt: skip
    assert opaques(made) == []
    assert {op.access.buffer for op in stores(made.body)} == {"a"}


def test_a_parameter_that_is_not_one_member_may_be_any_other() -> None:
    made = kernel(
        "t = a\nif kind == Kind.ROW:\n    t = b\nif kind != Kind.WHOLE:\n    nisa.memset(t, 0.0)\n",
        before=KINDS, parameters="x, kind: Kind",
    )  # fmt: skip
    assert opaques(made) == []
    assert {op.access.buffer for op in stores(made.body)} == {"a", "b"}


LIMITS = "LIMITS = {nl.float8_e4m3: 240.0, nl.float8_e5m2: 57344.0}\n"


def test_what_a_dictionary_has_for_a_dtype_is_chosen_by_the_dtype() -> None:
    made = kernel("nisa.memset(a, LIMITS.get(x.dtype, 1.0))", before=LIMITS)
    assert opaques(made) == []
    assert "240.0" in repr(made.body)
    assert "57344.0" in repr(made.body)


def test_none_for_another_dtype_ends_the_kernel_where_a_number_is_needed() -> None:
    made = kernel("nisa.memset(a, -LIMITS.get(x.dtype, None))", before=LIMITS)
    assert opaques(made) == []
    branches = [op for op in operations(made.body) if isinstance(op, Branch)]
    assert len(branches) == 1
    assert [len(stores(side)) for side in (branches[0].then, branches[0].otherwise)] == [1, 1]


def test_what_a_dictionary_has_for_a_tile_or_a_key_of_many_is_not_known() -> None:
    many = "MANY = {place: float(place) for place in range(40)}\n"
    assert opaques(kernel("nisa.memset(a, MANY.get(n, 1.0))", before=many, parameters="x, n: int"))


def test_a_part_of_an_object_that_is_asked_for_as_a_dtype_is_one_or_another() -> None:
    before = LIMITS + "from dataclasses import dataclass\n@dataclass\nclass Q:\n    kind: object\n    size: int\n"
    made = kernel("nisa.memset(a, LIMITS.get(q.kind, 1.0))", before=before, parameters="x, q: Q")
    assert opaques(made) == []
    assert "240.0" in repr(made.body)
    assert "57344.0" in repr(made.body)
