"""One of two values by a condition that is not known: what uses it runs for either, and asks once."""

from __future__ import annotations

from tests.frontends.nki.reading import kernel, opaques, program, stores

from portcheck.core.dtype import BOOL, FLOAT32, INT64
from portcheck.ir import Apply, Assume, Branch, Compute, Const, Opaque, Operator, Store, Symbol, apply, operations
from portcheck.ir.uses import UseKind
from portcheck.ir.verify import verify

ENUMERATION = "from enum import Enum\n\n\nclass Kind(Enum):\n    A = 1\n    B = 2\n    C = 3\n"


def test_a_tuple_that_holds_one_of_two_values_is_asked_for_once() -> None:
    made = kernel("m = 4\nif n > 3:\n    m = None\ns = (128, m)\n"
                  "t = nl.ndarray(s, dtype=nl.float32, buffer=nl.sbuf)")  # fmt: skip
    assert [op.reason for op in opaques(made)] == ["nl.ndarray: the shape is not understood"]
    branch = next(op for op in operations(made.body) if isinstance(op, Branch))
    assert opaques(made)[0] in branch.then
    assert [op for op in operations(branch.otherwise) if isinstance(op, Opaque)] == []


def test_where_a_parameter_is_one_member_it_is_no_other() -> None:
    made = kernel("if kind == Kind.A:\n    if Kind.B == kind:\n        nisa.memset(a, 0.0)\n"
                  "    nisa.memset(b, 0.0)\nelse:\n    if kind != Kind.B:\n        nisa.memset(a, 1.0)",
                  ENUMERATION, "x, kind: Kind")  # fmt: skip
    assert opaques(made) == []
    outer, *inner = [op for op in operations(made.body) if isinstance(op, Branch)]
    assert [op.access.buffer for op in stores(outer.then)] == ["b"]
    assert [op.access.buffer for op in stores(outer.otherwise)] == ["a"]
    assert len(inner) == 1


CHOSEN = """
def chosen(kind):
    if kind == Kind.A:
        return nl.exp
    elif kind == Kind.B:
        return nl.tanh
    elif kind == Kind.C:
        return nl.square
"""


def test_a_member_that_is_none_of_the_others_is_the_last() -> None:
    body = "nisa.activation(dst=a, op=chosen(kind), data=b)"
    made = kernel(body, ENUMERATION + CHOSEN, "x, kind: Kind")
    assert opaques(made) == []
    assert len(stores(made.body)) == 3
    for parameters in ("x, kind: Optional[Kind]", "x, kind"):
        assert len(opaques(kernel(body, f"from typing import Optional\n{ENUMERATION}{CHOSEN}", parameters))) == 1


def test_a_comparison_with_a_member_is_the_same_condition_wherever_it_is_written() -> None:
    made = kernel("if same(kind, Kind.A):\n    if kind == Kind.A:\n        nisa.memset(a, 0.0)",
                  f"{ENUMERATION}\n\ndef same(one, other):\n    return one == other\n", "x, kind: Kind")  # fmt: skip
    assert len([op for op in operations(made.body) if isinstance(op, Branch)]) == 1
    assert len(stores(made.body)) == 1


def test_a_tile_that_one_arm_binds_is_that_tile_where_it_is_used() -> None:
    made = kernel("if n > 3:\n    t = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)\n    nisa.memset(t, 1.0)\n"
                  "nisa.tensor_copy(dst=a, src=t)")  # fmt: skip
    assert opaques(made) == []
    assert [op.access.buffer for op in stores(made.body)] == ["t", "a"]
    assert [type(op) for op in made.body if isinstance(op, Branch | Store)] == [Branch, Store]


