"""Directives, macros and text the grammar cannot read: what comes out computes what the source says, at its place."""

from __future__ import annotations

import time

import pytest
from tests.frontends.cuda.reading import kernel, not_understood, program

from portcheck.core.source import SourceFile
from portcheck.frontends.cuda import CudaOptions, read_cuda
from portcheck.ir import Loop, operations
from portcheck.ir.text import print_program

OPEN = "__global__ void k(float* a, int n) {\n"
SAME = {
    "alignment of shared memory": (
        "__global__ void k(float* a) {\n  extern __shared__ __align__(32) float part[];\n  a[1] = part[2];\n}",
        "__global__ void k(float* a) {\n  extern __shared__ float part[];\n  a[1] = part[2];\n}",
    ),
    "attribute after an array": (
        OPEN + "  __shared__ float part[4] __attribute__((aligned(16)));\n  part[0] = 1.f; a[1] = part[0]; }",
        OPEN + "  __shared__ float part[4];\n  part[0] = 1.f; a[1] = part[0]; }",
    ),
    "statement macros without semicolons": (
        "#define BUMP(i) a[i] += 2.f;\n" + OPEN + "  BUMP(3)\n  BUMP(4)\n  a[0] = 0.f;\n}",
        OPEN + "  a[3] += 2.f; a[4] += 2.f; a[0] = 0.f; }",
    ),
    "macros made of macros, without semicolons": (
        "#define FOUR TWO TWO\n#define TWO a[n] *= 3.f; a[n] -= 1.f;\n" + OPEN + "  FOUR TWO\n  a[0] = 0.f; }",
        OPEN + "  a[n] *= 3.f; a[n] -= 1.f;" * 3 + " a[0] = 0.f; }",
    ),
    "macro in the head": (
        "#define BOUNDS(t, b) __launch_bounds__(t, b)\n__global__ void\nBOUNDS(128, 4)\nk(float* a) { a[0] = 3.f; }",
        "__global__ void k(float* a) { a[0] = 3.f; }",
    ),
    "macro of a missing header in the head": (
        "__global__ void\nBOUNDS(128, 4)\nk(float* a) {\n  a[0] = 3.f;\n}",
        "__global__ void k(float* a) { a[0] = 3.f; }",
    ),
    "#ifdef among parameters": (
        "__global__ void k(float* a\n#ifdef TWO\n, float* b\n#endif\n) { a[0] = 1.f; }",
        "__global__ void k(float* a) { a[0] = 1.f; }",
    ),
    "braces opened in two branches": (
        OPEN + "#ifdef CHECK\n  if (threadIdx.x < n) {\n#else\n  {\n#endif\n  a[threadIdx.x] = 2.f;\n  }\n}",
        OPEN + "  { a[threadIdx.x] = 2.f; } }",
    ),
    "both branches in one body": (
        OPEN + "#if __CUDA_ARCH__ >= 900\n  a[0] = 1.f;\n#else\n  a[0] = 2.f;\n#endif\n}",
        OPEN + "  a[0] = 2.f; }",
    ),
    "else if under #ifdef": (
        OPEN + "  if (n == 3) { a[0] = 0.f; }\n#ifdef MORE\n  else if (n == 4) { a[0] = 1.f; }\n#endif\n"
        "  a[1] = 2.f;\n}",
        OPEN + "  if (n == 3) { a[0] = 0.f; }\n  a[1] = 2.f; }",
    ),
    "a type as argument": (
        "#define TRADE(T, p, q) { T kept = p; p = q; q = kept; }\n"
        "__global__ void k(int* a) {\n  int u = a[0], v = a[1];\n  TRADE(int, u, v);\n  a[0] = u; a[1] = v;\n}",
        "__global__ void k(int* a) {\n  int u = a[0], v = a[1];\n  { int kept = u; u = v; v = kept; };\n"
        "  a[0] = u; a[1] = v;\n}",
    ),
    "macro before typename": (
        "template <class C>\n__global__ void k(KEPT typename C::Params const p, float* a) { a[0] = 1.f; }",
        "template <class C>\n__global__ void k(typename C::Params const p, float* a) { a[0] = 1.f; }",
    ),
    "cluster dimensions": (
        "__global__ void __cluster_dims__(4, 1, 1)\n__launch_bounds__(64) k(float* a) { a[0] = 1.f; }",
        "__global__ void __launch_bounds__(64) k(float* a) { a[0] = 1.f; }",
    ),
    "unrolling by macro": (
        '#define UNROLLED _Pragma("unroll 2")\n' + OPEN + "  UNROLLED\n  for (int i = 0; i < 3; ++i) a[i] = 1.f;\n}",
        OPEN + "  for (int i = 0; i < 3; ++i) a[i] = 1.f;\n}",
    ),
    "pragma between a loop and its body": (
        OPEN + "  for (int i = 0; i < 5; ++i)\n#pragma unroll\n    for (int j = 0; j < 2; ++j)\n      a[i] += a[j];\n}",
        OPEN + "  for (int i = 0; i < 5; ++i) for (int j = 0; j < 2; ++j) a[i] += a[j];\n}",
    ),
    "__restrict after const": (
        "__global__ void k(const float* const __restrict w, float* a) { a[0] = w[0]; }",
        "__global__ void k(const float* const w, float* a) { a[0] = w[0]; }",
    ),
    "__restrict after the name of a type": (
        "typedef const float* row; __global__ void k(const row __restrict w, float* a) { a[0] = w[0]; }",
        "typedef const float* row; __global__ void k(const row w, float* a) { a[0] = w[0]; }",
    ),
    "lines of unknown macros at file level": (
        OPEN + "a[0] = 1.f; }\nREGISTER(f16, float)\nREGISTER(f64, double)\n",
        OPEN + "a[0] = 1.f; }",
    ),
    "`and` in a condition": (OPEN + "#if defined(P_) and (Q_ >= 2)\n  a[0] = 1.f;\n#endif\n}", OPEN + "}"),
    "a comparison that looks like a template": (
        OPEN + "  if (n < 3 && n > (n - 2)) a[0] = 1.f;\n}",
        OPEN + "  if ((n < 3) && (n > (n - 2))) a[0] = 1.f;\n}",
    ),
    "a comparison of members that looks like a template": (
        "struct P { int b; };\n__global__ void k(float* a, P p, int c) { if (p.b < c && c > (p.b - 2)) a[0] = 1.f; }",
        "struct P { int b; };\n__global__ void k(float* a, P p, int c) { if ((p.b < c) && c > (p.b - 2)) a[0] = 1.f; }",
    ),
    "a bitwise test that looks like a template": (
        OPEN + "  if (n < 3 & n > (n - 2)) a[0] = 1.f;\n}",
        OPEN + "  if ((n < 3) & (n > (n - 2))) a[0] = 1.f;\n}",
    ),
    "arguments that look like a template": (
        "__device__ float f(bool p, bool q) { return p && q ? 1.f : 0.f; }\n"
        + OPEN + "  a[0] = f(n < 4, n > (2));\n}",
        "__device__ float f(bool p, bool q) { return p && q ? 1.f : 0.f; }\n"
        + OPEN + "  a[0] = f((n < 4), (n > 2));\n}",
    ),
    "the call of a template as a bound": (
        "template <int I> __device__ int size() { return I; }\n" + OPEN + "  if (n < size<7>()) a[0] = 1.f;\n}",
        OPEN + "  if (n < 7) a[0] = 1.f;\n}",
    ),
    "a loop by macro": (
        "#define EACH(i, n) for (int i = threadIdx.x; i < (n); i += blockDim.x)\n"
        + OPEN + "  EACH(i, n) { a[i] = 1.f; }\n}",
        OPEN + "  for (int i = threadIdx.x; i < (n); i += blockDim.x) { a[i] = 1.f; }\n}",
    ),
    "a kernel named by a macro": (
        "#define NAMED(x) x##x\n__global__ void NAMED(k)(float* a) { a[0] = 1.f; }",
        "__global__ void kk(float* a) { a[0] = 1.f; }",
    ),
    "kernels defined by a macro": (
        "#define DEFINE(NAME, T) \\\n  __global__ void NAME(T* a) { \\\n    a[0] = (T)1; }\n"
        "DEFINE(f, float)\nDEFINE(g, double)",
        "__global__ void f(float* a) { a[0] = (float)1; }\n__global__ void g(double* a) { a[0] = (double)1; }",
    ),
    "statements with a value": (
        OPEN + "  a[0] = ({ float t = a[1]; t * t; });\n}",
        OPEN + "  float t = a[1]; a[0] = t * t;\n}",
    ),
    "the least by statements with a value": (
        "#define LEAST(x, y) ({ __typeof__(x) u = (x); __typeof__(y) v = (y); u < v ? u : v; })\n"
        + OPEN + "  for (int c = 0; c < LEAST(31, n + 2); ++c) a[c] = 1.f;\n}",
        OPEN + "  for (int c = 0; c < (31 < n + 2 ? 31 : n + 2); ++c) a[c] = 1.f;\n}",
    ),
    "variadic macros": (
        "#define USE(f, ...) f(__VA_ARGS__)\n#define OR(args...) USE(fmaf, args)\n" + OPEN
        + "  a[0] = USE(fmaf, a[1], 2.f, 1.f); a[2] = OR(a[1], 2.f, 1.f);\n}",
        OPEN + "  a[0] = fmaf(a[1], 2.f, 1.f); a[2] = fmaf(a[1], 2.f, 1.f);\n}",
    ),
    "a macro redefined between two uses": (
        "#define N 1\n" + OPEN + "  a[N] = 1.f;\n#undef N\n#define N 2\n  a[N] = 1.f;\n}",
        OPEN + "  a[1] = 1.f;\n  a[2] = 1.f;\n}",
    ),
    "a condition by a macro with arguments": (
        "#define VERSION(a, b) ((a) * 100 + (b))\n#define HAVE defined(P_) || VERSION(1, 2) > 101\n" + OPEN
        + "#if HAVE\n  a[0] = 1.f;\n#endif\n}",
        OPEN + "  a[0] = 1.f;\n}",
    ),
    "qualifiers that a header defines for other compilers": (
        "#define __global__\n#define __shared__ static\n" + OPEN + "  a[0] = 1.f;\n}",
        OPEN + "  a[0] = 1.f;\n}",
    ),
}  # fmt: skip


