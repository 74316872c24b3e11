"""Expressions, operators and the builder."""

import os
import pickle
import subprocess
import sys

import pytest

from portcheck.core.dtype import BOOL, FLOAT32, INT32, INT64
from portcheck.core.source import NOWHERE, Position, Span
from portcheck.ir import (
    ASSOCIATIVE,
    COMMUTATIVE,
    COMPARISONS,
    ONE,
    PREDICATES,
    ROUNDING_FREE,
    Apply,
    Barrier,
    Builder,
    Cast,
    Const,
    Expr,
    Loop,
    Operator,
    Range,
    Ref,
    Scope,
    Symbol,
    ValueType,
    apply,
    arity,
    integer,
    is_within,
    refs_in,
    subexpressions,
    substitute,
    symbols_in,
)  # fmt: skip

A, B = Symbol("a", INT32), Symbol("b", INT32)
SUM = apply(Operator.ADD, A, apply(Operator.MULTIPLY, B, Ref(7, INT32)))


def test_subexpressions_come_parents_first_and_left_to_right() -> None:
    assert list(subexpressions(SUM)) == [SUM, A, SUM.arguments[1], B, Ref(7, INT32)]


def test_symbols_and_results_are_found_at_every_depth() -> None:
    assert symbols_in(SUM) == {"a", "b"}
    assert refs_in(SUM) == {7}
    assert not symbols_in(ONE)
    assert not refs_in(ONE)


SUBSTITUTIONS: list[tuple[str, Expr, dict[str, Expr], Expr]] = [
    ("the symbol itself", A, {"a": B}, B),
    ("another symbol", A, {"b": ONE}, A),
    ("inside an operator", SUM, {"b": ONE}, apply(Operator.ADD, A, apply(Operator.MULTIPLY, ONE, Ref(7, INT32)))),
    ("both at once", apply(Operator.ADD, A, B), {"a": B, "b": A}, apply(Operator.ADD, B, A)),
    ("not again in what was put in", A, {"a": apply(Operator.ADD, A, ONE)}, apply(Operator.ADD, A, ONE)),
    ("a result stays", Ref(7, INT32), {"a": ONE}, Ref(7, INT32)),
    ("a constant stays", ONE, {"a": B}, ONE),
    ("the result dtype stays", apply(Operator.ADD, A, B, dtype=INT64), {"a": ONE},
     apply(Operator.ADD, ONE, B, dtype=INT64)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "symbols", "expected"), [case[1:] for case in SUBSTITUTIONS], ids=[case[0] for case in SUBSTITUTIONS]
)
def test_substitution(expression: Expr, symbols: dict[str, Expr], expected: Expr) -> None:
    assert substitute(expression, symbols) == expected


def test_applied_predicate_is_bool_and_else_takes_the_first_dtype() -> None:
    assert apply(Operator.LESS, A, B).dtype == BOOL
    assert apply(Operator.ADD, Symbol("n", INT64), B).dtype == INT64
    assert apply(Operator.SELECT, apply(Operator.LESS, A, B), Symbol("n", INT64), A).dtype == INT64
    assert integer(3) == Const(3, INT64)


def test_substitution_reaches_the_bottom_of_a_deep_tree_and_shares_what_stays() -> None:
    deep: Expr = A
    for _ in range(50_000):
        deep = apply(Operator.ADD, deep, B)
    changed = substitute(deep, {"a": ONE})
    assert sum(1 for _ in subexpressions(changed)) == 100_001
    assert symbols_in(changed) == {"b"}
    assert substitute(deep, {"c": ONE}) is deep


def test_names_are_found_and_replaced_in_a_sum_of_more_of_them_than_are_kept_beside_it() -> None:
    names = [f"n{number}" for number in range(200)]
    total: Expr = Ref(1, INT32)
    for name in names:
        total = apply(Operator.ADD, total, Symbol(name, INT32))
    assert symbols_in(total) == set(names)
    assert refs_in(apply(Operator.ADD, total, Ref(2, INT32))) == {1, 2}
    assert symbols_in(substitute(total, {"n0": B, "n150": A})) == {*names, "a", "b"} - {"n0", "n150"}


def test_nodes_of_an_expression_are_counted_wherever_they_stand() -> None:
    assert (SUM.nodes, SUM.levels) == (5, 3)
    twice: Expr = A
    for _ in range(100):
        twice = apply(Operator.ADD, twice, twice)
    assert isinstance(twice, Apply)
    assert twice.nodes >= 1 << 62


@pytest.mark.parametrize(("levels", "expected"), [(0, False), (2, False), (3, True), (99, True)])
def test_levels_of_an_expression_are_counted_up_to_a_limit(levels: int, expected: bool) -> None:
    assert is_within(SUM, levels) is expected
    assert is_within(A, 1)


@pytest.mark.parametrize("operator", Operator)
def test_every_operator_has_an_arity(operator: Operator) -> None:
    assert arity(operator) in (1, 2, 3)


def test_classes_of_operators_nest() -> None:
    assert ROUNDING_FREE < ASSOCIATIVE < COMMUTATIVE
    assert COMPARISONS < PREDICATES
    assert all(arity(operator) == 2 for operator in COMMUTATIVE | COMPARISONS)


def test_builder_numbers_operations_and_keeps_regions_apart() -> None:
    builder = Builder()
    span = Span("k.cu", Position(1, 1), Position(1, 2))
    with builder.at(span):
        first = builder.emit(Barrier, scope=Scope.BLOCK)
    with builder.region() as body:
        inner = builder.result(Cast, operand=ONE, type=ValueType(FLOAT32))
    values = Range(start=ONE, stop=A, step=ONE)
    loop = builder.emit(Loop, variable="i", values=values, body=tuple(body))
    assert (first.id, inner, loop.id) == (1, Ref(2, FLOAT32), 3)
    assert (first.span, loop.span) == (span, NOWHERE)
    assert [op.id for op in builder.body] == [1, 3]
    assert [op.id for op in loop.body] == [2]


def test_an_expression_of_another_process_is_found_by_what_it_is() -> None:
    text = (
        "import pickle, sys; from portcheck.core.dtype import INT32; from portcheck.ir import Operator, Symbol, apply; "
        "sys.stdout.buffer.write(pickle.dumps(apply(Operator.ADD, Symbol('n', INT32), Symbol('m', INT32))))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join(sys.path)}
    made = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, check=True).stdout
    here = apply(Operator.ADD, Symbol("n", INT32), Symbol("m", INT32))
    assert {here: 1}.get(pickle.loads(made)) == 1
