"""Overloads that differ in what is hard to see: the one that C++ means is taken, or the call is opaque; never another.

Each case says what C++ gives, and whether that much is understood (else the call is to be opaque).
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.execution.running import executed

from portcheck.core.source import SourceFile
from portcheck.frontends.cuda import CudaOptions, read_cuda
from portcheck.ir import Opaque, kernel_operations

N = 4
D = "__device__"
KIND = f"""
template <class T, typename std::enable_if<std::is_integral<T>::value, int>::type = 0> {D} int f(T) {{ return 1; }}
template <class T, typename std::enable_if<std::is_floating_point<T>::value, int>::type = 0>
{D} int f(T) {{ return 2; }}
"""
RESULT = f"""
template <class T> {D} typename std::enable_if<std::is_integral<T>::value, int>::type f(T) {{ return 1; }}
template <class T> {D} typename std::enable_if<std::is_floating_point<T>::value, int>::type f(T) {{ return 2; }}
"""
WIDTH = f"""
template <class T, std::enable_if_t<sizeof(T) == 8, int> = 0> {D} int f(T) {{ return 1; }}
template <class T, std::enable_if_t<sizeof(T) == 4, int> = 0> {D} int f(T) {{ return 2; }}
"""
REQUIRES = f"""
template <class T> requires std::is_integral_v<T> {D} int f(T) {{ return 1; }}
template <class T> requires std::is_floating_point_v<T> {D} int f(T) {{ return 2; }}
"""
FLAG = f"""
template <bool B, class T> {D} typename std::enable_if<B, int>::type g(T x) {{ return x; }}
template <bool B, class T> {D} typename std::enable_if<!B, int>::type g(T x) {{ return -x; }}
"""
TRUTH = f"{D} int h(std::true_type) {{ return 8; }} {D} int h(std::false_type) {{ return 9; }}"
CONSTANT = f"""
{D} int f(std::integral_constant<int, 1>) {{ return 1; }}
{D} int f(std::integral_constant<int, 2>) {{ return 2; }}
"""
TAG = f"template <int I> struct IC {{}}; {D} int g(IC<0>) {{ return 3; }}\n"
TAG += f"template <int I> {D} int g(IC<I>) {{ return 4 + I; }}"
DOWN = f"template <int I> struct Int {{}}; {D} int dn(Int<0>) {{ return 0; }}\n"
DOWN += f"template <int I> {D} int dn(Int<I>) {{ return I + dn(Int<I - 1>()); }}"
ARR = "template <class T, int N> struct Arr { T v[N]; };\n"
EXTENT = ARR + f"template <class T> {D} int g(Arr<T, 4>&) {{ return 4; }}\n"
EXTENT += f"template <class T> {D} int g(Arr<T, 8>&) {{ return 8; }}"
OPEN = ARR + f"template <class T> {D} int f(Arr<T, 2>) {{ return 1; }}\n"
OPEN += f"template <class T, int N> {D} int f(Arr<T, N>) {{ return 2; }}"
ENUM = f"enum E {{ A }}; enum class C {{ A }}; {D} int f(int) {{ return 1; }} {D} int f(E) {{ return 2; }}\n"
ENUM += f"{D} int f(C) {{ return 3; }}"
AWAY = f"{D} int f(missing::A) {{ return 1; }} {D} int f(missing::B) {{ return 2; }}"
MOVED = f"{D} int lr(int&) {{ return 1; }} {D} int lr(int&&) {{ return 2; }}"
ADDED = f"{D} int ov(const float*) {{ return 1; }} template <class T> {D} int ov(T) {{ return 2; }}"
POINTED = f"struct P {{}}; struct Q {{}}; {D} int f(P*) {{ return 1; }} {D} int f(Q*) {{ return 2; }}"
METHOD = f"enum E {{ A }}; struct S {{ {D} int f(int) {{ return 1; }} {D} int f(E) {{ return 2; }} }};"
MADE = f"enum E {{ A }}; struct S {{ int v; {D} S(int) : v(1) {{}} {D} S(E) : v(2) {{}} }};"
OPERATOR = (
    f"struct S {{ int v; }}; enum E {{ A }}; {D} int operator+(S, int) {{ return 1; }} {D} int operator+(S, E)"
    " { return 2; }"
)
CASES: dict[str, tuple[str, str, float, bool]] = {
    "enable_if": (KIND, "y[i] = f(3.f) + f(3) * 10;", 12, True),
    "enable_if result": (RESULT, "y[i] = f(3.f) + f(3) * 10;", 12, True),
    "enable_if_t": (WIDTH, "y[i] = f(3.0) * 10 + f(3.f);", 12, True),
    "requires": (REQUIRES, "y[i] = f(3.f);", 2, True),
    "flag": (FLAG, "y[i] = g<false>(5) + g<true>(70);", 65, True),
    "truth made": (TRUTH, "y[i] = h(std::is_same<int, float>{});", 9, False),
    "truth": (TRUTH, "y[i] = h(std::false_type());", 9, False),
    "constant": (CONSTANT, "y[i] = f(std::integral_constant<int, 2>{});", 2, False),
    "tag": (TAG, "y[i] = g(IC<2>{}) * 10 + g(IC<0>{});", 63, True),
    "recursion": (DOWN, "y[i] = dn(Int<4>());", 10, False),
    "extent": (EXTENT, "Arr<float, 8> c; y[i] = g(c);", 8, True),
    "open extent": (OPEN, "Arr<int, 5> c; y[i] = f(c);", 2, True),
    "closed extent": (OPEN, "Arr<int, 2> c; y[i] = f(c);", 1, True),
    "enumeration": (ENUM, "y[i] = f(A);", 2, False),
    "scoped enumeration": (ENUM, "y[i] = f(C::A);", 3, False),
    "not at hand": (AWAY, "y[i] = f(missing::B());", 2, False),
    "temporary": (MOVED, "y[i] = lr(3);", 2, False),
    "constness added": (ADDED, "float* p = y; y[i] = ov(p);", 2, True),
    "pointers to records": (POINTED, "Q q; y[i] = f(&q);", 2, True),
    "method": (METHOD, "S s; y[i] = s.f(A);", 2, False),
    "constructor": (MADE, "S s(A); y[i] = s.v;", 2, False),
    "operator": (OPERATOR, "S s; y[i] = s + A;", 2, False),
    "numbers": (f"{D} int f(int) {{ return 1; }} {D} int f(float) {{ return 2; }}", "y[i] = f(1.f);", 2, True),
    "references": (f"{D} int f(double&) {{ return 1; }} {D} int f(float&) {{ return 2; }}",
                   "float a; y[i] = f(a);", 2, True),
    "pointers before all": (f"template <class T> {D} int f(T) {{ return 1; }} template <class T> {D} int f(T*)"
                            " { return 2; }", "y[i] = f(y) * 10 + f(1.f);", 21, True),
    "passing away": (f"{D} int f(const int&) {{ return 1; }} {D} int f(int&&) {{ return 2; }}",
                     "int a = 0; y[i] = f(a) * 10 + f(3);", 12, False),
    "deeper": (f"template <class T> struct W {{ T v; }}; template <class T> {D} int f(W<T>) {{ return 2; }}"
               f" template <class T> {D} int f(W<W<T>>) {{ return 3; }}", "W<W<int>> v; y[i] = f(v);", 3, False),
    "arguments given": (f"template <class T> {D} int f(T) {{ return 1; }} {D} int f(int) {{ return 2; }}",
                        "y[i] = f<int>(1);", 1, True),
    "template of a record": (f"template <class T> struct W {{ T v; }}; template <class T> {D} int f(T) {{ return 1; }}"
                             f" template <class T> {D} int f(const W<T>& w) {{ return 2; }}",
                             "W<int> w; y[i] = f(w) * 10 + f(1);", 21, True),
    "array": (f"{D} int f(const float*) {{ return 1; }} {D} int f(float) {{ return 2; }}",
              "float a[3]; a[1] = 0; y[i] = f(a) * 10 + f(a[1]);", 12, True),
    "twice by one head": (f"{D} int f(int a) {{ return 1; }} {D} int f(int b) {{ return 1; }}",
                          "y[i] = f(1);", 1, True),
    "template beside": (f"template <class T> {D} int f(T) {{ return 1; }} {D} int f(int) {{ return 2; }}",
                        "y[i] = f(1);", 2, True),
    "pointer template": (f"template <class T> {D} int f(T*) {{ return 1; }} {D} int f(int*) {{ return 2; }}",
                         "int a; y[i] = f(&a);", 2, True),
}  # fmt: skip


def reasons(source: str) -> list[str]:
    module = read_cuda(SourceFile("kernel.cu", source), CudaOptions())
    return [op.reason for op in kernel_operations(module.lower(["k"])) if isinstance(op, Opaque)]


@pytest.mark.parametrize("name", CASES)
def test_the_overload_is_the_one_that_is_meant(name: str) -> None:
    prelude, body, expected, is_understood = CASES[name]
    source = f"{prelude}\n__global__ void k(float* y) {{\n  int i = threadIdx.x;\n  {body}\n}}\n"
    found = reasons(source)
    if found:
        assert not is_understood, found
        return
    done = executed(source, {"y": np.zeros(N, np.float32)}, 1, N)
    np.testing.assert_array_equal(done.arrays["y"], np.full(N, expected, np.float32))
