"""Templates with parameter packs compute what a C++ compiler makes of the same text."""

from __future__ import annotations

import numpy as np
import pytest
from tests.execution.running import executed

START = (0, 1, 2, 5, 3, 0, 0, 0)
"""What `x` holds before; `n` is 4."""

RECURSIVE = """
__device__ int sum() { return 0; }
template <class T, class... R> __device__ int sum(T a, R... r) { return a + sum(r...); }
template <class T, class... R> __device__ T largest(T a, R... r) {
  if constexpr (sizeof...(r) == 0) { return a; } else { T b = largest(r...); return a > b ? a : b; }
}
template <int F, int... R> __device__ int digits() {
  if constexpr (sizeof...(R) > 0) return F + 10 * digits<R...>(); else return F;
}
"""
FOLDS = """
template <class... T> __device__ int plus(T... t) { return (t + ...); }
template <class... T> __device__ int from_ten(T... t) { return (10 - ... - t); }
template <class... T> __device__ int left(T... t) { return (... - t); }
template <class... T> __device__ int right(T... t) { return (t - ...); }
template <class... T> __device__ bool all(T... t) { return (... && t); }
template <class... T> __device__ void put(int* x, T... t) { int i = 0; ((x[i++] = t), ...); }
template <class... T> __device__ float halves(T... t) { return ((float(t) * 0.5f) + ...); }
"""
EXPANSIONS = """
__device__ int two(int a, int b) { return a * 10 + b; }
template <class... T> __device__ int count(T... t) { return sizeof...(T) * 10 + sizeof...(t); }
template <class... T> __device__ int next(T... t) { return two((t + 1)...); }
template <class... T> __device__ int second(T... t) { int a[] = {t...}; return a[1]; }
template <class F, class... A> __device__ int call(F f, A&&... a) { return f(std::forward<A>(a)...); }
template <class... T> __device__ void add(T&... t) { ((t += 1), ...); }
template <class... T> __device__ int bytes() { return (sizeof(T) + ... + 0); }
"""
RECORDS = """
template <class... T> struct Tuple {};
template <class H, class... R> struct Tuple<H, R...> { H head; Tuple<R...> tail; };
template <int... D> struct Shape {
  static constexpr int rank = sizeof...(D), size = (D * ...);
  __device__ static int at(int i) { const int d[] = {D...}; return d[i]; }
};
template <class... T> struct Adder {
  int k;
  __device__ int of(T... t) const { return (t + ... + k); }
  template <class... U> __device__ int more(U... u) const { return sizeof...(T) * 10 + sizeof...(U); }
};
struct Three { int d[3]; template <class... T> __device__ Three(T... t) : d{t...} {} };
template <int... I> struct Indices {};
template <int... I> __device__ int picked(const int* p, Indices<I...>) { return (p[I] + ...); }
"""
SPACES = """
namespace a {
__device__ int one(int v) { return v + 1; }
template <class... T> __device__ int s(T... t) { return (one(t) + ...); }
}
namespace b {
__device__ int one(int v) { return v + 2; }
template <class... T> __device__ int s(T... t) { return (one(t) + ...); }
}
__device__ int f(int a) { return 1; }
template <class... T> __device__ int f(T... t) { return 2; }
template <class T> __device__ int g(T t) { return 3; }
template <class T, class... R> __device__ int g(T t, R... r) { return 4; }
"""

CASES: dict[str, tuple[str, str, tuple[int, ...]]] = {
    "head and tail": (RECURSIVE, "x[0] = sum(1, 2, n); x[1] = sum(); x[2] = largest(3, n, 2);"
                      "x[3] = digits<4, 5, 6>();",
                      (7, 0, 4, 654, 3, 0, 0, 0)),
    "folds": (FOLDS, "x[0] = plus(1, n, 3); x[1] = from_ten(1, 2); x[2] = left(10, 3, 2); x[3] = right(10, 3, 2);"
              "x[4] = all(n > 1, n > 9) * 10 + all();", (8, 7, 5, 9, 1, 0, 0, 0)),
    "fold of assignments": (FOLDS, "put(x, 5, n, 7); put(x); x[4] = halves(1, 2.5f, n) * 4;",
                            (5, 4, 7, 5, 15, 0, 0, 0)),
    "expansions": (EXPANSIONS, "x[0] = count(1, n, 3); x[1] = count(); x[2] = next(1, n); x[3] = second(1, n, 3);"
                   "x[4] = bytes<int, double, char>();", (33, 0, 25, 4, 13, 0, 0, 0)),
    "handed on": (EXPANSIONS, "x[0] = call([](int a, int b) { return a * 10 + b; }, n, 3); x[1] = call(two, 1, 2);",
                  (43, 12, 2, 5, 3, 0, 0, 0)),
    "references": (EXPANSIONS, "int a = 1, b = 2; add(a, b); add(x[2], a); x[0] = a * 10 + b;",
                   (33, 1, 3, 5, 3, 0, 0, 0)),
    "lambda": ("", "auto s = [](auto... v) { return (v + ...); }; x[0] = s(1, n, 3); x[1] = s(n);",
               (8, 4, 2, 5, 3, 0, 0, 0)),
    "records": (RECORDS, "Tuple<int, float> t; t.head = n; t.tail.head = 2.5f; x[0] = t.head * t.tail.head;"
                "x[1] = Shape<2, 3, 4>::size + Shape<2, 3>::rank; x[2] = Shape<5, 6, 7>::at(n - 3);",
                (10, 26, 6, 5, 3, 0, 0, 0)),
    "functions of records": (RECORDS, "Adder<int, int> a{3}; x[0] = a.of(n, 2); x[1] = a.more(1, 2, 3);"
                             "Three v(1, n, 3);"
                             "x[2] = v.d[1] * 10 + v.d[2]; x[3] = picked(x + 3, Indices<0, 1>{});",
                             (9, 23, 43, 8, 3, 0, 0, 0)),
    "which one": (SPACES, "x[0] = a::s(1, 2) * 10 + b::s(1, 2); x[1] = f(1) * 10 + f(1, 2);"
                  "x[2] = g(1) * 10 + g(1, 2);",
                  (57, 12, 34, 5, 3, 0, 0, 0)),
}  # fmt: skip


@pytest.mark.parametrize(("before", "statements", "wanted"), CASES.values(), ids=CASES)
def test_packs_are_written_out(before: str, statements: str, wanted: tuple[int, ...]) -> None:
    text = f"{before}\n__global__ void k(int* x, int n) {{ {statements} }}"
    done = executed(text, {"x": np.array(START, np.int32), "n": 4}, 1, 1)
    assert done.stopped is None
    assert done.arrays["x"].tolist() == list(wanted)
