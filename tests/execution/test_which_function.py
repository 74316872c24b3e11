"""Which of several functions or names of the same spelling C++ means: run and compared with what it says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.execution.running import executed

from portcheck.core.source import SourceFile
from portcheck.frontends.cuda import CudaOptions, read_cuda
from portcheck.ir import Opaque, kernel_operations

Array = NDArray[np.float32]
N = 32
HEAD = "__global__ void k(float* y, const float* x) {\n  int i = threadIdx.x;\n"

SPECIAL = """
template <class T> __device__ int id(T) { return 1; }
template <> __device__ int id<float>(float) { return 78; }
template <> __device__ int id(double) { return 5; }
template <class T> struct Z { __device__ int one() { return 4; } __device__ static int two() { return 6; } };
template <> __device__ int Z<int>::one() { return 9; }
template <> __device__ int Z<float>::two() { return 8; }
template <class T> __device__ int through(T t) { return id(t); }
template <class T> __device__ T zero() { return T(1); }
template <> __device__ float zero<float>() { return 2.f; }
"""
SPACES = """
namespace outer {
constexpr int N = 3;
struct S { int a = 10; __device__ int get() const { return a; } };
__device__ int f(int x) { return x + 1; }
namespace inner {
constexpr int N = 4;
struct S { int a = 20; __device__ int get() const { return a + 1; } };
__device__ int f(int x) { return x + 2; }
__device__ int g() { return f(0) * 10 + N; }
}
__device__ int g() { return f(0) * 10 + N; }
__device__ int s() { S v; return v.get(); }
}
namespace other {
__device__ int f(int x) { return x + 3; }
namespace deep = outer::inner;
namespace { __device__ int h() { return f(0) + outer::f(0) * 10; } }
__device__ int hh() { return h(); }
}
template <class G> __device__ int call(G g) { return g(0); }
"""
TABLES = """
namespace a { __constant__ float t[2]; const int w[2] = {1, 2}; template <class T> struct P { T v; };
  template <> struct P<int> { int v = 7; }; enum { E = 5 };
  struct V { float e; }; __device__ float len(V v) { return v.e; } }
namespace b { __constant__ float t[2]; const int w[2] = {3, 4}; template <class T> struct P { T v = 8; };
  enum { E = 6 }; struct V { float e; __device__ float get(); }; __device__ float len(V v) { return v.e * 10; } }
__device__ float b::V::get() { return e + E; }
__device__ int len(float f) { return 9; }
typedef int (*F)(int);
template <class G> __device__ int call(G g) { return g(0); }
"""
STEPS = """
struct W {
  int n;
  __device__ W& operator++() { n += 1; return *this; }
  __device__ W operator++(int) { W old = *this; n += 10; return old; }
  __device__ W& operator--() { n -= 1; return *this; }
};
"""
CONST = """
struct C {
  int n;
  __device__ int g() { return 1; }
  __device__ int g() const { return 2; }
  __device__ int& at() { return n; }
  __device__ int at() const { return n + 100; }
  __device__ int both() const { return g(); }
  __device__ int neither() { return g(); }
};
__device__ int f(int*) { return 1; }
__device__ int f(const int*) { return 2; }
__device__ int r(C&) { return 1; }
__device__ int r(const C&) { return 2; }
__device__ int through(const C& c) { return c.g(); }
__device__ int pointed(const C* c) { return c->g(); }
"""
HOLDER = """
struct D { C c; __device__ int a() { return c.g(); } __device__ int b() const { return c.g(); } };
"""
HIDING = """
const int n = 4, m = n * 2;
const int width = n + 1, height = width + m;
enum { E = n + 6 };
struct T { enum { K = E - 1 }; };
__device__ int sum() { return height + width; }
"""
HIDDEN = """
struct A { int n = 3; __device__ int f() { return 1; } __device__ int g() { return f(); } };
struct B : A { int n = 5; __device__ int f() { return 2; } __device__ int own() { return f() * 10 + A::f(); }
  __device__ int count() { return n * 10 + A::n; } };
