"""What does not fit is kept as not understood; where sizes are not known, what is certain of them holds."""

from __future__ import annotations

import pytest
from tests.frontends.nki.instructions import obstacles, on_tiles
from tests.frontends.nki.reading import kernel, opaques, stores
from tests.frontends.nki.test_first_generation import kernel as legacy

from portcheck.ir import Assume, Compute, Kernel, Return, Symbol, integer, operations, symbols_in
from portcheck.ir.walk import expressions


def names(made: Kernel) -> set[str]:
    return {name for op in operations(made.body) for part in expressions(op) for name in symbols_in(part)}


LOOP = "def f(n):\n    nisa.memset(a[:, nl.ds(n, 1)], value=0.0)\nnl.fori_loop(0, 8, f, {step})"


@pytest.mark.parametrize(("step", "reasons"), [(2, []), (0, ["nl.fori_loop: the range has no step"])])
def test_a_loop_of_the_device_has_a_step(step: int, reasons: list[str]) -> None:
    assert obstacles(on_tiles(LOOP.format(step=step))) == reasons


OLD = "i = nl.arange({count})[:, None]\nj = nl.arange(8)[None, :]\nt = nl.load(x[i, j])\n"


@pytest.mark.parametrize(
    ("count", "store", "is_understood"),
    [
        ("4", "nl.store(y[i, j], t)", True),
        ("0.5", "nl.store(y[i, j], t)", False),
        ("4", "nl.store(y[i, j], t, mask=i < 3)", True),
        ("4", "nl.store(y[3], 1.0, mask=i < 3)", False),
        ("4", "nl.store(y[i, j], nl.broadcast_to(nl.expand_dims(t, 2), shape=(4, 8)))", False),
    ],
)
def test_a_dimension_that_does_not_fit_is_bound_to_nothing(count: str, store: str, is_understood: bool) -> None:
    made = legacy("nl.device_print('', y[0, 0])\n" + OLD.format(count=count) + store)
    assert (obstacles(made) == []) == is_understood
    assert not [name for name in names(made) if name.startswith("$")]


@pytest.mark.parametrize(("left", "right"), [("s", "nl.arange(8)[None, :]"), ("nl.arange(8)[None, :]", "s")])
def test_of_a_number_and_a_size_that_is_not_known_the_number_holds(left: str, right: str) -> None:
    made = legacy(f"s = nl.load(x)\nnl.store(y, {left} + {right})")
    assert [op.type.shape[1] for op in operations(made.body) if isinstance(op, Compute)] == [integer(8)]


def test_data_says_the_shape_where_the_other_operand_comes_first() -> None:
    body = "d = nl.load(x)\nc = nl.load(y)\nnisa.tensor_scalar(d, d, nl.subtract, c, {reverse})"
    for reverse in (False, True):
        [made] = [op for op in operations(on_tiles(body.format(reverse=reverse)).body) if isinstance(op, Compute)]
        assert [size.name for size in made.type.shape if isinstance(size, Symbol)] == ["x.shape[0]", "x.shape[1]"]


@pytest.mark.parametrize(
    ("returned", "shapes"),
    [("x", ()), ("x.reshape((4, 2))", ((integer(4), integer(2)),)), ("x.reshape((8,))", ((integer(8),),))],
)
def test_what_is_returned_in_another_shape_says_so(returned: str, shapes: tuple[object, ...]) -> None:
    made = on_tiles(f"x = nl.ndarray((2, 4), dtype=nl.float32, buffer=nl.shared_hbm)\nreturn {returned}")
    [op] = [op for op in operations(made.body) if isinstance(op, Return)]
    assert op.shapes == shapes
    assert obstacles(made) == []


@pytest.mark.parametrize(
    ("body", "asserted", "reasons"),
    [
        ("a.reshape((64, 1024))", 0, []),
        ("a.reshape((64, -1))", 0, []),
        ("a.reshape((64, 8))", 0, ["reshape: a tile of another number of elements"]),
        ("a.reshape((n, 16))", 1, []),
        ("a.reshape((n, -1))", 1, []),
        ("nl.ndarray((n, 4), dtype=nl.float32).reshape((4, n))", 0, []),
        ("nl.ndarray((n, 4), dtype=nl.float32).reshape((2, n // 2, 4))", 1, []),
        ("assert n % 2 == 0\nnl.ndarray((n, 4), dtype=nl.float32).reshape((2, n // 2, 4))", 1, []),
        ("x.reshape((2, n))", 0, []),
    ],
)
def test_a_reshape_asserts_that_it_keeps_all_elements(body: str, asserted: int, reasons: list[str]) -> None:
    *before, last = body.split("\n")
    made = on_tiles("\n".join([*before, f"nisa.memset({last}, 0.0)"]))
    assert [reason.rpartition(".")[2] for reason in obstacles(made)[:1]] == reasons
    assert len([op for op in operations(made.body) if isinstance(op, Assume)]) == asserted


@pytest.mark.parametrize(
    ("body", "is_understood"),
    [
        (
            "g = [*(nl.add(a, 1.0) for i in range(2))]\nnisa.memset(a, 0.0)\nfor u in g:\n    nisa.tensor_copy(a, u)",
            True,
        ),
        ("g = (nl.add(a, 1.0) for i in range(2))\nnisa.memset(a, 0.0)\nfor u in g:\n    nisa.tensor_copy(a, u)", False),
        ("for u in (nl.add(a, 1.0) for i in range(2)):\n    nisa.tensor_copy(a, u)", True),
        ("map(lambda u: nisa.memset(u, 0.0), [a])", False),
        ("list(map(lambda u: nisa.memset(u, 0.0), [a]))", True),
        ("g = (i for i in range(2))\nnisa.memset(a, sum(g))", True),
    ],
)
def test_what_is_computed_lazily_is_used_at_once(body: str, is_understood: bool) -> None:
    assert (obstacles(on_tiles(body)) == []) is is_understood


NOT_WHOLE = {
    "the end of a slice": "nisa.memset(a[0:1.5, :], 0.0)",
    "an index": "nisa.memset(a[1.5, :], 0.0)",
    "the start of nl.ds": "nisa.memset(a[nl.ds(0.5, 3), :], 0.0)",
    "the size of nl.ds": "nisa.memset(a[nl.ds(n, 0.5), :], 0.0)",
    "a size of a new shape": "t = a.reshape((64.0, 16))\nnisa.memset(t, 0.0)",
    "a size of a tile": "t = nl.ndarray((128, 8.0), dtype=nl.float32, buffer=nl.sbuf)\nnisa.memset(t, 0.0)",
}


@pytest.mark.parametrize("body", NOT_WHOLE.values(), ids=NOT_WHOLE)
def test_a_position_or_size_that_is_not_whole_is_not_understood(body: str) -> None:
    made = kernel(body)
    assert stores(made.body) == []
    assert opaques(made)[-1].via == "nisa.memset"


def test_an_operator_of_one_operand_reduces_nothing() -> None:
    made = kernel("nisa.tensor_reduce(dst=a[:, 0:1], op=nl.square, data=b, axis=1)")
    assert [op.reason for op in opaques(made)] == ["nisa.tensor_reduce: square does not make one element of two"]
