"""Kernels made by calls, several of one name, launched with grids, and kernels inside functions."""

from __future__ import annotations

import pytest

from portcheck.core.source import SourceFile
from portcheck.frontends.nki import NkiModule, NkiOptions, read_nki
from portcheck.ir import Const, kernel_operations
from portcheck.ir.text import print_program

HEAD = "import nki\nimport nki.isa as nisa\nimport nki.language as nl\n"
BODY = (
    "    t = nl.ndarray(({size}, 8), dtype=nl.float32, buffer=nl.sbuf)\n"
    "    nisa.memset(dst=t, value=0.0)\n    return t\n"
)
PLAIN = "def f(x):\n" + BODY.format(size=128)
KERNEL = "@nki.jit\n" + PLAIN


def read(text: str) -> NkiModule:
    return read_nki(SourceFile("port.py", HEAD + text), NkiOptions())


def names(text: str) -> list[str]:
    return [kernel.name for kernel in read(text).kernels]


NAMES = [
    ("assigned", PLAIN + "k = nki.jit(f)\n", ["f"]),
    ("assigned_with_a_mode", PLAIN + "k = nki.jit(mode='trace')(f)\n", ["f"]),
    ("launched_at_once", PLAIN + "def host(x):\n    return nki.jit(f)[2](x)\n", ["f"]),
    ("rebound", PLAIN + "f = nki.jit(f)\n", ["f"]),
    ("beside_a_decorated_one", "@nki.jit\ndef a(x):\n    pass\n" + PLAIN + "k = nki.jit(f)\n", ["a", "f"]),
    ("two_of_a_name", KERNEL + KERNEL, ["f", "f#2"]),
    (
        "one_in_each_arm",
        "if flag:\n    @nki.jit\n    def k(x): pass\nelse:\n    @nki.jit\n    def k(x): pass\n",
        ["k", "k#2"],
    ),
    ("in_try", "try:\n    @nki.jit\n    def k(x): pass\nexcept ImportError:\n    pass\n", ["k"]),
    ("with_others", "import other\n@other.wrap\n@nki.jit\n@other.below(1)\ndef k(x): pass\n", ["k"]),
    ("asynchronous", "@nki.jit\nasync def k(x): pass\n", ["k"]),
    ("other_call", PLAIN + "import other\nk = other.jit(f)\ndef g(x):\n    f(x)\n    nl.load(x)\n", ["g"]),
]


@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in NAMES], ids=[case[0] for case in NAMES])
def test_kernels_are_found_however_they_are_made(text: str, expected: list[str]) -> None:
    assert names(text) == expected


def test_kernels_of_one_name_are_lowered_apart() -> None:
    text = KERNEL + KERNEL.replace("128", "64")
    module = read(text)
    program = module.lower(["f", "f#2"])
    assert [kernel.name for kernel in program.kernels] == ["f", "f#2"]
    assert "float32[128:int64, 8:int64]" in print_program(module.lower(["f"]))
    assert "float32[64:int64, 8:int64]" in print_program(module.lower(["f#2"]))


def test_decorators_that_are_not_followed_are_said() -> None:
    program = read("import other\n@other.wrap(1)\n@nki.jit\ndef k(x): pass\n").lower(["k"])
    assert program.notes == ("k is also decorated by other.wrap(1), which is not followed",)
    assert read(KERNEL).lower(["f"]).notes == ()


GRIDS = [
    ("number", KERNEL + "def host(x):\n    return f[2](x)\n", (2,)),
    ("tuple", KERNEL + "def host(x):\n    return f[2, 4](x)\n", (2, 4)),
    ("cores", KERNEL + "def host(x):\n    return f[nl.nc(2)](x)\n", (2,)),
    ("cores_and_programs", KERNEL + "def host(x):\n    return f[nl.spmd_dim(nl.nc(2), 4)](x)\n", (8,)),
    ("name", KERNEL + "N = 4\ndef host(x):\n    return f[N](x)\n", (4,)),
    ("assigned_kernel", PLAIN + "k = nki.jit(f)\nk[3](1)\n", (3,)),
    ("at_once", PLAIN + "nki.jit(f)[3](1)\n", (3,)),
    ("not_known", KERNEL + "def host(x, n):\n    return f[n](x)\n", ()),
    ("several", KERNEL + "def host(x):\n    f[2](x)\n    f[4](x)\n", ()),
    ("twice_the_same", KERNEL + "def host(x):\n    f[2](x)\n    f[2](x)\n", (2,)),
    ("none", KERNEL + "def host(x):\n    return f(x)\n", ()),
    ("not_launched", KERNEL + "def host(x):\n    return f[2]\n", ()),
]


@pytest.mark.parametrize(("text", "grid"), [case[1:] for case in GRIDS], ids=[case[0] for case in GRIDS])
def test_a_launch_has_the_grid_that_the_file_states(text: str, grid: tuple[int, ...]) -> None:
    (launch,) = read(text).lower(["f"]).launches
    assert tuple(extent.value for extent in launch.grid if isinstance(extent, Const)) == grid


INSIDE = [
    ("default", "def make(size=64):\n{kernel}    return k\n", "size", "float32[64:int64, 8:int64]"),
    ("assigned", "def make():\n    size = 64\n{kernel}    return k\n", "size", "float32[64:int64, 8:int64]"),
    ("helper", "def make():\n    def size():\n        return 64\n{kernel}", "size()", "float32[64:int64, 8:int64]"),
    (
        "imported",
        "def make():\n    import nki.language as n\n{kernel}",
        "8 if n.float32 == nl.float32 else 4",
        "[8:int64",
    ),
    ("not_known", "def make(size):\n{kernel}    return k\n", "size", "float32[make.size, 8:int64]"),
    ("bound_behind", "def make():\n{kernel}    size = 64\n", "size", "float32[make.size, 8:int64]"),
]


@pytest.mark.parametrize(
    ("around", "size", "expected"), [case[1:] for case in INSIDE], ids=[case[0] for case in INSIDE]
)
def test_a_kernel_sees_what_the_function_around_it_binds(around: str, size: str, expected: str) -> None:
    kernel = "@nki.jit\ndef k(x):\n" + BODY.format(size=size)
    inner = "".join(f"    {line}\n" for line in kernel.rstrip("\n").split("\n"))
    assert expected in print_program(read(around.format(kernel=inner)).lower(["k"]))


def test_an_assumed_default_is_said() -> None:
    text = "def make(size=64):\n    @nki.jit\n    def k(x):\n        return x\n    return k\n"
    assert read(text).lower(["k"]).notes == ("size of make is taken to be its default",)


def test_what_runs_around_a_kernel_is_no_part_of_it() -> None:
    text = "def make():\n    t = nl.zeros((4, 4), nl.float32)\n    @nki.jit\n    def k(x):\n        return x\n"
    assert [type(op).__name__ for op in kernel_operations(read(text).lower(["k"]))] == ["Return"]
