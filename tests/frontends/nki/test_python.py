"""Python itself, as far as ports use it: what a kernel's constants come to."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import kernel, opaques, stores, value_of

from portcheck.ir import Alloc, Const, Store, operations

NUMBERS = {
    "f-string": ("c = 3\nd = {'q3': 5.0}\nnisa.memset(a, d[f'q{c}'])", 5.0),
    "f-string with a format": ("d = {'q03': 5.0}\nnisa.memset(a, d[f'q{3:02d}'])", 5.0),
    "f-string with braces": ("d = {'{3}': 5.0}\nnisa.memset(a, d[f'{{{3}}}'])", 5.0),
    "strings side by side": ("d = {'qr': 5.0}\nnisa.memset(a, d['q' 'r'])", 5.0),
    "string methods": ("d = {'qr': 5.0}\nnisa.memset(a, d[' Q_r'.strip().lower().replace('_', '')])", 5.0),
    "split and join": ("d = {'q-r': 5.0}\nnisa.memset(a, d['-'.join('q,r'.split(','))])", 5.0),
    "percent": ("d = {'q3': 5.0}\nnisa.memset(a, d['q%d' % 3])", 5.0),
    "in a string": ("nisa.memset(a, 5.0 if 'q' in 'pqr' else 6.0)", 5.0),
    "in a dictionary": ("d = {'q': 1}\nnisa.memset(a, 5.0 if 'q' in d and 'r' not in d else 6.0)", 5.0),
    "chained comparison": ("c = 3\nnisa.memset(a, 5.0 if 1 < c <= 3 else 6.0)", 5.0),
    "a starred target": ("p, *q = (1.0, 2.0, 5.0)\nnisa.memset(a, q[-1])", 5.0),
    "starred in front": ("*p, q = [1.0, 2.0, 5.0]\nnisa.memset(a, q + 0.0 * len(p))", 5.0),
    "a dictionary unpacked": ("d = {**{'q': 4.0}, 'q': 5.0}\nnisa.memset(a, d['q'])", 5.0),
    "a dictionary comprehension": ("d = {i: float(i) for i in range(9) if i % 2}\nnisa.memset(a, d[5])", 5.0),
    "a set comprehension": ("nisa.memset(a, float(len({i // 2 for i in range(10)})))", 5.0),
    "two clauses": ("c = [i * j for i in range(3) for j in range(4) if j > i]\nnisa.memset(a, c[5] - 1.0)", 5.0),
    "divmod": ("p, q = divmod(17, 4)\nnisa.memset(a, float(p + q))", 5.0),
    "sum": ("nisa.memset(a, float(sum([1, 2], 2)))", 5.0),
    "sorted by a key": ("nisa.memset(a, sorted([1.0, 5.0, 2.0], key=lambda v: -v)[0])", 5.0),
    "max by a key": ("nisa.memset(a, max([(1, 5.0), (0, 2.0)], key=lambda v: v[0])[1])", 5.0),
    "max with a default": ("nisa.memset(a, max([], default=5.0))", 5.0),
    "any and all": ("nisa.memset(a, 5.0 if any([False, True]) and all([1, 2]) else 6.0)", 5.0),
    "map and filter": ("nisa.memset(a, list(filter(lambda v: v > 4, map(lambda v: v + 1.0, [1.0, 4.0])))[0])", 5.0),
    "next": ("nisa.memset(a, next((v for v in [1.0, 5.0] if v > 2), 0.0))", 5.0),
    "isinstance": ("nisa.memset(a, 5.0 if isinstance((1, 2), (list, tuple)) > isinstance('', int) else 6.0)", 5.0),
    "round": ("nisa.memset(a, float(round(5.4)))", 5.0),
    "walrus": ("nisa.memset(a, 5.0 if (c := 3) == 3 and c + 1 == 4 else 6.0)", 5.0),
    "enumerate from one": ("c = [i * v for i, v in enumerate([1.0, 2.5], 1)]\nnisa.memset(a, c[1])", 5.0),
    "nonlocal": ("c = 1.0\ndef f():\n    nonlocal c\n    c = 5.0\nf()\nnisa.memset(a, c)", 5.0),
    "try": ("try:\n    c = 5.0\nexcept ValueError:\n    c = 6.0\nelse:\n    c += 0.0\nnisa.memset(a, c)", 5.0),
    "try and finally": ("try:\n    c = 6.0\nfinally:\n    c = 5.0\nnisa.memset(a, c)", 5.0),
    "match": ("match 'q':\n    case 'p' | 'r':\n        c = 6.0\n    case z:\n        c = 5.0\nnisa.memset(a, c)", 5.0),
    "del": ("c = [6.0, 5.0]\ndel c[0]\nnisa.memset(a, c[0])", 5.0),
    "discard": ("c = {1, 2, 3}\nc.discard(2)\nc.discard(7)\nnisa.memset(a, float(sum(c) + len(c) - 1))", 5.0),
    "bit_length": ("c = 31\nnisa.memset(a, float(c.bit_length()))", 5.0),
    "a set counts once": ("c = set()\nc.add(1)\nc.add(1)\nnisa.memset(a, float(len(c) + 4))", 5.0),
    "pop and setdefault": ("d = {}\nd.setdefault('q', []).append(5.0)\nnisa.memset(a, d.pop('q').pop(0))", 5.0),
    "update": ("d = {'q': 1.0}\nd.update({'q': 2.0}, r=5.0)\nnisa.memset(a, d['r'])", 5.0),
    "closures of a comprehension": ("f = [lambda: i for i in (1.0, 5.0)]\nnisa.memset(a, f[0]())", 5.0),
    "closures with a default": ("f = [lambda i=i: i for i in (5.0, 1.0)]\nnisa.memset(a, f[0]())", 5.0),
    "walrus in a comprehension": ("c = [z for v in (1.0, 5.0) if (z := v)]\nnisa.memset(a, z)", 5.0),
    "a generator": (
        "def f(n):\n    for i in range(n):\n        if i > 1:\n            yield i, 0.5\n    yield 1, 3.0\n"
        "nisa.memset(a, sum([i * v for i, v in f(4)], -0.5))", 5.0,
    ),
    "a generator from generators": (
        "def f(n):\n    if n:\n        yield n\n        yield from f(n - 1)\nnisa.memset(a, float(sum(f(2)) + 2))", 5.0,
    ),
    "is": ("c = None\nnisa.memset(a, 5.0 if c is None and 3 is not None else 6.0)", 5.0),
}  # fmt: skip


@pytest.mark.parametrize(("body", "value"), NUMBERS.values(), ids=NUMBERS)
def test_what_is_known_is_evaluated(body: str, value: float) -> None:
    found = value_of(body, "import math, functools, itertools")
    assert isinstance(found, Const)
    assert found.value == value


LIBRARY = {
    "partial": "f = functools.partial(pow, 5)\nnisa.memset(a, float(f(1)))",
    "reduce": "nisa.memset(a, functools.reduce(lambda p, q: p + q, [1.0, 4.0]))",
    "product": "nisa.memset(a, [float(p + q) for p, q in itertools.product((1, 2), (0, 3))][-1])",
    "chain": "nisa.memset(a, list(itertools.chain([1.0], [5.0]))[1])",
    "gcd": "nisa.memset(a, float(math.gcd(15, 10)))",
    "a number's name": "nisa.memset(a, float(math.floor(math.pi) + math.ceil(math.e) - 1) + 1.0 / math.inf)",
    "a number's name in arrays": "import numpy as np\nnisa.memset(a, float(math.floor(np.pi) + 2))",
    "a number's name imported": "from math import pi as p\nnisa.memset(a, float(math.floor(p) + 2))",
}


@pytest.mark.parametrize("body", LIBRARY.values(), ids=LIBRARY)
def test_functions_of_the_standard_library_are_evaluated(body: str) -> None:
    written = value_of(body, "import math, functools, itertools")
    assert getattr(written, "value", None) == 5.0


UNKNOWN = {
    "a text that is not known": "d = {'': 1.0}\nif f'{n}' == '':\n    nisa.memset(a, 0.0)",
    "an object that is not known": "c = n.q\nif c is n.r:\n    nisa.memset(a, 0.0)",
    "a set of what is not known": "if len({n, 3}) == 2:\n    nisa.memset(a, 0.0)",
    "a case that is not known": "match n:\n    case 3:\n        nisa.memset(a, 0.0)",
}


@pytest.mark.parametrize("body", UNKNOWN.values(), ids=UNKNOWN)
def test_what_is_not_known_decides_nothing(body: str) -> None:
    assert all(op.access.buffer != "a" for op in kernel(body).body if op in stores(kernel(body).body))


def test_a_try_whose_body_may_raise_is_opaque() -> None:
    made = kernel("try:\n    if n > 3:\n        raise ValueError\n    nisa.memset(a, 0.0)\nexcept ValueError:\n"
                  "    nisa.memset(a, 1.0)")  # fmt: skip
    assert [op.writes for op in opaques(made)] == [("a",)]


def test_a_helper_that_raises_says_what_holds() -> None:
    made = kernel("def f():\n    raise ValueError('no')\nif n > 3:\n    f()\nnisa.memset(a, 0.0)")
    assert opaques(made) == []
    assert [type(op).__name__ for op in made.body] == ["Alloc", "Alloc", "Assume", "Store"]


@pytest.mark.parametrize("given", ["nisa.memset(a, 0.0)\n    yield 1", "yield 1\n    nisa.memset(b, 0.0)"])
def test_a_generator_that_computes_takes_turns_with_its_caller_and_is_not_followed(given: str) -> None:
    made = kernel(f"def f():\n    {given}\nfor i in f():\n    nisa.memset(a, 1.0)")
    assert opaques(made)
    assert not stores(made.body)


TUPLES = "from collections import namedtuple\nPair = namedtuple('Pair', 'first second', defaults=[2])\n"


@pytest.mark.parametrize(
    ("body", "before", "value"),
    [
        ("nisa.memset(a, Pair(1, 3).second)", TUPLES, 3),
        ("nisa.memset(a, Pair(1).second)", TUPLES, 2),
        ("nisa.memset(a, Pair(second=4, first=1)[1])", TUPLES, 4),
        ("one, other = Pair(5, 6)\nnisa.memset(a, one)", TUPLES, 5),
        ("nisa.memset(a, [1, 2, 3, 4][slice(1, 3)][1])", "", 3),
        ("nisa.memset(a, [1, 2, 3, 4][slice(None, None, 2)][1])", "", 3),
        ("nisa.memset(a, [1, 2, 3, 4][slice(2)][-1])", "", 2),
    ],
)
def test_tuples_with_names_and_slices_are_evaluated(body: str, before: str, value: int) -> None:
    made = value_of(body, before)
    assert isinstance(made, Const)
    assert made.value == value


def test_one_of_two_tuples_is_unpacked() -> None:
    made = kernel("one, other = (x.shape[0], n) if n > 3 else x.shape\nnisa.memset(a, other)")
    assert opaques(made) == []


@pytest.mark.parametrize(
    "size",
    [
        "int(elsewhere(3))",
        "min(elsewhere(3), 4)",
        "max([i for i in range(n) if n % i == 0])",
        "len(elsewhere(3))",
        "sorted(elsewhere(3)).index(n)",
    ],
)
def test_what_can_only_be_a_number_is_one_though_nobody_knows_which(size: str) -> None:
    made = kernel(f"c = nl.ndarray((128, {size}), dtype=nl.float32, buffer=nl.sbuf)\nnisa.memset(c, 0.0)")
    assert any(isinstance(op, Alloc) and op.name == "c" for op in operations(made.body))


@pytest.mark.parametrize(
    "size", ["elsewhere(3)", "sum(elsewhere(3))", "elsewhere([a])[0]", "elsewhere(3).index(n)", "sorted(elsewhere(3))"]
)
def test_what_may_be_something_else_is_not_taken_for_a_number(size: str) -> None:
    made = kernel(f"c = nl.ndarray((128, {size}), dtype=nl.float32, buffer=nl.sbuf)\nnisa.memset(c, 0.0)")
    assert opaques(made)


def test_a_number_that_may_differ_from_round_to_round_is_not_one_symbol() -> None:
    loop = "for i in range(n):\n    c = nl.ndarray((128, int(elsewhere(i))), dtype=nl.float32, buffer=nl.sbuf)"
    assert opaques(kernel(loop))


def test_the_limits_of_a_format_are_numbers() -> None:
    made = value_of("nisa.memset(a, np.finfo(np.float32).min)", "import numpy as np")
    assert isinstance(made, Const)
    assert made.value < -3e38


@pytest.mark.parametrize("text", ["f'{n}'", "str(n)", "f'{n}' + 'q'", "'q%d' % n"])
def test_a_text_that_is_not_known_is_not_none_and_no_number(text: str) -> None:
    made = kernel(f"c = {text}\nif c is None:\n    nisa.memset(a, 0.0)\nif c is not None:\n    nisa.memset(b, 0.0)\n")
    assert [type(op) for op in made.body if not isinstance(op, Alloc)] == [Store]
    assert [op.access.buffer for op in stores(made.body)] == ["b"]
    assert opaques(kernel(f"c = {text}\nnisa.memset(a[:, c:], 0.0)"))
