"""Forms of expressions and declarations that kernels use now and then compute what a C++ compiler makes of them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.execution.running import executed

START = (0, 1, 2, 5, 3, 0, 0, 0)
"""What `x` holds before; `n` is 4."""
PAIR = "struct P { int a; float b; }; __device__ P made(int n) { return P{n, n * 0.5f}; }"
LENGTH = """
__device__ const char digits[] = "0123456789";
__device__ int length(const char* s) { int i = 0; while (s[i]) ++i; return i; }
"""

TABLE = "int m[3][4]; for (int i = 0; i < 12; ++i) m[i / 4][i % 4] = i; "
ROWS = """
__device__ int at(int (*w)[4], int i, int j) { return w[i][j]; }
__device__ void set(int (*w)[4]) { w[1][1] = 70; ++w; (*w)[2] = 71; }
"""
RANGES = """
struct It {
  int v;
  __device__ int operator*() const { return v; }
  __device__ It& operator++() { ++v; return *this; }
  __device__ bool operator!=(const It& o) const { return v != o.v; }
};
struct R { int a, b; __device__ It begin() const { return It{a}; } __device__ It end() const { return It{b}; } };
struct Span {
  int* p;
  int n;
  __device__ int* begin() const { return p; }
  __device__ int* end() const { return p + n; }
};
__device__ int first(int n) { for (auto i : R{0, 10}) { if (i * 3 > n) return i; } return -1; }
"""
MADE = """
struct C {
  int v;
  __device__ C(int a) : v(a) {}
  friend __device__ bool operator<(C a, C b) { return a.v < b.v; }
  __device__ C operator*(const C& o) const { return C(v * o.v); }
};
__device__ C operator+(const C& a, const C& b) { return C(a.v + b.v); }
__device__ int taken(C c) { return c.v; }
__device__ int seen(const C& n) { return n.v; }
"""
JUMPS = """
__device__ int f(int n) { int s = 0; top: if (n == 0) return s; s = s * 2 + n; --n; goto top; }
__device__ int g(int n) {
  int c = 0;
  if (n > 5) goto mid;
  n += 100;
mid:
  n -= 3;
  ++c;
  if (n > 0 && c < 4) goto mid;
  return n * 10 + c;
}
"""

CASES: dict[str, tuple[str, str, tuple[int, ...]]] = {
    "one of two is assigned": (
        "", "int a = 1, b = 2; (n > 3 ? a : b) = 9; (n > 4 ? x[0] : x[1]) = 7; x[2] = a * 10 + b; (n > 3 ? a : b) += 5;"
        "x[3] = a; ++(n > 9 ? a : b); x[5] = b; (n > 3 ? (n > 4 ? a : b) : x[0]) = 77; x[6] = b; (4 > 3 ? a : b) = 1;"
        "x[7] = a;", (0, 7, 92, 14, 3, 3, 77, 1)),
    "one of two records": (
        "struct S { int a, b; };", "S u{1, 2}, v{3, 4}; (n < 3 ? u : v) = S{7, 8}; (n > 3 ? u : v) = S{5, 6};"
        "x[0] = u.a * 10 + u.b; x[1] = v.a; x[2] = (n > 3 ? u : v).b;", (56, 7, 6, 5, 3, 0, 0, 0)),
    "what was assigned is assigned": (
        "", "int c = n; (c += 2) *= 3; x[0] = c; (c = 5) += 1; x[1] = c; ++(++c); x[2] = c; (x[3] += 2) *= 2; int d;"
        "(d = c) <<= 1; x[4] = d; int e = 1; ((e += 1) *= 3) -= 1; x[5] = e; (e += 1) *= e; x[6] = e; (c = 5, d) = 8;"
        "x[7] = c * 10 + d;", (18, 6, 8, 14, 16, 5, 36, 58)),
    "names for members": (
        PAIR, "auto [a, b] = made(n); x[0] = a + b; a = 9; x[1] = a; P p = made(3); auto [c, d] = p; p.a = 77; c += 1;"
        "x[2] = c * 100 + p.a; auto& [e, f] = p; e = 6; f += 1.f; x[3] = p.a * 10 + p.b * 2;"
        "const auto& [g, h] = p; p.a = 5; x[4] = g; float2 v = make_float2(1, 2); auto [s, t] = v; x[5] = s * 10 + t;",
        (6, 9, 477, 65, 5, 12, 0, 0)),
    "names for elements": (
        PAIR, "int q[2] = {n, 7}; auto [u, v] = q; q[0] = 50; x[0] = u * 10 + v; auto& [g, h] = q; g = 3; ++h;"
        "x[1] = q[0] * 10 + q[1]; int m[2][2] = {{1, 2}, {3, 4}}; auto& [r, s] = m; s[1] = r[1] + 6; x[2] = m[1][1];"
        "P t[2] = {{1, 1.f}, {2, 2.f}}; for (auto& [a, b] : t) a += 5; int k = 0; for (auto [a, b] : t) k = k * 10 + a;"
        "x[3] = k;", (47, 38, 8, 67, 3, 0, 0, 0)),
    "characters": (
        "", "char t[] = \"abc\"; x[0] = t[1]; x[1] = sizeof(t); char u[6] = \"hi\"; x[2] = u[0] + u[2] + u[5];"
        "t[0] = 'Z'; x[3] = t[0]; unsigned char b[] = {\"q\\x80\"}; x[4] = b[1]; char e[] = \"a\\n\\x41\\060\" \"d\";"
        "x[5] = e[1] * 100 + e[2]; x[6] = e[3] * 100 + e[4]; x[7] = sizeof(\"ab\");",
        (98, 4, 104, 90, 128, 1065, 4900, 3)),
    "texts": (
        LENGTH, "x[0] = length(\"hello\"); x[1] = length(\"\"); x[2] = \"0123456789abcdef\"[n + 7]; x[3] = digits[n];"
        "const char* s = \"xyz\"; x[4] = s[2]; x[5] = n > 2 && \"why\"; x[6] = length(R\"(a\\n)\");",
        (5, 0, 98, 52, 122, 1, 3, 0)),
    "pointers to rows": (
        ROWS, TABLE + "int (*w)[4] = m; x[0] = w[1][2]; w++; x[1] = (*w)[3]; w = m + 2; x[2] = w[-1][2] * 10 + **w;"
        "x[3] = at(m, 2, 1); set(m); x[4] = m[1][1] + m[1][2]; int (*z)[4] = (int (*)[4])x; z[1][1] = 50;"
        "int (&r)[4] = m[2]; x[6] = r[3]; for (int (*s)[4] = m; s != m + 2; ++s) x[7] += (*s)[1];",
        (6, 7, 68, 9, 141, 50, 11, 71)),
    "elements of several dimensions": (
        "", TABLE + "x[0] = *(*(m + 1) + 2); x[1] = *m[2]; x[2] = *(m + 2)[0]; x[3] = &m[2][0] - &m[0][0];"
        "x[4] = (m + 1 == &m[1]) + sizeof(m[0]);", (6, 8, 8, 8, 17, 0, 0, 0)),
    "objects that are gone through": (
        RANGES, "int s = 0; for (auto i : R{2, 6}) s = s * 10 + i; x[0] = s;"
        "for (int i : R{0, 3}) { if (i == 1) continue; x[1 + i] = i + 50; }"
        "Span p{x, 2}; for (auto& e : p) e += n; x[4] = first(4); x[5] = first(99);"
        "for (int i : R{0, 2}) for (int j : R{0, 2}) x[6] += i * 10 + j + 1;", (2349, 54, 2, 52, 2, -1, 26, 0)),
    "made of numbers": (
        MADE, "C a(3); C b = a + 4; C c = n + a; x[0] = b.v * 10 + c.v; x[1] = (a < 10) + (20 < a); C d = a * x[3];"
        "x[2] = d.v; x[3] = taken(n) * 10 + seen(2);", (77, 1, 15, 42, 3, 0, 0, 0)),
    "jumps back": (
        JUMPS, "int i = 0; again: x[i] = i * 2; ++i; if (i < n) goto again; x[4] = f(n);"
        "x[5] = f(0); x[6] = g(9); x[7] = g(1);",
        (0, 2, 4, 6, 49, 0, 3, 894)),
    "jumps back in jumps back": (
        "", "int i = 0, j = 0; a: j = 0; b: x[i * 3 + j] = i * 10 + j; ++j; if (j < 3) goto b; ++i; if (i < 2) goto a;"
        "x[6] = i * 10 + j;", (0, 1, 2, 10, 11, 12, 23, 0)),
    "place of a member": ("struct S { char a; double b; short c; };", "x[0] = offsetof(S, b) * 10 + offsetof(S, c);",
                          (96, 1, 2, 5, 3, 0, 0, 0)),
}  # fmt: skip


@pytest.mark.parametrize(("before", "statements", "wanted"), CASES.values(), ids=CASES)
def test_forms_do_what_they_do_in_cxx(before: str, statements: str, wanted: tuple[int, ...]) -> None:
    text = f"{before}\n__global__ void k(int* x, int n) {{ {statements} }}"
    done = executed(text, {"x": np.array(START, np.int32), "n": 4}, 1, 1)
    assert done.stopped is None
    assert done.arrays["x"].tolist() == list(wanted)
