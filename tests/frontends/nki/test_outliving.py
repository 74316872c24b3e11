"""What a loop leaves behind: nothing after it names its variable, and what has no one size is not understood."""

from __future__ import annotations

import pytest

from portcheck.core.source import SourceFile
from portcheck.frontends.nki import NkiOptions, read_nki
from portcheck.ir import Alloc, Load, Loop, Op, Opaque, Program, Store, integer
from portcheck.ir.verify import verify
from portcheck.ir.walk import operations

HEAD = "import nki\nimport nki.isa as nisa\nimport nki.language as nl\n"
LEGACY = HEAD.replace("import nki", "import neuronxcc.nki") + "from neuronxcc import nki\n"
KERNEL = """@nki.jit
def k(x, n):
    a = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
"""
STALE = {
    "number in a list": ("c = [i]", "nisa.memset(a[0:c[0]], 0.0)"),
    "number in a table": ("c = {'a': i}", "nisa.memset(a, c['a'])"),
    "tile of another size in a list": ("c = [a[0:i, 0:i]]", "nisa.memset(c[0], 0.0)"),
    "tile that is computed": ("c = nl.exp(a[0:i, 0:i])", "nisa.tensor_copy(dst=a, src=c)"),
    "tile of the round": ("c = nl.ndarray((i + 1, 8), nl.float32, nl.sbuf)", "nisa.memset(c, 0.0)"),
    "shape": ("c = [i]", "b = nl.ndarray((c[0], 8), nl.float32, nl.sbuf)\n    nisa.memset(b, 0.0)"),
    "range": ("c = [range(i)]", "for j in c[0]:\n        nisa.memset(a[j:j + 1], 0.0)"),
    "condition": ("c = [i > 3]", "if c[0]:\n        nisa.memset(a, 0.0)"),
    "what is not understood": ("c = nl.load(x[nl(i, 8), :])", "nisa.tensor_scalar(a, c, nl.add, 1.0)"),
    "assertion": ("c = [i]", "assert c[0] > 3"),
}


def _lowered(text: str) -> Program:
    module = read_nki(SourceFile("p.py", text), NkiOptions())
    program = module.lower([item.name for item in module.kernels])
    assert verify(program) == ()
    assert program.kernels
    return program


def _body(text: str) -> tuple[Op, ...]:
    return _lowered(text).kernels[0].body


@pytest.mark.parametrize("head", [HEAD, LEGACY], ids=["current", "first generation"])
@pytest.mark.parametrize("over", ["range(n)", "nl.affine_range(n)", "range(1, 200)"])
@pytest.mark.parametrize("case", STALE)
def test_nothing_names_the_variable_of_a_loop_after_it(case: str, over: str, head: str) -> None:
    inside, after = STALE[case]
    _lowered(head + KERNEL + f"    for i in {over}:\n        {inside}\n    {after}\n")


def test_a_name_is_after_the_loop_what_the_last_round_made_of_it() -> None:
    text = HEAD + KERNEL + "    for i in nl.affine_range(4):\n        t, r = a[0:i], range(i)\n"
    body = _body(text + "    nisa.memset(t, 0.0)\n    for j in r:\n        nisa.memset(a, 0.0)\n")
    stores = [op for op in operations(body) if isinstance(op, Store)]
    loop = next(op for op in reversed(body) if isinstance(op, Loop))
    assert [stores[0].access.axes[0].extent, loop.values.stop] == [integer(3), integer(3)]
    assert not any(isinstance(op, Opaque) for op in operations(body))


def test_a_result_of_one_size_outlives_its_loop() -> None:
    loop = "    for i in nl.affine_range(4):\n        t = nl.load(x[nl.ds(i * 128, 128), 0:8])\n"
    body = _body(LEGACY + KERNEL + loop + "    nl.store(x[0:128, 0:8], nl.exp(t))\n")
    assert not any(isinstance(op, Opaque) for op in operations(body))


def test_a_result_of_many_sizes_does_not() -> None:
    loop = "    for i in nl.affine_range(4):\n        t = nl.load(x[nl.ds(128, i * 128), 0:8])\n"
    body = _body(LEGACY + KERNEL + loop + "    nl.store(x[0:128, 0:8], nl.exp(t))\n")
    assert any(isinstance(op, Opaque) for op in operations(body))