__device__ int by(A& a) { return a.f(); }
__device__ int at(A* a) { return a->f(); }
"""
PLAIN = "__device__ int f(float) { return 1; }"
GENERIC = "template <class T> __device__ int f(T) { return 2; }"
VALUES = """
template <int N> __device__ int q() { return N; }
template <> __device__ int q<3>() { return 33; }
template <int M> __device__ int r() { return q<M>(); }
struct S { template <class T> __device__ int f(T) { return 1; } };
template <> __device__ int S::f<float>(float) { return 2; }
"""
CASES: dict[str, tuple[str, str, Callable[[Array], Array | float]]] = {
    "function specialised": (SPECIAL, "y[i] = id(2.f) + id(2) * 100 + id<float>(1) * 1000;", lambda v: 78178),
    "deduced specialisation": (SPECIAL, "y[i] = id(2.0) + through(1.f) * 10;", lambda v: 785),
    "no argument": (SPECIAL, "y[i] = zero<float>() + zero<int>() * 10;", lambda v: 12),
    "member specialised": (SPECIAL, "Z<int> a; Z<float> b; y[i] = a.one() + b.one() * 10;", lambda v: 49),
    "static member specialised": (SPECIAL, "y[i] = Z<int>::two() + Z<float>::two() * 10;", lambda v: 86),
    "namespace functions": (SPACES, "y[i] = outer::f(0) + outer::inner::f(0) * 10 + other::f(0) * 100;", lambda v: 321),
    "namespace constants": (SPACES, "y[i] = outer::N + outer::inner::N * 10;", lambda v: 43),
    "from inside a namespace": (SPACES, "y[i] = outer::g() + outer::inner::g() * 100;", lambda v: 13 + 2400),
    "namespace records": (SPACES, "outer::S a; outer::inner::S b; y[i] = a.get() + b.get() * 100 + outer::s() * 10000;",
                          lambda v: 10 + 2100 + 100000),
    "alias of a namespace": (SPACES, "y[i] = other::deep::f(0) + other::hh() * 10;", lambda v: 2 + 130),
    "opened in the body": (SPACES, "using namespace outer::inner; y[i] = f(0) + N * 10;", lambda v: 42),
    "one name used": (SPACES, "using outer::inner::f; y[i] = f(0);", lambda v: 2),
    "tables": (TABLES, "b::P<int> p; a::P<int> q; y[i] = a::w[1] + b::w[1] * 10 + p.v * 100 + q.v * 1000;",
               lambda v: 7842),
    "found by an argument": (TABLES, "a::V v{1}; b::V w{2}; y[i] = len(v) + len(w) * 10 + len(x[i]) * 1000;",
                             lambda v: 9201),
    "a function of a record outside": (TABLES, "b::V w{2}; y[i] = w.get() + a::E * 100;", lambda v: 508),
    "a function as an argument": (SPACES, "y[i] = call(outer::inner::f) + call(outer::f) * 10;", lambda v: 12),
    "enumerations": ("enum class A { X, Y }; enum class B { Y = 5, X = 7 };",
                     "y[i] = (int)A::X + (int)B::X * 10 + (int)A::Y * 100 + (int)B::Y * 1000;", lambda v: 5170),
    "template or not": (f"{PLAIN} {GENERIC}", "y[i] = f(1.f) + f(1) * 10;", lambda v: 21),
    "not or template": (f"{GENERIC} {PLAIN}", "y[i] = f(1.f) + f(1) * 10;", lambda v: 21),
    "template by value of a template": (VALUES, "y[i] = q<2>() + q<3>() * 10 + r<3>() * 1000;", lambda v: 33332),
    "template of a record": (VALUES, "S s; y[i] = s.f(1) + s.f(1.f) * 10;", lambda v: 21),
    "postfix": (STEPS, "W w{5}; W a = w++; W b = ++w; y[i] = a.n + b.n * 10 + w.n * 1000;", lambda v: 5 + 160 + 16000),
    "prefix only": (STEPS, "W w{5}; --w; y[i] = w.n;", lambda v: 4),
    "const object": (CONST, "const C c{1}; C d{2}; y[i] = c.g() + d.g() * 10 + c.at() * 100;", lambda v: 10112),
    "const inside": (CONST, "C d{2}; y[i] = d.both() + d.neither() * 10 + through(d) * 100;", lambda v: 2 + 10 + 200),
    "const through a pointer": (CONST, "C d{2}; const C* p = &d; y[i] = p->g() + pointed(&d) * 10;", lambda v: 22),
    "const pointer": (CONST, "int n = 0; const int* p = &n; int* q = &n; y[i] = f(p) + f(q) * 10 + f(&n) * 100;",
                      lambda v: 112),
    "const reference": (CONST, "C d{2}; const C& c = d; y[i] = r(d) + r(c) * 10 + c.g() * 100;", lambda v: 221),
    "copy of a constant": (CONST + "__device__ int h(C c) { return c.g(); }",
                           "const C c{1}; C d = c; auto e = c; y[i] = d.g() + h(c) * 10 + e.g() * 100;", lambda v: 111),
    "captured by copy": (CONST, "C d{2}; auto a = [=] { return d.g() + r(d) * 10; };"
                         "auto b = [&] { return d.g() + r(d) * 10; }; y[i] = a() + b() * 100;", lambda v: 1122),
    "captured by a mutable one": (CONST, "C d{2}; auto a = [=]() mutable { return d.g() + r(d) * 10; };"
                                  "auto b = [e = d] { return e.g(); }; y[i] = a() + b() * 100;", lambda v: 211),
    "number captured by copy": ("__device__ int q(int&) { return 1; } __device__ int q(const int&) { return 2; }",
                                "int n = i; auto a = [=] { return q(n); }; auto b = [=]() mutable { return q(n); };"
                                "auto c = [&] { return q(n); }; y[i] = a() + b() * 10 + c() * 100;", lambda v: 112),
    "pointer captured by copy": (CONST, "C d{2}; C* p = &d; auto a = [=] { return p->g(); }; y[i] = a();", lambda v: 1),
    "array captured by copy": (CONST, "float a[2] = {x[i], 1}; C c[2] = {{1}, {2}};"
                               "auto f = [=](int k) { return a[k] + c[1].n * 100 + c[0].g() * 1000; };"
                               "a[0] = 50; a[1] = 60; c[1].n = 9; y[i] = f(0);", lambda v: v + 2200),
    "constants of the file behind local names": (
        HIDING, "for (int n = i; n < i + 1; ++n) y[i] = width + E;"
        "{ int n = 9, m = 3; y[i] += T::K * 100 + sum() * 10000 + m - n; }",
        lambda v: 15 + 900 + 180000 - 6),
    "member of a constant": (CONST + HOLDER, "D d{{1}}; const D e{{2}};"
                             "y[i] = d.a() + d.b() * 10 + e.c.g() * 100 + d.c.g() * 1000;", lambda v: 1221),
    "hidden method": (HIDDEN, "B b; y[i] = b.g() + b.f() * 10 + b.own() * 100;", lambda v: 1 + 20 + 2100),
    "base reference": (HIDDEN, "B b; A& r = b; y[i] = r.f() + by(b) * 10;", lambda v: 11),
    "base pointer": (HIDDEN, "B b; A* p = &b; y[i] = p->f() + at(&b) * 10;", lambda v: 11),
    "hidden member": (HIDDEN, "B b; y[i] = b.count() + b.n * 100;", lambda v: 53 + 500),
    "pointer to a member": ("", "float4 v = make_float4(x[i], 1, 2, 3); float* p = &v.x; p[1] = p[2]; p += 3; *p = 7;"
                            "y[i] = v.x + v.y * 100 + v.w * 1000;", lambda v: v + 7200),
    "pointer to a later member": ("", "float4 v = make_float4(x[i], 1, 2, 3); float* p = &v.y; "
                                  "y[i] = p[-1] + p[1] * 100;", lambda v: v + 200),
}  # fmt: skip


def x() -> Array:
    """The input: small whole numbers, so that all sums are exact."""
    return np.arange(N, dtype=np.float32) - 9


@pytest.mark.parametrize("name", CASES)
def test_the_one_is_taken_that_is_meant(name: str) -> None:
    prelude, body, expected = CASES[name]
    given = x()
    done = executed(f"{prelude}\n{HEAD}  {body}\n}}\n", {"y": np.zeros(N, np.float32), "x": given}, 1, N)
    np.testing.assert_array_equal(done.arrays["y"], np.broadcast_to(np.asarray(expected(given), np.float32), N))


GUARD = "struct G { float* p; __device__ G(float* q) : p(q) { *p += 1; } __device__ ~G() { *p *= 2; } };"
BITS = "struct B { unsigned a : 3; int b : 5; };"
VIRTUAL = """
struct A { __device__ virtual int v() { return 1; }
  __device__ int f() { return 3; } __device__ int g() { return f(); } };