def test_what_one_arm_puts_into_a_table_may_be_missing() -> None:
    made = kernel("d = {}\nif n > 3:\n    d['t'] = 1.0\nnisa.memset(a, d['t'])")
    branch = next(op for op in made.body if isinstance(op, Branch))
    assert [isinstance(op.value, Const) for op in stores(branch.then)] == [True]
    assert [isinstance(op.value, Const) for op in stores(branch.otherwise)] == [False]
    assert not any(isinstance(op, Store) for op in made.body)


def test_the_calls_of_a_kernel_that_is_given_up_are_noted() -> None:
    loops = "for t in [a] * 90:\n    for u in [b] * 90:\n"
    loops += f"        nisa.memset(u, 1.0 + 1.0)\n        v = [{', '.join(map(str, range(50)))}]\n"
    made = program(f"{loops}clear(a)\nnisa.tensor_copy(dst=a, src=b)", "def clear(t):\n    nisa.memset(t, 0.0)\n")
    assert "the kernel is too long to be evaluated" in [op.reason for op in opaques(made.kernels[0])]
    noted = [use.is_understood for use in made.uses if use.kind is UseKind.CALL and use.name.endswith("tensor_copy")]
    assert noted == [False]


def test_a_kernel_that_is_given_up_returns_nothing_that_is_not_there() -> None:
    early = "if n > 3:\n    y = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n    return y\n"
    loops = "for t in [a] * 90:\n    for u in [b] * 90:\n"
    loops += f"        nisa.memset(u, 1.0 + 1.0)\n        v = [{', '.join(map(str, range(50)))}]\n"
    made = program(f"{early}{loops}")
    assert "the kernel is too long to be evaluated" in [op.reason for op in opaques(made.kernels[0])]
    assert verify(made) == ()


def test_a_kernel_of_which_every_arm_ends_in_an_error_is_not_empty_without_a_word() -> None:
    made = kernel(
        "t, u = a, b\nif n > 3:\n    t = None\nelse:\n    u = None\n"
        "if n > 3:\n    nisa.memset(t[0], 0.0)\nelse:\n    nisa.memset(u[1], 0.0)\nnisa.memset(a, 1.0)"
    )
    assert [op.reason for op in opaques(made)][-1] == "every way through the kernel that was followed ends in an error"


def test_a_parameter_that_is_in_a_tuple_is_one_of_its_members() -> None:
    made = kernel("if kind in (Kind.A, Kind.B):\n    if kind not in (Kind.A, Kind.B):\n        nisa.memset(a, 0.0)\n"
                  "else:\n    if kind == Kind.A:\n        nisa.memset(b, 0.0)\n    nisa.memset(a, 1.0)",
                  f"{ENUMERATION}    C = 3\n", "x, kind: Kind")  # fmt: skip
    assert opaques(made) == []
    outer, *inner = [op for op in operations(made.body) if isinstance(op, Branch)]
    assert inner == []
    assert isinstance(outer.condition, Apply)
    assert outer.condition.operator is Operator.LOGICAL_OR
    assert [op.access.buffer for op in stores(made.body)] == ["a"]


def test_a_statement_that_uses_many_things_that_may_be_one_of_two_is_not_run_for_all_of_their_combinations() -> None:
    body = "".join(f"p{place} = a if n{place} > 1 else b\n" for place in range(8))
    used = ", ".join(f"p{place}[0:1]" for place in range(8))
    parameters = ", ".join(f"n{place}" for place in range(8))
    made = kernel(f"{body}nisa.memset([{used}][0], 0.0)", parameters=parameters)
    assert len([op for op in operations(made.body) if isinstance(op, Branch)]) < 64


def test_a_number_that_stands_in_a_register_is_no_tile() -> None:
    grown = "e = n\n" + "e = e * e + e\n" * 4
    made = kernel(f"{grown}if n > 3:\n    size = e\nelse:\n    size = e + 1\nnisa.memset(a, size + 1)")
    assert opaques(made) == []
    assert not any(isinstance(op, Compute) for op in operations(made.body))