@pytest.mark.parametrize("around", ["for i in range(n)", "if n > 3", "while n > 3"])
def test_a_constant_of_the_module_that_nobody_knows_stays_out_of_blocks(around: str) -> None:
    head = HEAD + "import other\nT = other.made(3)\nW = [T, nl.exp(T)]\n"
    uses = "nisa.memset(a, T)\n{0}nisa.memset(a, W[0])\n{0}nisa.tensor_scalar(a, W[1], nl.add, T)\n"
    _lowered(head + KERNEL + f"    {around}:\n        " + uses.format(" " * 8) + "    " + uses.format(" " * 4))


def test_a_tile_whose_size_only_its_round_knows_does_not_outlive_it() -> None:
    size = "        w = n\n        while w > 4:\n            w = w // 2\n"
    made = "        t = nl.ndarray((128, w), dtype=nl.float32, buffer=nl.sbuf)\n        tiles.append(t)\n"
    uses = "    for t in tiles:\n        nisa.memset(t, 0.0)\n"
    body = _body(HEAD + KERNEL + f"    tiles = []\n    for i in range(n):\n{size}{made}{uses}")
    assert [op.via for op in operations(body) if isinstance(op, Opaque)] == ["for t in tiles: nisa.memset(t, 0.0)"]


def test_a_tile_that_one_way_through_a_round_makes_is_not_put_away_where_no_way_made_it() -> None:
    loop = "    for i in nl.affine_range(4):\n        if n > 3:\n            return x\n"
    loop += "        t = nl.load(x[0:128, 0:8])\n"
    _lowered(f"{LEGACY}{KERNEL.replace(', buffer=nl.sbuf', '')}{loop}    nl.store(x[0:128, 0:8], t)\n")


ALLOCATED = """    {before}
    for i in {over}:
        for j in range(2):
            t = nl.ndarray({shape}, nl.float32, nl.sbuf)
            nisa.memset(t, i + j)
    nisa.tensor_copy(dst=a, src=t)
"""


@pytest.mark.parametrize("over", ["range(n)", "nl.affine_range(n)", "range(1, 200)"])
def test_a_tile_that_the_last_round_allocates_outlives_its_loop(over: str) -> None:
    body = _body(HEAD + KERNEL + ALLOCATED.format(before="pass", over=over, shape="(128, 8)"))
    assert not any(isinstance(op, Opaque) for op in operations(body))
    allocated = [op for op in body if isinstance(op, Alloc)]
    read = [op.access.buffer for op in operations(body) if isinstance(op, Load)]
    assert [op.name for op in allocated if op.name != "a"] == read
    assert [op for op in operations(body) if isinstance(op, Alloc)] == allocated


@pytest.mark.parametrize(
    ("before", "over", "shape"),
    [
        ("t = x", "range(n)", "(128, 8)"),
        ("pass", "range(n)", "(128, 8 * (i + 1))"),
        ("pass", "range(n)", "(128, 8 * (j + 1))"),
    ],
)
def test_one_does_not_that_may_be_another_or_has_many_sizes(before: str, over: str, shape: str) -> None:
    body = _body(HEAD + KERNEL + ALLOCATED.format(before=before, over=over, shape=shape))
    assert any(isinstance(op, Opaque) for op in operations(body))


def test_what_is_not_understood_of_a_tile_of_a_loop_has_no_size_of_that_loop_behind_it() -> None:
    body = "    for i in nl.affine_range(4):\n        t = nl.load(x[nl.ds(128, i * 128), :])\n"
    body += "    y = nl.ndarray((128, 512), x.dtype, buffer=nl.shared_hbm)\n    nl.store(y, t * 2 + 1)\n    return y\n"
    made = _lowered(f"{LEGACY}@nki.jit\ndef k(x):\n{body}")
    found = [op for op in operations(made.kernels[0].body) if isinstance(op, Opaque)]
    assert [op.type for op in found if op.via == "*"] == [None]
