"""A kernel is read again only if what its text says of a parameter came after it was asked for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from portcheck.core.source import SourceFile
from portcheck.frontends.nki import NkiOptions, read_nki
from portcheck.frontends.nki.kernels import kernels
from portcheck.frontends.nki.state.facts import Facts
from portcheck.ir import Opaque, Symbol, operations
from portcheck.ir.verify import check_valid
from portcheck.ir.walk import accesses

HEAD = "import nki\nimport nki.isa as nisa\nimport nki.language as nl\n@nki.jit\ndef k(x, y, n):\n"

BODIES = {
    "sizes named at once": ("rows, width = x.shape\n    nisa.memset(x[0:rows, 0:width], n)", 1),
    "a tensor after it was taken for a number": ("a = y + 1\n    nisa.memset(y[0:8, 0:8], a)", 2),
    "a rank after it was assumed": ("nisa.dma_copy(dst=x, src=y)\n    a, b, c = y.shape", 2),
    "a size named after it was used": ("nisa.memset(x[0:x.shape[0], 0:8], 0.0)\n    rows, width = x.shape", 2),
}


@pytest.mark.parametrize(("body", "times"), BODIES.values(), ids=BODIES)
def test_the_text_is_read_as_often_as_needed(body: str, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0
    lower: Callable[..., object] = kernels._lower

    def counted(*arguments: object, **rest: object) -> object:
        nonlocal count
        count += 1
        return lower(*arguments, **rest)

    monkeypatch.setattr(kernels, "_lower", counted)
    read_nki(SourceFile("port.py", f"{HEAD}    {body}\n"), NkiOptions()).lower(["k"])
    assert count == times


def test_the_last_reading_knows_what_the_first_found() -> None:
    text = HEAD + "    nisa.memset(x[0:x.shape[0], 0:8], 0.0)\n    rows, width = x.shape\n"
    [kernel] = read_nki(SourceFile("port.py", text), NkiOptions()).lower(["k"]).kernels
    sizes = kernel.parameters[0].type.shape
    assert [size.name for size in sizes if isinstance(size, Symbol)] == ["rows", "width"]


def test_an_answer_that_stays_right_is_no_reason_to_read_again() -> None:
    facts = Facts()
    assert (facts.is_tensor, facts.count(2), facts.name_at(0)) == (False, 2, None)
    facts.seen_dimension(1)
    facts.name(1, "width")
    assert facts.revised()  # it was no tensor
    assert (facts.is_tensor, facts.count(2), facts.name_at(0)) == (True, 2, None)
    facts.seen(2)
    assert not facts.revised()
    assert facts.count(1) == 2


RANKS = {
    "a part as large as a tile": ("t = nl.ndarray((8, 16))\n    nisa.dma_copy(dst=t[0:n], src=x[2:2 + n])", 2),
    "rows of a tile of three dimensions": (
        "t = nl.ndarray((8, 4, 16))\n    nisa.dma_copy(dst=t[0:n], src=x[2:2 + n])",
        3,
    ),
    "a row": ("t = nl.ndarray((1, 16))\n    nisa.dma_copy(dst=t[0:1, 0:16], src=x[0:16])", 1),
    "a column": ("t = nl.ndarray((16, 1))\n    nisa.dma_copy(dst=t[0:16], src=x[0:16])", 1),
    "tiles in a list": ("for i in range(len(x)):\n        nisa.memset(x[i][0:8, 0:4], 0.0)", 3),
    "the sizes of a tile in a list": (
        "rows, width = x[0].shape\n    for i in range(len(x)):\n        nisa.memset(x[i][0:rows, 0:width], 0.0)",
        3,
    ),
    "a tile of more dimensions that fills it": (
        "rows = x.shape[0]\n    t = nl.ndarray((128, 16))\n    nisa.tensor_copy(x, t)",
        2,
    ),
    "a tile of as many": ("rows = x.shape[0]\n    nisa.dma_copy(dst=x[0:16], src=y[0:16])", 1),
    "more in a later use": ("nisa.memset(x[0:8], 0.0)\n    nisa.memset(x[0:8, 0:4], 0.0)", 2),
}


@pytest.mark.parametrize(("body", "rank"), RANKS.values(), ids=RANKS)
def test_the_rank_is_what_all_uses_ask_for(body: str, rank: int) -> None:
    module = read_nki(SourceFile("port.py", f"{HEAD}    {body}\n"), NkiOptions())
    [kernel] = module.lower(["k"]).kernels
    assert len(kernel.parameters[0].type.shape) == rank
    for op in operations(kernel.body):
        assert all(len(item.index) == rank for item in accesses(op) if item.buffer == "x")


def test_a_known_rank_is_not_raised_by_a_tile_of_more_dimensions() -> None:
    text = HEAD + "    rows, width = x.shape\n    t = nl.ndarray((128, 4, 16))\n    nisa.tensor_copy(x, t)\n"
    [kernel] = read_nki(SourceFile("port.py", text), NkiOptions()).lower(["k"]).kernels
    assert len(kernel.parameters[0].type.shape) == 2
    assert any(isinstance(op, Opaque) for op in operations(kernel.body))


def test_a_known_rank_is_not_raised_by_an_index_too_many() -> None:
    text = HEAD + "    rows, width = x.shape\n    nisa.memset(x[n][0:8, 0:4], 0.0)\n"
    [kernel] = read_nki(SourceFile("port.py", text), NkiOptions()).lower(["k"]).kernels
    assert len(kernel.parameters[0].type.shape) == 2
    assert any(isinstance(op, Opaque) for op in operations(kernel.body))


@pytest.mark.parametrize(
    ("body", "rank"),
    [
        ("nisa.dma_copy(dst=y, src=x)\n    x.ap(pattern=[[4, 2], [1, 4]])", 2),
        ("x.ap(pattern=[[4, 2], [1, 4]])\n    nisa.dma_copy(dst=y, src=x)", 2),
        ("x.ap(pattern=[[4, 2], [1, 4]])", 1),
    ],
)
def test_a_tensor_has_the_rank_that_it_was_read_with(body: str, rank: int) -> None:
    made = read_nki(SourceFile("port.py", f"{HEAD}    {body}\n"), NkiOptions()).lower(["k"])
    check_valid(made)
    assert len(made.kernels[0].parameters[0].type.shape) == rank


@pytest.mark.parametrize(
    ("before", "is_buffer"), [("t = nl.ndarray((8, c.size), dtype=nl.float32)", False), ("", True)]
)
def test_the_size_of_a_tile_is_no_tensor(before: str, is_buffer: bool) -> None:
    text = HEAD.replace("x, y, n", "x, c") + f"    {before}\n    nisa.memset(x, 0.0, no=c.size)\n"
    [kernel] = read_nki(SourceFile("port.py", text), NkiOptions()).lower(["k"]).kernels
    assert [item.is_buffer for item in kernel.parameters if item.name == "c.size"] == [is_buffer]


BY_RANK = """if len(x.shape) == 2:
        rows, width = x.shape
        parts = None
    else:
        parts, rows, middle, width = x.shape
    t = nl.ndarray((rows, width), dtype=nl.float32, buffer=nl.sbuf)
"""


@pytest.mark.parametrize(
    ("after", "rank"),
    [("one, two, three, four = x.shape", 4), ("nisa.memset(x[0, 0:8, 0, 0:4], 0.0)", 4), ("n.shape", 2)],
    ids=["taken apart", "indexed", "nothing else"],
)
def test_a_rank_that_was_guessed_is_no_proof_of_itself(after: str, rank: int) -> None:
    module = read_nki(SourceFile("port.py", f"{HEAD}    {BY_RANK}    {after}\n"), NkiOptions())
    [kernel] = module.lower(["k"]).kernels
    assert len(kernel.parameters[0].type.shape) == rank
    assert not any(isinstance(op, Opaque) for op in operations(kernel.body))
