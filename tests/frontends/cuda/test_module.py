"""Files: kernels found, templates instantiated, launches read, headers included, nothing raised."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.frontends.cuda.reading import not_understood, program

from portcheck.core.dtype import FLOAT16, FLOAT32, INT32
from portcheck.core.errors import InputError
from portcheck.core.source import Position, SourceFile
from portcheck.frontends.cuda import CudaOptions, read_cuda
from portcheck.frontends.cuda.parsing.repair import read_unit
from portcheck.ir import Alloc, Call, Compute, Launch, Opaque, Operator, Store, operations
from portcheck.ir.expr import Apply, Const, Expr, Symbol
from portcheck.ir.verify import verify

SCALE = "__global__ void scale(float* x, const float* w, int n, float a) {{ int i = threadIdx.x; {} }}"
ROW_SUM = """
template <int BLOCK>
__global__ void row_sum(const half* x, float* y, int cols) {
  __shared__ float partial[BLOCK / 32];
  float total = 0.f;
  for (int c = threadIdx.x; c < cols; c += BLOCK) total += __half2float(x[blockIdx.x * cols + c]);
  for (int o = 16; o > 0; o >>= 1) total += __shfl_xor_sync(0xffffffff, total, o);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = total;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < BLOCK / 32; ++i) total += partial[i];
    y[blockIdx.x] = total;
  }
}
void run(const half* x, float* y, int rows, int cols) { row_sum<128><<<rows, 128>>>(x, y, cols); }
"""


def test_kernels_come_in_the_order_of_the_file() -> None:
    text = 'extern "C" __global__ void b(int n) {}\nnamespace s { template <class T> __global__ void a(T* p, T q) {} }'
    found = read_cuda(SourceFile("k.cu", text), CudaOptions()).kernels
    assert [(kernel.name, kernel.parameters) for kernel in found] == [("b", ("n",)), ("a", ("p", "q"))]
    assert found[0].span.start == Position(1, 12)


def test_row_sum_is_understood_completely() -> None:
    lowered = program(ROW_SUM)
    assert not_understood(list(operations(lowered.kernels[0].body))) == []
    assert lowered.notes == ("row_sum: template parameter BLOCK = 128",)
    assert [parameter.type.dtype for parameter in lowered.kernels[0].parameters] == [FLOAT16, FLOAT32, INT32]
    assert [parameter.constant for parameter in lowered.kernels[0].parameters] == [True, False, False]


def test_unknown_kernel_name_is_an_input_error() -> None:
    with pytest.raises(InputError, match="no kernel row_sun"):
        read_cuda(SourceFile("k.cu", ROW_SUM), CudaOptions()).lower(["row_sun"])


TEMPLATES = {
    "launched": ("template <int B> ", "void f(float* x) { k<64><<<1, 1>>>(x); }", (), "64"),
    "default": ("template <int B = 8> ", "", (), "8"),
    "stated": ("template <int B = 8> ", "void f(float* x) { k<64><<<1, 1>>>(x); }", (("B", "16"),), "16"),
    "unknown": ("template <int B> ", "", (), "B"),
    "launches differ": ("template <int B> ", "void f(float* x) { k<1><<<1, 1>>>(x); k<2><<<1, 1>>>(x); }", (), "B"),
}


@pytest.mark.parametrize(("template", "host", "defines", "expected"), TEMPLATES.values(), ids=TEMPLATES)
def test_value_parameter_of_a_template(
    template: str, host: str, defines: tuple[tuple[str, str], ...], expected: str
) -> None:
    text = template + "__global__ void k(float* x) { __shared__ float s[B]; s[0] = x[0]; }\n" + host
    lowered = program(text, options=CudaOptions(defines=defines))
    allocation = lowered.kernels[0].body[0]
    assert isinstance(allocation, Alloc)
    assert shown(allocation.type.shape[0]) == expected


FUNCTIONS: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "launched": ("void f(float* x) { k<twice><<<1, 1>>>(x); }", ()),
    "stated": ("void f(float* x) { k<half><<<1, 1>>>(x); }", (("F", "twice"),)),
}


@pytest.mark.parametrize(("host", "defines"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_function_as_parameter_of_a_template_is_put_in(host: str, defines: tuple[tuple[str, str], ...]) -> None:
    text = (
        "using function = float (*)(float);\n__device__ float twice(float a) { return a + a; }\n"
        "__device__ float half(float a) { return a * 0.5f; }\n"
        "template <function F> __global__ void k(float* x) { x[0] = F(x[1]); }\n" + host
    )
    lowered = program(text, options=CudaOptions(defines=defines))
    assert [op.operator for op in lowered.kernels[0].body if isinstance(op, Compute)] == [Operator.ADD]
    assert "k: template parameter F = twice" in lowered.notes


TYPES = {
    "nobody says": ("", (), FLOAT32),
    "launched": ("void f(half* x) { k<half><<<1, 1>>>(x); }", (), FLOAT16),
    "stated": ("", (("T", "half"),), FLOAT16),
}


@pytest.mark.parametrize(("host", "defines", "expected"), TYPES.values(), ids=TYPES)
def test_type_parameter_of_a_template(host: str, defines: tuple[tuple[str, str], ...], expected: object) -> None:
    text = "template <typename T> __global__ void k(T* x) { x[0] = x[1]; }\n" + host
    lowered = program(text, options=CudaOptions(defines=defines))
    assert lowered.kernels[0].parameters[0].type.dtype == expected
    assert lowered.notes


LAUNCHES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...], str]] = {
    "numbers": ("scale<<<4, 256>>>(x, w, n, 1.f);", ("4",), ("256",), ""),
    "renamed": ("int m = 7; scale<<<m, 256>>>(x, w, m, 1.f);", ("n",), ("256",), ""),
    "dim3": ("dim3 g(n, 2); dim3 b(32, 8); scale<<<g, b>>>(x, w, n, 1.f);", ("n", "2"), ("32", "8"), ""),
    "dim3 in place": ("scale<<<dim3(1, 2, 3), dim3(4)>>>(x, w, n, 1.f);", ("1", "2", "3"), ("4",), ""),
    "rounded up": ("const int t = 64; scale<<<(n + t - 1) / t, t>>>(x, w, n, 1.f);",
                   ("truncated_divide(subtract(add(n,64),1),64)",), ("64",), ""),
    "helper": ("scale<<<cdiv(n, 64), 64>>>(x, w, n, 1.f);",
               ("truncated_divide(subtract(add(n,64),1),64)",), ("64",), ""),
    "shared": ("scale<<<1, 64, 64 * sizeof(float)>>>(x, w, n, 1.f);", ("1",), ("64",), "multiply(64,4)"),
    "unknown host value": ("int t = pick(); scale<<<1, t>>>(x, w, n, 1.f);", ("1",), ("t",), ""),
}  # fmt: skip


@pytest.mark.parametrize(("host", "grid", "block", "shared"), LAUNCHES.values(), ids=LAUNCHES)
def test_launch_is_read_from_the_host(host: str, grid: tuple[str, ...], block: tuple[str, ...], shared: str) -> None:
    helper = "static int cdiv(int a, int b) { return (a + b - 1) / b; }\n"
    text = helper + SCALE.format("x[i] = 0.f;") + f"\nvoid f(float* x, float* w, int n) {{ {host} }}"
    launch = program(text).launches[0]
    assert tuple(shown(extent) for extent in launch.grid) == grid
    assert tuple(shown(extent) for extent in launch.block) == block
    assert ("" if launch.shared_bytes is None else shown(launch.shared_bytes)) == shared


def test_kernel_without_launch_has_an_empty_one() -> None:
    assert program(SCALE.format("")).launches == (Launch(kernel="scale"),)


def test_launches_that_differ_choose_none() -> None:
    text = SCALE.format("") + "void f(float* x) { scale<<<1, 32>>>(x, x, 1, 1.f); scale<<<1, 64>>>(x, x, 1, 1.f); }"
    lowered = program(text)
    assert (shown(lowered.launches[0].grid[0]), lowered.launches[0].block) == ("1", ())
    assert any("differ in block" in note for note in lowered.notes)


CONDITIONALS = {
    "undefined": ("#ifdef FAST\nx[0] = 1.f;\n#else\nx[1] = 1.f; x[2] = 1.f;\n#endif", (), 2),
    "defined": ("#ifdef FAST\nx[0] = 1.f;\n#else\nx[1] = 1.f; x[2] = 1.f;\n#endif", (("FAST", ""),), 1),
    "value": ("#if LEVEL > 1 && defined(LEVEL)\nx[0] = 1.f;\n#endif\nx[1] = 1.f;", (("LEVEL", "2"),), 2),
    "architecture": ("#if __CUDA_ARCH__ >= 700\nx[0] = 1.f;\n#elif 1\nx[1] = 1.f; x[2] = 1.f;\n#endif", (), 1),
    "what nvcc defines": ("#if defined(__CUDACC__) && __cplusplus > 201402L\nx[0] = 1.f;\n#endif\n", (), 1),
    "pragma": ("for (int j = 0; j < 4; ++j)\n#pragma unroll\n  for (int q = 0; q < 4; ++q) x[j] = 1.f;", (), 3),
}


@pytest.mark.parametrize(("inside", "defines", "count"), CONDITIONALS.values(), ids=CONDITIONALS)
def test_directives_are_obeyed(inside: str, defines: tuple[tuple[str, str], ...], count: int) -> None:
    lowered = program(SCALE.format("\n" + inside + "\n"), options=CudaOptions(defines=defines))
    assert len(list(operations(lowered.kernels[0].body))) == count


def test_assumptions_about_macros_are_noted() -> None:
    lowered = program("#if defined(FAST) || __CUDA_ARCH__ >= 700\n#endif\n" + SCALE.format(""))
    assert lowered.notes == ("taken as not defined in #if: FAST", "__CUDA_ARCH__ is taken to be 800")


def test_quoted_header_is_read_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "parts.h").write_text("#define N 4\n__device__ float twice(float a) { return 2.f * a; }\n")
    lowered = program('#include "parts.h"\n' + SCALE.format("x[N] = twice(w[0]);"), path=str(tmp_path / "k.cu"))
    found = list(operations(lowered.kernels[0].body))
    assert not_understood(found) == []
    assert {op.span.path for op in found} == {str(tmp_path / "k.cu"), str(tmp_path / "parts.h")}


def test_header_is_found_under_the_given_roots(tmp_path: Path) -> None:
    (tmp_path / "parts.h").write_text("#define N 4\n")
    options = CudaOptions(include_roots=(str(tmp_path),))
    lowered = program('#include "parts.h"\n' + SCALE.format("x[N] = 0.f;"), options=options)
    assert not_understood(list(operations(lowered.kernels[0].body))) == []


def test_missing_header_is_noted() -> None:
    assert "header gone.h was not found" in program('#include "gone.h"\n' + SCALE.format("")).notes


def test_positions_count_characters() -> None:
    store = program(SCALE.format("/* é😀 */ x[i] = 0.f;")).kernels[0].body[0]
    text = SCALE.format("/* é😀 */ x[i] = 0.f;")
    assert SourceFile("kernel.cu", text).text_of(store.span) == "x[i] = 0.f"


OPAQUE = {
    "array of a computed size": ("int s[(int)w[0]];", ["array whose size is computed as it runs"]),
    "unknown type behind a goto": (
        "if (n > 3) goto end; thing u; end: x[0] = u;",
        ["variable of type thing", "u is declared where a goto may jump over it"],
    ),
    "unknown call": ("x[i] = frobnicate(w[i]);", ["frobnicate"]),
    "goto": ("if (n > 2) { in: x[i] += 1.f; } if (x[i] < 9.f) goto in;", ["goto"]),
    "assembly": ('asm volatile("nop;");', ["assembly: nop is not modelled"]),
    "case inside": (
        "switch (n) { case 0: while (x[0] < 1.f) { case 1: x[0] += 1.f; } }",
        ["switch into the middle of a statement"],
    ),
    "recursion": ("x[i] = again(n);", ["recursive call of again"]),
}


@pytest.mark.parametrize(("statement", "reasons"), OPAQUE.values(), ids=OPAQUE)
def test_what_is_not_understood_is_kept(statement: str, reasons: list[str]) -> None:
    before = "__device__ int again(int n) { return n ? again(n - 1) : 0; }\n"
    found = list(operations(program(before + SCALE.format(statement)).kernels[0].body))
    assert not_understood(found) == reasons


STRANDED = {
    "cut off": "__global__ void k(const float* x, float* y, int n) {\n  if (n > 0) { y[0] = x[",
    "no parenthesis": "__global__ void k(const float* x, float* y, int n) {\n  for (; y[0] < n; y[0] = x[0];\n}",
    "after a character of two bytes": "// \u00e9\n__global__ void k(const float* x, float* y, int n) { y[0] = x[",
    "between others": "__global__ void a(float* z) { z[0] = 1; }\n"
    "__global__ void k(const float* x, float* y, int n) {\n  for (int i = 0; i < n; i++ y[i] = x[i];\n}\n"
    "__global__ void b(float* z) { z[0] = 2; }",
}


@pytest.mark.parametrize("text", STRANDED.values(), ids=STRANDED)
def test_kernel_whose_head_alone_can_be_read_is_kept_whole(text: str) -> None:
    module = read_cuda(SourceFile("k.cu", text), CudaOptions())
    [kernel] = [kernel for kernel in module.kernels if kernel.name == "k"]
    assert kernel.parameters == ("x", "y", "n")
    [opaque] = [op for op in operations(module.lower(["k"]).kernels[0].body) if isinstance(op, Opaque)]
    memory = {"x", "y"}  # besides these it may move the pointers, which text that does not parse may do
    assert (memory & set(opaque.reads), memory & set(opaque.writes)) == ({"x", "y"}, {"y"})
    assert [problem.span for problem in module.problems] == [opaque.span]


def test_kernels_after_a_broken_one_are_found_at_their_places() -> None:
    text = STRANDED["between others"]
    kernels = read_cuda(SourceFile("k.cu", text), CudaOptions()).kernels
    assert [(kernel.name, kernel.span.start.line) for kernel in kernels] == [("a", 1), ("k", 2), ("b", 5)]


def test_many_broken_kernels_are_read_in_little_time() -> None:
    text = "__global__ void k(float* y) { for (;; y[0] = 1;\n" * 400
    assert read_cuda(SourceFile("k.cu", text), CudaOptions()).kernels


def test_records_that_point_to_each_other_end() -> None:
    records = "struct B;\nstruct A { A *a, *b, *c; B *d, *e; };\nstruct B { A *a, *b, *c, *d, *e; float v; };\n"
    assert program(records + "__global__ void k(A* a, float* x) { x[0] = 1.f; }").kernels[0].name == "k"


def test_broken_kernel_has_problems_with_places() -> None:
    problems = read_cuda(SourceFile("k.cu", SCALE.format("x[i] = ;")), CudaOptions()).problems
    assert problems
    assert problems[0].span.start.line == 1


@pytest.mark.parametrize(
    "text",
    [
        "__global__ void k(float* n, int n) { n[0] = 1; }",
        "__global__ void k(float* x) { constexpr int W = NO / 32; __shared__ float s[W]; s[0] = x[0]; x[1] = s[0]; }",
        "__global__ void k(float* x) { __shared__ float s[UNKNOWN][2]; s[0][1] = x[0]; x[1] = s[0][1]; }",
    ],
    ids=["a name twice", "an extent that is computed", "an extent that is not known"],
)
def test_odd_text_is_lowered_to_a_valid_program(text: str) -> None:
    assert verify(program(text)) == ()


def test_record_given_at_a_launch_is_given_member_by_member() -> None:
    text = "struct R { float a; int b; };\n__global__ void k(R r, float* y) { y[0] = r.a; }\n"
    lowered = program(
        text + "__global__ void j(float* z) {}\nvoid f(R q, float* y) { k<<<1, 1>>>(q, y); j<<<1, 1>>>(y); }"
    )
    assert verify(lowered) == ()
    assert lowered.launches[0].arguments == (("r.a", "q.a"), ("r.b", "q.b"), ("y", "y"))


LOOPING_MACROS = "#define A B\n#define B A\n#define F(a) G(a)\n#define G(a) F(a)\n"
EXPLODING_MACROS = "".join(f"#define M{i} M{i - 1} + M{i - 1}\n" for i in range(1, 30))
ODD_DIRECTIVES = '#if ((((\n#elif\n#else\n#else\n#endif\n#endif\n#include\n#include "\n#define\n'
ODD_LITERALS = "x[0] = 99999999999999999999999; x[1] = 1e99999; x[2] = 0x; x[3] = 'abcd'; x[1 / 0] = 1 << 200;"
BODY = "__global__ void k(float* x, int n) {{ {} }}"
NASTY = {
    "empty": "",
    "nul": "\0__global__ void k(float* x) { x[0] = 1.f;\0 }",
    "deep parentheses": BODY.format("x[0] = " + "(" * 20_000 + "1.f" + ")" * 20_000 + ";"),
    "deep braces": BODY.format("{" * 20_000 + "}" * 20_000),
    "deep ifs": BODY.format("if (n) " * 2_000 + "x[0] = 1.f;"),
    "deep else": BODY.format("if (n) x[0] = 1.f; " + "else if (n) x[0] = 1.f; " * 500),
    "long sum": BODY.format("x[0] = " + "+".join(["x[1]"] * 1_500) + ";"),
    "long ternary": BODY.format("x[0] = " + "n ? 1 : " * 1_000 + "2;"),
    "doubling": BODY.format("int a = n; " + "a = a + a; " * 100 + "x[a] = 0.f;"),
    "unbalanced": "__global__ void k(float* x) { if (x { [ ( ",
    "lone surrogate": "\ud800 __global__ void k(float* x) { x[0] = 1.f; }",
    "macros of each other": LOOPING_MACROS + BODY.format("x[A] = F(1);"),
    "exploding macros": EXPLODING_MACROS + BODY.format("x[0] = M29;"),
    "directives": ODD_DIRECTIVES + BODY.format("x[0] = 1.f;"),
    "circular constants": "const int A = B; const int B = A; enum { C = D, D = C };" + BODY.format("x[A] = C;"),
    "literals": BODY.format(ODD_LITERALS),
    "devices": '#include "/dev/zero"\n#include "../../../../../etc/passwd"\n' + BODY.format("x[0] = 1.f;"),
}  # fmt: skip


@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY)
def test_nothing_raises(text: str) -> None:
    module = read_cuda(SourceFile("k.cu", text), CudaOptions())
    assert isinstance(module.problems, tuple)
    program(text)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(ROW_SUM)), st.integers(0, len(ROW_SUM)))
def test_cut_kernels_never_raise(start: int, end: int) -> None:
    program(ROW_SUM[:start] + ROW_SUM[end:])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from("(){}[];,*&<>=+-?:#\"'\\\n\0xn0é "), max_size=40), st.integers(0, len(ROW_SUM)))
def test_noise_never_raises(noise: list[str], place: int) -> None:
    program(ROW_SUM[:place] + "".join(noise) + ROW_SUM[place:])


def shown(expression: Expr) -> str:
    """An expression as prefix text."""
    match expression:
        case Const(value=value):
            return str(value)
        case Symbol(name=name):
            return name
        case Apply(operator=operator, arguments=arguments):
            return f"{Operator(operator)}({','.join(shown(argument) for argument in arguments)})"
        case _:
            return "%"


INSTANCES = {
    "stated": ("void f(float* x, half* y) { k<float, 64><<<1, 64>>>(x); k<half, 32><<<1, 32>>>(y); }",
               ("k<float, 64>", "k<half, 32>")),
    "deduced": ("void f(float* x, half* y) { k<<<1, 64>>>(x); k<<<1, 32>>>(y); }", ("k<float, 8>", "k<half, 8>")),
    "through a template": ("template <typename S> void run(S* x) { k<S, 4><<<1, 64>>>(x); }\n"
                           "void f(float* x, double* y) { run(x); run<double>(y); run(x + 1); }",
                           ("k<float, 4>", "k<double, 4>")),
    "computed": ("template <int W> void run(float* x) { k<float, W * 2><<<1, W>>>(x); }\n"
                 "void f(float* x) { run<4>(x); run<8>(x); }", ("k<float, 8>", "k<float, 16>")),
    "in cases": ("void f(float* x, int n) { switch (n) { case 1: k<float, 1><<<1, 1>>>(x); break;"
                 " default: k<float, 2><<<1, 2>>>(x); } }", ("k<float, 1>", "k<float, 2>")),
    "one": ("void f(float* x) { k<float, 64><<<1, 64>>>(x); k<float, 64><<<2, 64>>>(x); }", ("k",)),
    "none": ("", ("k",)),
}  # fmt: skip
TEMPLATE = "template <typename T, int N = 8> __global__ void k(T* x) { __shared__ T s[N]; s[0] = x[0]; x[1] = s[0]; }\n"


@pytest.mark.parametrize(("host", "labels"), INSTANCES.values(), ids=INSTANCES)
def test_instances_that_launches_ask_for(host: str, labels: tuple[str, ...]) -> None:
    assert read_cuda(SourceFile("k.cu", TEMPLATE + host), CudaOptions()).instances == labels


def test_an_instance_is_lowered_with_its_arguments_and_launches() -> None:
    lowered = program(TEMPLATE + INSTANCES["stated"][0], "k<half,32>")
    (kernel,) = lowered.kernels
    assert kernel.name == lowered.launches[0].kernel == "k<half, 32>"
    assert kernel.parameters[0].type.dtype == FLOAT16
    assert shown(lowered.launches[0].block[0]) == "32"
    allocation = kernel.body[0]
    assert isinstance(allocation, Alloc)
    assert shown(allocation.type.shape[0]) == "32"


def test_a_bare_name_is_what_instances_have_in_common() -> None:
    lowered = program(TEMPLATE + INSTANCES["stated"][0], "k")
    assert lowered.kernels[0].parameters[0].type.dtype == FLOAT32
    assert any("float is chosen" in note for note in lowered.notes)
    assert any("template parameter N; none is chosen" in note for note in lowered.notes)


def test_an_instance_that_nobody_launches_is_an_input_error() -> None:
    with pytest.raises(InputError, match="no kernel k<half, 64>"):
        program(TEMPLATE + INSTANCES["stated"][0], "k<half, 64>")


SPOILT = {
    "a header that is not read": "for (int i = 0; i < n; i += { x[i]; }) x[i] = 1.f;",
    "a step that mentions the variable": "for (int i = 0; i < n; i += (int)x[i]) x[i] = 1.f;",
    "an index that is no number": "x[INFINITY] = 1.f; *(x + NAN) = 2.f; x[0] = __shfl_sync(INFINITY, w[0], 1);",
    "an extent of shared memory that changes": "__shared__ char raw[n]; ++n; raw[0] = 1;",
}


@pytest.mark.parametrize("inside", SPOILT.values(), ids=SPOILT)
def test_what_cannot_be_is_lowered_to_a_valid_program(inside: str) -> None:
    assert verify(program(f"__global__ void k(float* x, float* w, int n) {{ {inside} }}")) == ()


def test_what_is_found_comes_in_the_order_of_the_text() -> None:
    text = "void f() { " + "a(1); b = 2; " * 200 + "}"
    unit = read_unit(SourceFile("k.cu", text), text, ())
    places = [node.start for node in unit.root.found("call_expression", "assignment_expression")]
    assert len(places) == 400
    assert places == sorted(places)


DEEP = {
    "parentheses": "x[0] = " + "(" * 100_000 + "1" + ")" * 100_000 + ";",
    "parentheses that do not close": "x[0] = " + "(" * 100_000,
    "braces that do not close": "{" * 100_000,
    "branches": "if (n) " * 30_000 + "x[0] = 1.f;",
    "stars": "*" * 50_000 + "x = 1;",
    "a table": "const int t[] = {" + "1, " * 100_000 + "}; x[t[n]] = 1.f;",
}


@pytest.mark.parametrize("inside", DEEP.values(), ids=DEEP)
def test_time_grows_with_the_text_however_deep_or_wide_it_is(inside: str) -> None:
    start = time.perf_counter()
    lowered = program(f"__global__ void k(float* x, int n) {{ {inside} }}")
    assert [found.name for found in lowered.kernels] == ["k"]
    assert time.perf_counter() - start < 20


def test_text_nested_too_deeply_may_do_anything_to_what_it_mentions() -> None:
    lowered = program(f"__global__ void k(float* x, const float* w, int n) {{ {'if (n) ' * 30_000} x[0] = w[0]; }}")
    (call,) = [op for op in lowered.kernels[0].body if isinstance(op, Call)]
    assert {"x", "w"} <= set(call.reads)
    assert "x" in call.writes
    assert "w" not in call.writes


def test_a_default_that_is_no_constant_leaves_a_template_parameter_open() -> None:
    lowered = program("template <int N = f(1)> __global__ void k(float* x) { x[N] = 1.f; }")
    (store,) = [op for op in operations(lowered.kernels[0].body) if isinstance(op, Store)]
    assert shown(store.access.index[0]) == "N"