def _shown(text: str) -> list[str]:
    """The program without places and names of what was called how."""
    lines = print_program(program(text)).splitlines()
    return [line.partition(" @")[0].partition(" via ")[0] for line in lines if not line.startswith("note")]


@pytest.mark.parametrize(("written", "meant"), SAME.values(), ids=SAME)
def test_what_is_hard_to_read_means_what_it_means(written: str, meant: str) -> None:
    module = read_cuda(SourceFile("kernel.cu", written), CudaOptions())
    assert module.problems == ()
    assert _shown(written) == _shown(meant)


UNKNOWN = {
    "statements": (OPEN + "  TRACE(3)\n  TRACE(4)\n  a[0] = 0.f;\n}", ["TRACE", "TRACE"]),
    "a word before a loop": (OPEN + "  SPREAD\n  for (int i = 0; i < 3; ++i) a[i] = 1.f;\n}", ["SPREAD"]),
    "a loop": (OPEN + "  EACH(i, n) { a[i] = 1.f; }\n}", ["macro with a body"]),
    "a loop over an expression": (OPEN + "  EACH(i, n * 2 + 1) { a[i] = 1.f; }\n}", ["macro with a body"]),
    "a type as argument": (OPEN + "  TRADE(int, n, a);\n}", ["TRADE"]),
}


