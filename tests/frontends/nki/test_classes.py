"""Classes of a port: objects, dataclasses, enumerations, methods, decorators, as far as sizes come out of them."""

from __future__ import annotations

import pytest

from portcheck.core.source import SourceFile
from portcheck.frontends.nki import NkiOptions, read_nki
from portcheck.ir import Alloc, Call, Const, Opaque, Program, kernel_operations
from portcheck.ir.algebra import polynomial_of

HEAD = """
import copy
import dataclasses
import functools
from dataclasses import dataclass, field
from enum import Enum, IntEnum, StrEnum, auto
from typing import ClassVar, NamedTuple, Optional

import nki
import nki.isa as nisa
import nki.language as nl
"""


def lowered(classes: str, body: str, parameters: str = "x") -> Program:
    lines = "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
    text = f"{HEAD}\n{classes}\n@nki.jit\ndef k({parameters}):\n{lines}"
    return read_nki(SourceFile("port.py", text), NkiOptions()).lower(["k"])


def sizes(classes: str, *expressions: str, body: str = "pass") -> list[int | str]:
    """What the expressions are, as the sizes of a tile."""
    shape = ", ".join(expressions)
    program = lowered(classes, f"{body}\nt = nl.ndarray(({shape},), dtype=nl.float32, buffer=nl.sbuf)")
    problems = [op for op in kernel_operations(program) if isinstance(op, Opaque | Call)]
    assert problems == []
    (made,) = [op for op in kernel_operations(program) if isinstance(op, Alloc)]
    found = [polynomial_of(size).constant for size in made.type.shape]
    return [int(number) if number is not None else "?" for number in found]


