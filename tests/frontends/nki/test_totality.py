"""Whatever a port says, reading and lowering it ends, raises nothing, and gives a valid program."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from portcheck.core.source import SourceFile
from portcheck.frontends.nki import NkiModule, NkiOptions, read_nki
from portcheck.ir import operations, symbols_in
from portcheck.ir.verify import verify
from portcheck.ir.walk import expressions

HEAD = "import nki\nimport nki.language as nl\nimport nki.isa as nisa\n"
KERNEL = HEAD + "@nki.jit\ndef k(x, y):\n"

RMS_NORM = (
    HEAD
    + '''
P = 128


def load_broadcast(w, parts):
    dim = w.shape[0]
    tile = nl.ndarray((parts, dim), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=w.reshape((1, dim)).broadcast_to((parts, dim)))
    return tile


@nki.jit
def rmsnorm(x, w, eps=1e-6):
    """Rows on partitions."""
    rows, dim = x.shape
    y = nl.ndarray((rows, dim), dtype=x.dtype, buffer=nl.shared_hbm)
    w_all = load_broadcast(w, parts=P)
    for t in range((rows + P - 1) // P):
        live = min(P, rows - t * P)
        tiles = [nl.ndarray((P, dim), dtype=x.dtype, buffer=nl.sbuf) for _ in range(2)]
        nisa.dma_copy(dst=tiles[0][0:live, :], src=x[t * P:t * P + live, 0:dim])
        ss = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation_reduce(dst=tiles[1], op=nl.square, data=tiles[0], reduce_op=nl.add, reduce_res=ss)
        if dim > 4096:
            nisa.memset(ss, 0.0)
        nisa.activation(dst=ss, op=nl.rsqrt, data=ss, scale=1.0 / dim, bias=eps)
        nisa.scalar_tensor_tensor(dst=tiles[1], data=tiles[0], op0=nl.multiply, operand0=ss, op1=nl.multiply,
                                  operand1=w_all)
        nisa.dma_copy(dst=y[t * P:t * P + live, 0:dim], src=tiles[1][0:live, :])
    return y
'''
)

NASTY = {
    "empty": "",
    "blank": "\n\n   \n",
    "not_python": "__global__ void k(float* x) { x[0] = 1; }",
    "prose": "This is not a program at all, is it?",
    "nul": "x = 1\0\n",
    "nul_alone": "\0",
    "mark": "\ufeff" + KERNEL + "    return x\n",
    "mark_alone": "\ufeff",
    "windows_lines": (KERNEL + "    a = nl.load(x[0:128, 0:8])\n    return x\n").replace("\n", "\r\n"),
    "old_mac_lines": (KERNEL + "    return x\n").replace("\n", "\r"),
    "form_feed": HEAD + "\f\n@nki.jit\ndef k(x):\n    return x\n",
    "tabs": KERNEL.replace("    ", "\t") + "\treturn x\n",
    "unterminated_string": KERNEL + "    a = 'abc\n",
    "unterminated_call": KERNEL + "    nisa.dma_copy(dst=x, src=(\n",
    "bad_indent": KERNEL + "  a = 1\n      b = 2\n",
    "nested_parentheses": "x = " + "(" * 5000 + "1" + ")" * 5000 + "\n",
    "nested_in_kernel": KERNEL + "    a = " + "(" * 150 + "1" + ")" * 150 + "\n",
    "nested_brackets": KERNEL + "    a = " + "[" * 99 + "]" * 99 + "\n",
    "long_sum": KERNEL + "    a = " + " + ".join(["1"] * 20_000) + "\n",
    "long_sum_outside": "a = " + " + ".join(["b"] * 20_000) + "\n",
    "medium_sum": KERNEL + "    a = " + " + ".join(["x.shape[0]"] * 90) + "\n    return a\n",
    "long_attribute_chain": KERNEL + "    a = x" + ".a" * 3000 + "\n",
    "long_call_chain": KERNEL + "    a = x" + ".f()" * 500 + "\n",
    "long_else_if": KERNEL
    + "    if x.shape[0] == 0:\n        pass\n"
    + "".join(f"    elif x.shape[0] == {i}:\n        pass\n" for i in range(1, 300)),
    "deep_blocks": KERNEL + "".join("    " * (i + 1) + f"if x.shape[0] > {i}:\n"
    "" for i in range(60)) + "    " * 61 + "pass\n",
    "unary_chain": KERNEL + "    a = " + "-" * 4000 + "1\n",
    "not_chain": KERNEL + "    a = " + "not " * 3000 + "x\n",
    "long_comparison": KERNEL + "    assert " + " < ".join(["x.shape[0]"] * 400) + "\n",
    "doubling": KERNEL + "    a = x.shape[0]\n" + "    a = a + a\n" * 80 + "    return a\n",
    "doubling_list": KERNEL + "    a = [1]\n" + "    a = a + a\n" * 20 + "    return a\n",
    "doubling_tile": KERNEL + "    a = nl.load(x[0:8, 0:8])\n" + "    a = nl.add(a, a)\n" * 200 + "    return a\n",
    "power": KERNEL + "    a = 9 ** 9 ** 9 ** 9\n    b = 1 << 10 ** 9\n    c = [0] * 10 ** 9\n",
    "division_by_zero": KERNEL + "    a = 1 // 0\n    b = 1 % 0\n    c = 1.0 / 0\n"
    "    for i in range(0, 9, 0):\n        pass\n",
    "huge_integer": KERNEL + "    a = " + "9" * 4000 + "\n",
    "huge_float": KERNEL + "    a = 1e999\n    nisa.memset(x, a)\n    b = int(1e999)\n    c = int(float('nan'))\n",
    "endless_loop": KERNEL + "    while True:\n        a = 1\n",
    "endless_list": KERNEL + "    a = []\n    while True:\n        a.append(a)\n",
    "class_of_itself": "class A(A):\n    pass\n" + KERNEL + "    return A().x\n",
    "classes_of_each_other": "class A(B):\n    pass\nclass B(A):\n    pass\n" + KERNEL + "    return B().x\n",
    "class_of_many_ways": "class A0:\n    pass\nclass B0:\n    pass\n"
    + "".join(
        f"class A{i}(A{i - 1}, B{i - 1}):\n    x = 1\nclass B{i}(A{i - 1}, B{i - 1}):\n    y = 1\n"
        for i in range(1, 40)
    )
    + KERNEL
    + "    return A39().z, B39().y\n",
    "long_line_of_classes": "class A0:\n    pass\n"
    + "".join(f"class A{i}(A{i - 1}):\n    pass\n" for i in range(1, 900))
    + KERNEL
    + "    return A899().z\n",
    "many_members": "from enum import Enum\nclass E(Enum):\n"
    + "".join(f"    M{i} = {i}\n" for i in range(1500))
    + KERNEL
    + "    return E.M7.value\n",
    "property_of_itself": "class A:\n    @property\n    def x(self):\n        return self.x\n"
    + KERNEL
    + "    return A().x\n",
    "attributes_of_themselves": "class A:\n    def __getattr__(self, name):\n        return self.other\n"
    + KERNEL
    + "    return A().x\n",
    "object_in_its_field": "from dataclasses import dataclass, field\n@dataclass\n"
    "class A:\n    a: 'A' = field(default_factory=lambda: A())\n"
    + KERNEL
    + "    return A().a\n",
    "object_in_itself": "class A:\n    pass\n" + KERNEL + "    a = A()\n    a.a = a\n    f(a)\n    return a\n",
    "parameter_of_itself": "import nki\nfrom dataclasses import dataclass\n"
    "@dataclass\nclass A:\n    a: 'A'\n    b: 'A'\n"
    "@nki.jit\ndef k(x: A):\n    return x.a.b.a.b.a.b\n",
    "raising_annotation": "import nki\n@nki.jit\ndef k(x: (1).y[2](3), y: 'a.b(' = [][0]):\n    return x\n",
    "decorator_of_itself": "@f\ndef f(g):\n    return f\n" + KERNEL + "    return f(1)\n",
    "list_in_itself": KERNEL + "    a = []\n    a.append(a)\n    f(a)\n    return a\n",
    "nested_ranges": KERNEL
    + "    a = []\n"
    + "".join("    " * (i + 1) + f"for i{i} in range(60):\n" for i in range(6))
    + "    " * 7
    + "a.append(1)\n",
    "recursion": HEAD + "def f(a):\n    return f(a)\n@nki.jit\ndef k(x):\n    return f(x)\n",
    "mutual_recursion": HEAD
    + "def f(a):\n    return g(a) + g(a)\ndef g(a):\n    return f(a) + f(a)\n@nki.jit\ndef k(x):\n    return f(x)\n",
    "recursive_constants": HEAD + "A = B\nB = A\n@nki.jit\ndef k(x):\n    return nl.ndarray((A, B))\n",
    "lambdas_that_double": KERNEL
    + "    f = lambda a: a\n"
    + "".join(f"    f{i} = lambda a: f{i - 1 if i else ''}(f{i - 1 if i else ''}(a))\n" for i in range(30))
    + "    nisa.memset(x, f29(y))\n",
    "recursive_lambda": KERNEL + "    f = lambda a: f(a)\n    return f(x)\n",
    "star_imports": "from nki import *\nfrom nki.language import *\nfrom nki.isa import *\n@jit\ndef k(x):\n"
    "    dma_copy(x, x)\n",
    "relative_imports": "from . import a\nfrom .. import *\nimport nki\n@nki.jit\ndef k(x):\n    a(x)\n",
    "unknown_decorators": "import nki\n@a.b(c)[d]\n@nki.jit\n@e\ndef k(x):\n    pass\n",
    "decorator_of_nothing": "import nki\n@nki.jit\nclass K:\n    pass\n",
    "async_kernel": HEAD + "@nki.jit\nasync def k(x):\n    async for i in x:\n        await i\n"
    "    async with x as y:\n        pass\n",
    "same_name_twice": KERNEL + "    return x\n@nki.jit\ndef k(z):\n    return z\n",
    "starred": HEAD + "@nki.jit\ndef k(*a, **b):\n    f(*a, **b)\n    nl.load(*a)\n    c, *d = a\n    return c\n",
    "no_parameters": HEAD + "@nki.jit\ndef k():\n    return nl.ndarray((1, 2), dtype=nl.float32)\n",
    "odd_statements": KERNEL
    + "    global g\n    del x\n    try:\n        pass\n    except* ValueError:\n        pass\n"
    "    match y:\n        case 1:\n            pass\n"
    + "    with nl.no_reorder() as q:\n        pass\n    yield x\n",
    "walrus": KERNEL + "    if (n := x.shape[0]) > 3:\n        pass\n    return n\n",
    "odd_arguments": KERNEL
    + "    nisa.dma_copy()\n    nisa.dma_copy(1, 2, 3, 4, 5, 6, 7, 8, 9)\n    nisa.dma_copy(dst=None, src=None)\n"
    + "    nisa.tensor_tensor(dst=x, data1=1, data2='a', op=nl)\n    nl.ndarray()\n"
    "    nl.ndarray('a', 'b', 'c')\n    nl.nonsense(x)\n"
    + "    nisa.nc_matmul(x, x, x)\n    nisa.tensor_reduce(dst=x, op=nl.add, data=x, axis=9)\n    nl.ds()\n"
    "    nl.load(x)[0][0][0]\n"
    + "    x[::0]\n    x[..., ...]\n    x[1, 2, 3, 4]\n    x.reshape()\n    x.reshape((0,))\n"
    "    x.ap(pattern=[[1]])\n    y['a'] = 1\n",
    "odd_indices": "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\n@nki.jit\ndef k(x):\n"
    "    i = nl.arange(0)[None]\n    j = nl.arange(4, 2)\n    a = nl.load(x[i, j], mask=i & j & x)\n"
    "    nl.mgrid[0]\n    nl.mgrid[0:3, :]\n"
    "    x[a] = a\n    x[a, a] = x[a]\n    nl.mean(a, axis=[])\n    nl.arange(128)[:, None][:, None, 3]\n"
    "    a[i] += 1\n    a @ a\n    a ** 2\n    ~a\n    not a\n",
    "non_ascii": HEAD + "# \u00e9\u4e2d\U0001f600\n@nki.jit\ndef k\u00e9(x, \u4e2d):\n"
    "    \u4e2d = nl.load(x[0:1, 0:1])\n    return \u4e2d\n",
    "surrogate": "# \ud800\n" + KERNEL + "    return x\n",
    "repeated_parameter": HEAD + "@nki.jit\ndef k(x, x):\n    return x\n",
    "free_name_and_loop": KERNEL + "    a = nl.floor(x[nl.ds(i, 8), :])\n    for i in range(4):\n"
    "        nisa.dma_copy(dst=a, src=x[i:i + 8, :])\n    nisa.memset(y[nl.ds(i, 8), :], j)\n"
    "    for j in range(4):\n        nisa.memset(y[nl.ds(j, 8), :], 0.0)\n",
    "free_names_of_axes": KERNEL + "    a = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.sbuf)\n"
    "    nisa.memset(a, p)\n    nisa.memset(a, f + f1)\n    nl.trunc(p)\n    nisa.memset(a, dim0)\n",
    "free_name_and_index": "import neuronxcc.nki.language as nl\ndef k(x):\n    t = nl.load(x[i_p, i_f])\n"
    "    i_f = nl.arange(8)[None, :]\n    i_p = nl.arange(8)[:, None]\n    u = nl.load(x[i_p, i_f], mask=i_p < q)\n"
    "    q = nl.arange(8)\n    nl.store(x[i_p, q], u)\n",
    "reduced_scalar": KERNEL + "    nl.all(x=128, axis=None)\n    nl.softmax(2.0)\n    nl.sum(1, axis=0)\n",
    "store_of_a_scalar": "import neuronxcc.nki.language as nl\ndef k(y, n):\n"
    "    nl.store(y, nl.bitwise_xor(i * 128 + n, n))\n",
    "mask_that_is_a_number": "import neuronxcc.nki.language as nl\ndef k(x):\n    t = nl.load(x[0:8, 0:8])\n"
    "    nl.add(t, t, mask=nl.arange(8))\n    nl.store(x, t, mask=nl.arange(8)[:, None])\n    nl.exp(t, mask=3)\n",
    "half_an_element": KERNEL + "    a = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.sbuf)\n"
    "    nisa.dma_copy(dst=x[0:8, 0:1], src=a[0:8, 0:0.5])\n    a[0.5]\n    x[0:8, 0:8][1.5:2.5]\n",
    "calls_that_double": HEAD + "".join(f"def f{i}(a):\n    f{i + 1}(a)\n    f{i + 1}(a)\n" for i in range(40))
    + "def f40(a):\n    nisa.memset(a, 0.0)\n@nki.jit\ndef k(x):\n    f0(x)\n",
    "tuples_that_double": KERNEL + "    a = (1,)\n" + "    a = a + a\n" * 60 + "    nl.ndarray(a)\n",
    "lists_of_themselves_twice": KERNEL + "    a = [1]\n" + "    a = [a, a]\n" * 60
    + "    nl.ndarray(a)\n    f(a)\n    nisa.memset(x, a)\n    print(f'{a}', str(a))\n    return a\n",
    "tuples_of_themselves_twice": KERNEL + "    a = b = (1, 2)\n" + "    a, b = (a, a), (b, b)\n" * 50
    + "    d = {a: 1}\n    if a == b:\n        nisa.memset(x, d[b])\n    return a\n",
    "unknowns_of_themselves_thrice": KERNEL + "    a = f(x)\n"
    + "    a = g(a, a, a)\n" * 60 + "    nisa.memset(a, 0.0)\n",
    "ranges_without_end": KERNEL + "    a = [i for i in range(10 ** 12)]\n    b = list(range(10 ** 30))\n    c = []\n"
    "    for i in range(1 << 64):\n        c.append(i)\n    d = [i for i in range(1 << 64)]\n",
    "products_without_end": KERNEL + "    a = [0] * 10 ** 9\n    b = 'x' * 10 ** 9\n    c = (0,) * 2 ** 40\n"
    "    d = 3 ** 3 ** 33\n    e = f'{1:1000000000}'\n    f = '%1000000000d' % 1\n    nl.ndarray(b)\n",
    "what_would_run": KERNEL + "    eval('1')\n    exec('a = 1')\n    __import__('os').system('true')\n"
    "    x.__class__.__bases__[0].__subclasses__()\n    globals()['a'] = 1\n    type('A', (), {})()\n",
    "many_lines": KERNEL + "    a = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.sbuf)\n" + "    # a\n" * 5_000
    + "    nisa.memset(a, 0.0)\n" * 100,
    "escape_strings": KERNEL + "    a = '\\ud800'\n    b = b'\\xff'\n    c = f'{x!r:>{y}}'\n    d = 'a' 'b' f'{x}'\n",
}  # fmt: skip


def lowered(text: str) -> NkiModule:
    module = read_nki(SourceFile("port.py", text), NkiOptions())
    program = module.lower([kernel.name for kernel in module.kernels])
    assert verify(program) == ()
    return module


@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY)
def test_nasty_text_is_read_without_an_exception(text: str) -> None:
    lowered(text)


FUZZED = {
    "a mask of more dimensions": "    i, j = nl.mgrid[0:128, 0:512]\n    t = nl.load(x[-1], mask=i < x.shape[0])\n",
}


@pytest.mark.parametrize("version", ["0.1", "0.2", "0.6"])
@pytest.mark.parametrize("body", FUZZED.values(), ids=FUZZED)
def test_what_fuzzing_found_is_consistent(body: str, version: str) -> None:
    text = f"import neuronxcc.nki.language as nl\nfrom neuronxcc import nki\n@nki.jit\ndef k(x):\n{body}"
    program = read_nki(SourceFile("port.py", text), NkiOptions(version=version)).lower(["k"])
    assert verify(program) == ()
    [kernel] = program.kernels
    symbols = {name for op in operations(kernel.body) for item in expressions(op) for name in symbols_in(item)}
    assert not any(name.startswith("$") for name in symbols)


UNREADABLE = [
    "repeated_parameter",
    "not_python",
    "nul",
    "nested_parentheses",
    "long_sum",
    "unterminated_string",
    "unterminated_call",
]


@pytest.mark.parametrize("name", UNREADABLE)
def test_unreadable_text_is_a_problem(name: str) -> None:
    module = lowered(NASTY[name])
    assert len(module.problems) == 1
    assert module.kernels == ()


def test_kernel_nested_too_deeply_is_kept_opaque() -> None:
    module = lowered(NASTY["deep_blocks"])
    assert [kernel.name for kernel in module.kernels] == ["k"]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.integers(0, len(RMS_NORM)), st.integers(0, len(RMS_NORM)), st.sampled_from(["", "(", "\n", "x", "\0", ")", ":"])
)
def test_mutilated_port_is_read_without_an_exception(start: int, stop: int, filler: str) -> None:
    lowered(RMS_NORM[:start] + filler + RMS_NORM[max(start, stop) :])


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_port_with_lines_removed_is_read_without_an_exception(data: st.DataObject) -> None:
    lines = RMS_NORM.splitlines()
    kept = data.draw(st.lists(st.sampled_from(range(len(lines))), unique=True, min_size=20))
    lowered("\n".join(lines[position] for position in sorted(kept)))


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.text(max_size=200))
def test_any_text_as_a_kernel_body_is_read_without_an_exception(text: str) -> None:
    lowered(KERNEL + "".join(f"    {line}\n" for line in text.splitlines() or ["pass"]))


def test_nothing_of_the_port_is_run(capsys: pytest.CaptureFixture[str]) -> None:
    lowered(KERNEL + "    print('ran')\n    open('/tmp/ran', 'w')\n    __import__('os').system('true')\nprint('ran')\n")
    assert capsys.readouterr().out == ""