@pytest.mark.parametrize(("text", "reasons"), UNKNOWN.values(), ids=UNKNOWN)
def test_macros_of_missing_headers_are_kept(text: str, reasons: list[str]) -> None:
    assert not_understood(list(operations(kernel(text).body))) == reasons


def test_an_unknown_macro_may_change_the_variables_it_is_given() -> None:
    text = "__global__ void k(int* a) {\n  int u = a[0], v = a[1];\n  TRADE(u, v);\n  a[0] = u;\n}"
    shown = print_program(program(text))
    assert "writes(u, v)" in shown
    assert "store a[0] = %1 " not in shown


def _places(text: str) -> list[str]:
    source = SourceFile("kernel.cu", text)
    return [source.text_of(op.span) for op in operations(kernel(text).body)]


def test_what_a_macro_stands_for_stands_where_it_is_used() -> None:
    text = "#define PUT(i) a[i] = 1.f\n" + OPEN + "  /* \u00e9 */ PUT( 3\n ); a[4] = 1.f;\n}"
    assert _places(text) == ["PUT( 3\n )", "a[4] = 1.f"]


def test_a_kernel_defined_by_a_macro_stands_where_it_is_used() -> None:
    text = "#define DEFINE(NAME) __global__ void NAME(float* a) { a[0] = 1.f; }\n\nDEFINE(f)\nDEFINE(g)\n"
    kernels = program(text).kernels
    assert [SourceFile("kernel.cu", text).text_of(found.span) for found in kernels] == ["DEFINE(f)", "DEFINE(g)"]