struct B : A { __device__ int f() { return 2; } };
"""
OPAQUE: dict[str, tuple[str, str]] = {
    "hidden beside virtual ones": (VIRTUAL, "B b; y[i] = b.g();"),
    "beside a variable": (
        "",
        "float4 v = make_float4(1, 2, 3, 4); float& r = v.x; float* p = &r; p[1] = 9; y[i] = v.y;",
    ),
    "destructor": (GUARD, "G g(y + i);"),
    "destructor of a member": (GUARD + "struct H { G g; };", "H h{G(y + i)};"),
    "destructor outside": ("struct G { float* p; __device__ ~G(); }; __device__ G::~G() { *p *= 2; }", "G g{y + i};"),
    "bit-field": (BITS, "B b; b.a = 18; y[i] = b.a;"),
    "bit-field made": (BITS, "B b{18, 17}; y[i] = b.b;"),
}


def opaque(prelude: str, body: str) -> list[str]:
    module = read_cuda(SourceFile("kernel.cu", f"{prelude}\n{HEAD}  {body}\n}}\n"), CudaOptions())
    return [op.reason for op in kernel_operations(module.lower(["k"])) if isinstance(op, Opaque)]


@pytest.mark.parametrize("name", OPAQUE)
def test_what_is_not_followed_is_opaque(name: str) -> None:
    assert opaque(*OPAQUE[name])


def test_a_destructor_that_does_nothing_is_no_hindrance() -> None:
    assert not opaque("struct G { float v; ~G() = default; }; struct H { float v; __device__ ~H() {} };",
                      "G g{x[i]}; H h{x[i]}; y[i] = g.v + h.v;")  # fmt: skip
