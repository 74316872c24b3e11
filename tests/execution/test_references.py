"""Pointers that functions, lambdas and references move: run and compared with what a C++ compiler makes of the text."""

from __future__ import annotations

import numpy as np
import pytest
from tests.execution.running import executed

START = (0, 1, 2, 5, 3, 0, 0, 0)
"""What `x` holds before; `n` is 4."""
MOVING = """
__device__ void forth(const int*& p, int n) { p += n; }
__device__ void up(int*& p) { ++p; }
__device__ void both(int*& p) { up(p); up(p); }
__device__ void by(int** p, int n) { *p += n; }
__device__ int eaten(const int** p) { int v = **p; (*p)++; return v; }
__device__ int second(const int* const& p) { return p[1]; }
template <class P> __device__ void any(P& p, int n) { p += n; }
struct Stepper { __device__ void operator()(int*& p) const { p += 2; } };
template <class F> __device__ int applied(F f, int* p) { f(p); return *p; }
struct Span { int* p; int n; __device__ void go() { p += n; } };
__device__ void shift(Span& s) { s.p += s.n; }
"""
CARVED = """
template <class T> __device__ T* taken(char*& p, int n) { T* r = (T*)p; p += n * sizeof(T); return r; }
template <class T> __device__ T* fetched(char** p, int n) { T* r = (T*)*p; *p += n * sizeof(T); return r; }
struct Pool {
  char*& p;
  __device__ Pool(char*& q) : p(q) {}
  template <class T> __device__ T* take(int n) { T* r = (T*)p; p += n * sizeof(T); return r; }
};
"""

CASES: dict[str, tuple[str, str, tuple[int, ...]]] = {
    "reference to a pointer to const": (MOVING, "const int* q = x; forth(q, n - 1); x[7] = *q;",
                                        (0, 1, 2, 5, 3, 0, 0, 5)),
    "reference": (MOVING, "int* q = x; both(q); up(q); *q = 9;", (0, 1, 2, 9, 3, 0, 0, 0)),
    "parameter of the kernel": (MOVING, "up(x); x[2] = 9;", (0, 1, 2, 9, 3, 0, 0, 0)),
    "pointer to a pointer": (MOVING, "int* q = x; by(&q, 2); *q = 9; x[7] = q - x;", (0, 1, 9, 5, 3, 0, 0, 2)),
    "value and step": (MOVING, "const int* q = x + 1; int s = eaten(&q); x[7] = s * 100 + eaten(&q) * 10 + *q;",
                       (0, 1, 2, 5, 3, 0, 0, 125)),
    "template": (MOVING, "int* q = x; any(q, n); *q = 9; int k = 1; any(k, 6); x[0] = k;", (7, 1, 2, 5, 9, 0, 0, 0)),
    "reference that changes nothing": (MOVING, "int* q = x; q += 1; x[7] = second(q) * 10 + second(x + 2);",
                                       (0, 1, 2, 5, 3, 0, 0, 25)),
    "function object": (MOVING, "int* q = x; Stepper step; step(q); *q = 9; x[7] = applied(step, x + 1);",
                        (0, 1, 9, 5, 3, 0, 0, 5)),
    "lambda with a reference": (MOVING, "int* q = x; auto go = [](int*& p, int k) { p += k; return *p; };"
                                "x[6] = go(q, 1); x[7] = go(q, 2); *q = 9;", (0, 1, 2, 9, 3, 0, 1, 5)),
    "lambda that is handed on": (MOVING, "int s = 2; auto add = [](int& v) { return v += 5; }; int t = add(s);"
                                 "x[7] = s * 10 + t; x[6] = applied([](int*& p) { ++p; }, x + 2);",
                                 (0, 1, 2, 5, 3, 0, 5, 77)),
    "under a condition": (MOVING, "int* q = x; if (n > 3) up(q); else by(&q, 5); *q = 9; if (n > 4) up(q); q[1] = 8;",
                          (0, 9, 8, 5, 3, 0, 0, 0)),
    "in a loop": (MOVING, "int* q = x; for (int i = 0; i < n; ++i) { *q = i + 5; up(q); } *q = 1;",
                  (5, 6, 7, 8, 1, 0, 0, 0)),
    "member": (MOVING, "Span s; s.p = x; s.n = 2; up(s.p); by(&s.p, 1); s.go(); shift(s); *s.p = s.p - x;",
               (0, 1, 2, 5, 3, 0, 6, 0)),
    "name for a pointer": (MOVING, "int* q = x; int*& r = q; r += 2; *q = 9; const int* c = x; const int*& d = c; ++d;"
                           "x[7] = *c;", (0, 1, 9, 5, 3, 0, 0, 1)),
    "pointer variable by its address": (MOVING, "int* q = x; int** r = &q; *r += 2; *q = 9; (*r)[1] = 8; **r += 1;"
                                        "r[0] -= 2; *q = 7;", (7, 1, 10, 8, 3, 0, 0, 0)),
    "arrays carved one after the other": (
        CARVED, "__shared__ char m[64]; char* p = m; int* a = taken<int>(p, 3); float* b = taken<float>(p, 2);"
        "int* c = fetched<int>(&p, 2); for (int i = 0; i < 3; ++i) a[i] = i + 1; b[0] = 4.f; b[1] = 5.f; c[0] = 6;"
        "for (int i = 0; i < 3; ++i) x[i] = a[i]; x[3] = b[0] * b[1]; x[4] = c[0]; x[5] = p - m;",
        (1, 2, 3, 20, 6, 28, 0, 0)),
    "carved by an object": (CARVED, "__shared__ char m[64]; char* p = m; Pool pool(p); int* a = pool.take<int>(2);"
                            "int* b = pool.take<int>(2); a[1] = 3; b[0] = 4; x[0] = a[1]; x[1] = b[0]; x[2] = p - m;",
                            (3, 4, 16, 5, 3, 0, 0, 0)),
}  # fmt: skip


@pytest.mark.parametrize(("before", "statements", "wanted"), CASES.values(), ids=CASES)
def test_pointers_are_where_they_were_moved(before: str, statements: str, wanted: tuple[int, ...]) -> None:
    text = f"{before}\n__global__ void k(int* x, int n) {{ {statements} }}"
    done = executed(text, {"x": np.array(START, np.int32), "n": 4}, 1, 1)
    assert done.stopped is None
    assert done.arrays["x"].tolist() == list(wanted)


def test_arrays_carved_by_reference_do_not_overlap() -> None:
    text = f"""{CARVED}
    __global__ void k(float* y, const float* x) {{
      extern __shared__ char m[];
      char* p = m;
      float* a = taken<float>(p, blockDim.x);
      int* b = taken<int>(p, blockDim.x);
      int t = threadIdx.x;
      a[t] = x[t];
      b[t] = t;
      __syncthreads();
      y[t] = a[blockDim.x - 1 - t] + b[t];
    }}"""
    x = np.linspace(0, 1, 64, dtype=np.float32)
    done = executed(text, {"y": np.zeros(64, np.float32), "x": x}, 1, 64, shared=512)
    assert done.faults == ()
    np.testing.assert_array_equal(done.arrays["y"], x[::-1] + np.arange(64, dtype=np.float32))