def test_lines_stay_where_they_are() -> None:
    text = "#define A \\\n 1\n/* x\n */ #define B 2\r\n" + OPEN + "#pragma unroll \\\n 4\n  a[A + B] = 1.f;\n}"
    (store,) = kernel(text).body
    assert SourceFile("kernel.cu", text).text_of(store.span) == "a[A + B] = 1.f"
    assert store.span.start.line == text.count("\n", 0, text.index("a[A")) + 1


def test_a_template_parameter_of_that_name_stays_one() -> None:
    text = "template <typename T, int N> __global__ void k(T* a) { a[N] = (T)1; }"
    lowered = program(text, options=CudaOptions(defines=(("T", "double"), ("N", "3"))))
    assert "buffer a: float64" in print_program(lowered)
    assert "store a[3" in print_program(lowered)


EXPLODING = {
    "itself": "#define A A A\n#define F(x) F(x) x\n" + OPEN + "  A; F(F(1)); a[0] = 1.f;\n}",
    "each other": "#define A B + B\n#define B A + A\n" + OPEN + "  a[0] = A;\n}",
    "powers of two": "".join(f"#define M{i} M{i - 1} + M{i - 1}\n" for i in range(1, 40)) + OPEN + "  a[0] = M39;\n}",
    "powers of two, often": "".join(f"#define M{i} M{i - 1} + M{i - 1}\n" for i in range(1, 40))
    + OPEN + "  a[0] = M39;\n" * 500 + "}",
    "arguments in arguments": "#define F(x) x x\n" + OPEN + "  a[0] = " + "F(" * 3000 + "1" + ")" * 3000 + ";\n}",
    "an argument that does not end": "#define F(x) x\n" + OPEN + "  a[0] = F(1;\n}" * 50,
    "in a condition": "".join(f"#define M{i} M{i - 1} + M{i - 1}\n" for i in range(1, 40))
    + "#if M39\n#endif\n" + OPEN + "}",
}  # fmt: skip


@pytest.mark.parametrize("text", EXPLODING.values(), ids=EXPLODING)
def test_macros_that_grow_without_end_take_little_time(text: str) -> None:
    start = time.process_time()
    program(text)
    assert time.process_time() - start < 20


def test_a_loop_by_macro_is_a_loop() -> None:
    text = "#define EACH(i, n) for (int i = 0; i < (n); ++i)\n" + OPEN + "  EACH(i, n) a[i] = 1.f;\n}"
    assert isinstance(kernel(text).body[0], Loop)


CONDITIONS = {
    "-1 > 0": False, "-1 > 0u": True, "-1 > 0 * 1u": True, "0u - 1 > 0": True, "-1 == 18446744073709551615u": True,
    "0xffffffff > 0": True, "-1 > 0xffffffff": False, "-1 < 0xffffffffffffffff": False, "~0u > 0": True,
    "~0 > 0": False,
    "-1 >> 63 == -1": True, "(-1 >> 63u) == -1": True, "(0u - 1) >> 63 == 1": True, "-7 / 2 == -3": True,
    "-7 % 2 == -1": True, "(-7 / 2u) > 9": True, "0 && 1 / 0": False, "1 || 1 / 0": True, "1 / 0": False,
    "1 ? 0 : 1": False, "0 ? 1 / 0 : 2": True, "(2 > 1 ? -1 : 0u) > 0": True, "1 ? 0 : 0 ? 1 : 1": False,
    "'a' == 97": True, "5 xor 5": False, "3 bitand 1": True, "2 not_eq 2": False, "1 << 63 < 0": True,
    "(1u << 63) > 0": True, "-1 < (0 || 1u)": True, "-1 < (1u == 1u)": True,
}  # fmt: skip


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_is_computed_in_the_widest_integers(condition: str) -> None:
    text = f"#if {condition}\n#define V 1.f\n#else\n#define V 2.f\n#endif\n{OPEN}  a[n] = V;\n}}"
    wanted = OPEN + f"  a[n] = {'1.f' if CONDITIONS[condition] else '2.f'};\n}}"
    assert _shown(text) == _shown(wanted)