BASE = """
class Base:
    unit = 4
    table = {"a": 1}
    def __init__(self, n, m=2):
        self.n = n
        self.m = m
    def size(self):
        return self.n * self.unit
    @property
    def half(self):
        return self.n // 2
    @half.setter
    def half(self, value):
        self.n = value * 2
    @staticmethod
    def rounded(n, to=8):
        return (n + to - 1) // to * to
    @classmethod
    def of(cls, n):
        return cls(n * cls.unit)
class Derived(Base):
    unit = 8
    def __init__(self, n):
        super().__init__(n, m=16)
        self.extra = 3
    def size(self):
        return super().size() + self.extra
"""
DATA = """
@dataclass
class Tile(nl.NKIObject):
    rows: int
    cols: int = 512
    shared: ClassVar[int] = 9
    parts: list = field(default_factory=list)
    scale: int = field(default=5)
    area: int = field(init=False, default=0)
    def __post_init__(self):
        self.area = self.rows * self.cols
@dataclass(frozen=True)
class Wide(Tile):
    extra: int = 6
    def __post_init__(self):
        object.__setattr__(self, "area", 1)
"""
BARE = """
@dataclass
class Place(nl.NKIObject):
    start = None
    count = 4
    def end(self):
        return self.start + self.count
class Mixed(nl.NKIObject):
    rows: int
    scale = 2
class Square(nl.NKIObject):
    rows: int
    cols: int = 4
    def __post_init__(self):
        self.area = self.rows * self.cols
class Deep(Square):
    depth: int = 3
@dataclass
class Kept(nl.NKIObject):
    rows: int
class Deeper(Kept):
    depth: int = 3
class Doubled(nl.NKIObject):
    size = 2
    def __post_init__(self):
        self.size = self.size * 2
@dataclass
class Filled(Mixed):
    cols: int = 8
"""
ENUMS = """
class Kind(Enum):
    A = 0
    B = 7
    C = B
    @property
    def width(self):
        return 128 if self is Kind.A else 64
    @staticmethod
    def parse(name):
        return NAMES[name]
NAMES = {"a": Kind.A, "b": Kind.B}
WIDTHS = {Kind.A: 1, Kind.B: 2, (Kind.A, 3): 4}
class Level(IntEnum):
    LOW = auto()
    HIGH = auto()
class Word(StrEnum):
    UP = "up"
class Pair(NamedTuple):
    a: int
    b: int = 7
"""
OPERATORS = """
class Size:
    def __init__(self, n):
        self.n = n
    def __add__(self, other):
        return Size(self.n + (other.n if isinstance(other, Size) else other))
    __radd__ = __add__
    def __eq__(self, other):
        return self.n == other.n
    def __lt__(self, other):
        return self.n < other.n
    def __getitem__(self, place):
        return self.n * place
    def __len__(self):
        return self.n
    def __call__(self, by):
        return self.n // by
    def __bool__(self):
        return self.n > 4
    def __iter__(self):
        return iter([self.n, 1])
    def __contains__(self, number):
        return number == self.n
    def __enter__(self):
        self.n += 1
        return self
    def __exit__(self, *arguments):
        self.n -= 1
"""
DECORATED = """
def doubled(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs) * 2
    return inner
def times(count):
    def decorate(function):
        def inner(n):
            return function(n) * count
        return inner
    return decorate
@doubled
def four(n):
    return n * 4
@times(3)
def same(n):
    return n
@functools.lru_cache(maxsize=None)
def cached(n):
    return n + 1
@nki.jit
def kernel_helper(n):
    return n + 2
"""
CASES = [
    (
        "methods", BASE, "b = Base(8)",
        ["b.size()", "b.half", "b.m", "Base.rounded(9)", "Base.of(2).n"],
        [32, 4, 2, 16, 8],
    ),
    ("inherited", BASE, "d = Derived(2)", ["d.size()", "d.m", "d.rounded(1)", "Derived.of(1).n"], [19, 16, 8, 8]),
    ("property_is_set", BASE, "b = Base(8)\nb.half = 3", ["b.n"], [6]),
    ("own_before_shared", BASE, "b = Base(8)\nc = Base(8)\nb.unit = 1", ["b.size()", "c.size()"], [8, 32]),
    ("shared_table", BASE, "Base(1).table['a'] = 5", ["Base(2).table['a']"], [5]),
    ("two_names_of_one_object", BASE, "b = Base(8)\nc = b\nc.n = 5", ["b.n"], [5]),
    ("data", DATA, "t = Tile(2)", ["t.rows", "t.cols", "t.scale", "t.area", "t.shared"], [2, 512, 5, 1024, 9]),
    ("data_keywords", DATA, "t = Tile(cols=4, rows=3)", ["t.area"], [12]),
    (
        "data_lists_are_own", DATA, "t = Tile(2)\nu = Tile(2)\nt.parts.append(1)",
        ["len(t.parts)", "len(u.parts) + 1"],
        [1, 1],
    ),
    ("bare_names_are_given", BARE, "p = Place(start=3, count=5)", ["p.end()"], [8]),
    ("bare_names_are_the_class's", BARE, "p = Place(start=3)", ["p.end()"], [7]),
    ("bare_beside_annotated", BARE, "m = Mixed(rows=3, scale=5)\nn = Mixed(rows=3)", ["m.scale", "n.scale"], [5, 2]),
    ("undecorated_fields", BARE, "s = Square(3)\nt = Square(3, cols=5)", ["s.cols", "s.area", "t.area"], [4, 12, 15]),
    ("undecorated_inherited", BARE, "d = Deep(2, 4, depth=5)", ["d.area", "d.depth"], [8, 5]),
    ("undecorated_behind_decorated", BARE, "e = Deeper(7)", ["e.rows", "e.depth"], [7, 3]),
    ("completed", BARE, "d = Doubled()\ne = Doubled(size=5)", ["d.size", "e.size"], [4, 10]),
    ("bare_in_a_data_class", BARE, "f = Filled(cols=3, scale=5)", ["f.cols", "f.scale"], [3, 5]),
    ("data_inherited", DATA, "w = Wide(2, 3)", ["w.rows", "w.cols", "w.extra", "w.area"], [2, 3, 6, 1]),
    ("data_replaced", DATA, "t = dataclasses.replace(Tile(2), cols=8)", ["t.rows", "t.cols", "t.area"], [2, 8, 16]),
    ("data_equal", DATA, "", ["1 if Tile(2) == Tile(2) else 2", "1 if Tile(2) == Tile(3) else 2"], [1, 2]),
    ("data_as_table", DATA, "t = dataclasses.asdict(Tile(2))", ["t['rows']", "len(t)"], [2, 5]),
    ("copied", DATA, "t = Tile(2)\nu = copy.copy(t)\nu.rows = 3", ["t.rows", "u.rows"], [2, 3]),
    (
        "members", ENUMS, "",
        ["Kind.A.width", "Kind.B.width", "Kind(7).value", "Kind['B'].value", "len(Kind)"],
        [128, 64, 7, 7, 2],
    ),
    (
        "members_alike", ENUMS, "",
        ["1 if Kind.C is Kind.B else 2", "1 if Kind.A == Kind.B else 2", "1 if Kind.A else 2"],
        [1, 2, 1],
    ),
    ("members_as_keys", ENUMS, "", ["WIDTHS[Kind.B]", "WIDTHS[Kind.A, 3]", "WIDTHS[Kind.parse('a')]"], [2, 4, 1]),
    ("members_as_numbers", ENUMS, "", ["Level.LOW", "Level.HIGH * 4", "1 if Level.LOW < 2 else 2"], [1, 8, 1]),
    ("members_in_order", ENUMS, "a, b = [kind.value for kind in Kind]", ["a + 1", "b"], [1, 7]),
    ("members_as_texts", ENUMS, "", ["1 if Word.UP == 'up' else 2"], [1]),
    ("named_tuple", ENUMS, "p = Pair(3)\na, b = p", ["a", "b", "p.b", "p[0]", "len(p)"], [3, 7, 7, 3, 2]),
    (
        "operators", OPERATORS, "s = Size(4)\nt = Size(6)",
        ["(s + t).n", "(s + 1).n", "(1 + s).n", "s[3]", "len(s)", "s(2)"],
        [10, 5, 5, 12, 4, 2],
    ),
    (
        "compared", OPERATORS, "s = Size(4)",
        ["1 if s == Size(4) else 2", "1 if s < Size(3) else 2", "1 if s else 2"],
        [1, 2, 2],
    ),
    ("iterated", OPERATORS, "a, b = Size(4)", ["a", "b", "1 if 4 in Size(4) else 2"], [4, 1, 1]),
    ("entered", OPERATORS, "s = Size(4)\nwith s as t:\n    n = t.n", ["n", "s.n"], [5, 4]),
    (
        "asked", DATA, "t = Tile(2)",
        ["1 if hasattr(t, 'rows') else 2", "getattr(t, 'none', 9)", "1 if isinstance(t, Tile) else 2"],
        [1, 9, 1],
    ),
    ("asked_of_others", DATA, "", ["1 if isinstance(3, Tile) else 2", "1 if isinstance(Wide(1), Tile) else 2"], [2, 1]),
    (
        "type", DATA, "t = Tile(2)",
        ["type(t)(5).rows", "1 if type(t) is Tile else 2", "1 if callable(Tile) else 2"],
        [5, 1, 1],
    ),
    ("set_by_name", DATA, "t = Tile(2)\nsetattr(t, 'rows', 7)", ["t.rows"], [7]),
    ("decorated", DECORATED, "", ["four(2)", "same(5)", "cached(1)", "kernel_helper(1)"], [16, 15, 2, 3]),
    ("defaults_as_they_were", "", "n = 3\nf = lambda m=n: m\nn = 4", ["f()"], [3]),
    ("functions_in_a_loop", "", "fs = [lambda i=i: i for i in (1, 2)]", ["fs[0]()", "fs[1]()"], [1, 2]),
    (
        "dtype_keys", "BYTES = {nl.float32: 4, nl.bfloat16: 2}", "t = nl.bfloat16",
        ["BYTES[t]", "BYTES.get(nl.float32, 1)"],
        [2, 4],
    ),
    ("in_a_function", "", "class C:\n    n = 3\n    def get(self):\n        return self.n", ["C().get()"], [3]),
    (
        "class_names_are_no_names", "n = 5\nclass C:\n    n = 3\n    def get(self):\n        return n", "",
        ["C().get()"],
        [5],
    ),
    (
        "diamond", "class A:\n    n = 1\nclass B(A):\n    pass\nclass C(A):\n    n = 2\nclass D(B, C):\n    pass", "",
        ["D().n"],
        [2],
    ),
    ("circular_objects", BASE, "b = Base(1)\nc = Base(2)\nb.other = c\nc.other = b", ["b.other.other.n"], [1]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("classes", "body", "expressions", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_objects_are_what_python_makes_them(
    classes: str, body: str, expressions: list[str], expected: list[int]
) -> None:
    assert sizes(classes, *expressions, body=body or "pass") == expected


UNKNOWN = [
    ("decorator", "import other\n@other.wrap\ndef size(n):\n    return n\n", "size(4)"),
    ("base", "import other\nclass C(other.Thing):\n    def size(self):\n        return 4\n", "C(1).size()"),
    ("class_decorator", "import other\n@other.wrap\nclass C:\n    n = 4\n", "C().n"),
    ("missing", "class C:\n    pass\n", "C().n"),
    ("too_many", "class C:\n    def __init__(self, n):\n        self.n = n\n", "C(1, 2).n"),
    ("fields_of_python", "class C:\n    n: int = 3\n", "C(4).n"),
    ("bare_of_python", "@dataclass\nclass C:\n    n = None\n", "C(n=4).n"),
    ("bare_method", "class C(nl.NKIObject):\n    def n(self):\n        return 4\n", "C(n=4).n"),
    ("bare_missing", "class C(nl.NKIObject):\n    m = 3\n", "C(n=4).n"),
    ("bare_by_position", "class C(nl.NKIObject):\n    n = 3\n", "C(4).n"),
    ("metaclass", "class M(type):\n    pass\nclass C(metaclass=M):\n    n = 4\n", "C().n"),
]


@pytest.mark.parametrize(("classes", "expression"), [case[1:] for case in UNKNOWN], ids=[case[0] for case in UNKNOWN])
def test_what_is_not_seen_is_not_guessed(classes: str, expression: str) -> None:
    program = lowered(classes, f"t = nl.ndarray(({expression}, 8), dtype=nl.float32, buffer=nl.sbuf)")
    assert [op for op in kernel_operations(program) if isinstance(op, Opaque | Call)] != []
    made = [op for op in kernel_operations(program) if isinstance(op, Alloc)]
    assert not any(isinstance(op.type.shape[0], Const) for op in made)


def test_an_object_is_not_known_after_a_call_that_may_change_it() -> None:
    body = "b = Base(8)\nother.change(b)\nt = nl.ndarray((b.n, 8), dtype=nl.float32, buffer=nl.sbuf)"
    program = lowered("import other\n" + BASE, body)
    assert not any(isinstance(op, Alloc) for op in kernel_operations(program))


def test_an_object_changed_in_one_arm_is_undecided_after_the_branch() -> None:
    body = "b = Base(8)\nif flag:\n    b.n = 4\nt = nl.ndarray((b.n, 8), dtype=nl.float32, buffer=nl.sbuf)"
    program = lowered(BASE, body, "x, flag")
    (made,) = [op for op in kernel_operations(program) if isinstance(op, Alloc)]
    assert "select" in repr(made.type.shape[0]).lower()