def test_what_was_bound_under_a_negated_condition_is_not_asked_for_under_the_condition() -> None:
    made = kernel("if not flag:\n    t, u = a, b\nelse:\n    t, u = b, a\n"
                  "if flag:\n    nisa.memset(t[0:64], 1.0)\nelse:\n    nisa.memset(u[0:64], 2.0)",
                  parameters="x, flag: bool")  # fmt: skip
    assert opaques(made) == []
    [branch] = [op for op in operations(made.body) if isinstance(op, Branch)]
    assert [[op.access.buffer for op in stores(arm)] for arm in (branch.then, branch.otherwise)] == [["b"], ["b"]]


TWO_RANKS = """
def first(x, is_tiled):
    if is_tiled:
        t = nl.ndarray((128, 4, 8), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=t, src=x[0:128, 0:4, 0:8])
        return t[:, 0, :]
    rows, columns = x.shape
    t = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x[0:128, 0:8])
    return t
"""


def test_an_arm_that_no_rank_fits_that_the_text_says_is_not_taken_and_that_is_said() -> None:
    body = "rows, columns = x.shape\nnisa.tensor_copy(dst=a, src=first(x, n > 3))"
    made = program(body, TWO_RANKS, "x: nl.ndarray, n: int")
    assert opaques(made.kernels[0]) == []
    assert len(made.kernels[0].parameters[0].type.shape) == 2
    assert any(text.startswith("x is taken to have 2 dimensions") for text in made.notes)
    assert [op.condition for op in made.kernels[0].body if isinstance(op, Assume)] == [
        apply(Operator.LOGICAL_NOT, Apply(Operator.GREATER, (Symbol("n", INT64), Const(3, INT64)), BOOL))
    ]


def test_what_is_indexed_too_deeply_whatever_holds_is_not_understood() -> None:
    made = kernel("rows, columns = x.shape\nnisa.dma_copy(dst=a, src=x[0:128, 0, 0:8])", parameters="x: nl.ndarray")
    assert len(opaques(made)) == 1


def test_an_arm_that_takes_a_tuple_apart_wrongly_is_not_taken() -> None:
    body = "s = (1.0, 2.0) if n > 3 else (1.0, 2.0, 3.0)\none, two = s\nnisa.memset(a, two)"
    made = kernel(body, parameters="x, n: int")
    assert opaques(made) == []
    assert [op.value for op in stores(made.body)] == [Const(2.0, FLOAT32)]
    alone = kernel(body.replace("s = (1.0, 2.0) if n > 3 else ", "s = "), parameters="x, n: int")
    assert not any(isinstance(op.value, Const) for op in stores(alone.body))


def test_a_tile_that_ends_in_an_unknown_extent_holds_a_column_where_that_is_one() -> None:
    body = "t = nl.ndarray((128, n), dtype=nl.float32, buffer=nl.sbuf)\nnisa.tensor_copy(dst=t, src=x[:, 3])"
    made = kernel(body, parameters="x: nl.ndarray, n: int")
    assert opaques(made) == []
    assert [str(op.condition) for op in made.body if isinstance(op, Assume)] == [
        str(apply(Operator.EQUAL, Symbol("n", INT64), Const(1, INT64)))
    ]
    assert opaques(kernel(body.replace("128, n", "128, 2"), parameters="x: nl.ndarray, n: int"))
    assert opaques(kernel(body.replace("128, n", "128, n, 1, n"), parameters="x: nl.ndarray, n: int"))


def test_a_list_as_long_as_rounds_that_an_arm_counted_is_not_known_behind_it() -> None:
    made = program(
        "l = []\nif flag:\n    for i in range(n):\n        if i == flag:\n            break\n        l.append(i + 1)\n"
        "else:\n    for i in range(n):\n        l.append(5)\nfor v in l:\n    nisa.memset(a, float(v))",
        parameters="x, flag, n",
    )  # `program` verifies what it made
    assert any(isinstance(op, Opaque) for op in made.kernels[0].body)
