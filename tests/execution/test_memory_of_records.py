"""Structs, classes, views and pointers, run and compared with what C++ says they do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.execution.running import executed

Array = NDArray[np.generic]
BLOCKS, THREADS = 2, 64
N = BLOCKS * THREADS
HEAD = "__global__ void k(float* y, const float* x, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
MIXED = np.dtype({"names": ["tag", "weight", "count", "v"], "formats": ["i1", "f8", "i4", ("f4", 3)],
                  "offsets": [0, 8, 16, 20], "itemsize": 32})  # fmt: skip


def x() -> NDArray[np.float32]:
    """The input of every kernel of one array: halves, so that sums and products of a few are exact."""
    return (np.arange(N, dtype=np.float32) - 40) / 2


COMPLEX = """
struct Complex {
  float re, im;
  __device__ Complex(float a = 0.f, float b = 0.f) : re(a), im(b) {}
  __device__ Complex(const Complex& o) : Complex(o.re, o.im) {}
  __device__ Complex operator*(const Complex& o) const { return Complex(re * o.re - im * o.im, re * o.im + im * o.re); }
  __device__ Complex& operator+=(const Complex& o) { re += o.re; im += o.im; return *this; }
  __device__ Complex& operator++() { re += 1.f; return *this; }
  __device__ bool operator<(const Complex& o) const { return norm() < o.norm(); }
  __device__ float& operator[](int k) { if (k == 0) return re; return im; }
  __device__ float norm() const { return re * re + im * im; }
  __device__ operator float() const { return norm(); }
};
__device__ Complex operator+(Complex a, const Complex& b) { a += b; return a; }
__device__ Complex conjugate(Complex a) { a.im = -a.im; return a; }
__device__ const Complex& larger(const Complex& a, const Complex& b) { return a; }
"""
PACKED = """
template <class T> struct alignas(16) Packed {
  Packed() = default;
  __device__ explicit Packed(int4 bits) { memcpy(&data, &bits, sizeof(bits)); }
  __device__ T& operator[](int i) { return data[i]; }
  __device__ const T& operator[](int i) const { return data[i]; }
  __device__ int4 bits() const { int4 b; memcpy(&b, &data, sizeof(b)); return b; }
  static constexpr int size = 16 / sizeof(T);
  T data[size];
};
template <class T> __device__ Packed<T> load(const T* p) { return Packed<T>{*reinterpret_cast<const int4*>(p)}; }
template <class T> __device__ void store(T* p, Packed<T> v) { *reinterpret_cast<int4*>(p) = v.bits(); }
"""
STACK = """
template <class T, int N> struct Stack {
  T held[N];
  int size = 0;
  __device__ void push(T v) { held[size++] = v; }
  __device__ T pop() { return held[--size]; }
  template <class F> __device__ T fold(T first, F f) const {
    for (int k = 0; k < size; k++) first = f(first, held[k]);
    return first;
  }
};
struct Larger { __device__ float operator()(float a, float b) const { return a > b ? a : b; } };
"""
WALK = """
struct Walk {
  const float* at; int left;
  __device__ Walk(const float* p, int n) : at(p), left(n) {}
  __device__ bool more() const { return left > 0; }
  __device__ float next() { left--; return *at++; }
};
"""
ONE_ARRAY: dict[str, tuple[str, str, Callable[[NDArray[np.float32]], Array]]] = {
    "operators": (COMPLEX, "Complex a(x[i], 1.f), b(2.f, -1.f); Complex c = a * b + a; ++c; y[i] = c.re * 100 + c.im;",
                  lambda v: ((2 * v + 1) + v + 1) * 100 + ((-v + 2) + 1)),
    "references and copies": (COMPLEX, "Complex a(x[i], 2.f); Complex b = a; b.im = 5.f; a += b;"
                              "y[i] = a.re + a.im * 100 + b.im * 10000;", lambda v: 2 * v + 700 + 50000),
    "conversion and comparison": (COMPLEX, "Complex a(x[i]), b(3.f, 1.f); float f = a; y[i] = a < b ? f : -1.f;",
                                  lambda v: np.where(v * v < 10, v * v, -1)),
    "choice of records": (COMPLEX, "Complex a(x[i], 1.f), b(7.f, 2.f); Complex c = x[i] > 0.f ? a : b;"
                          "y[i] = c.re * 10 + c.im;", lambda v: np.where(v > 0, v * 10 + 1, 72)),
    "records by value": (COMPLEX, "Complex a(x[i], 3.f); Complex b = conjugate(a); y[i] = a.im * 10 + b.im;",
                         lambda v: np.full(N, 27)),
    "members of an element": (COMPLEX, "const Complex* c = (const Complex*)x; y[i] = c[i / 2][i % 2]"
                              " + c[i / 2].norm() + (c + i / 2)->re;",
                              lambda v: v + np.repeat((v * v).reshape(-1, 2).sum(1) + v[::2], 2)),
    "packed": (PACKED, "if (i % 4 == 0) { Packed<float> v = load(x + i), o; for (int k = 0; k < v.size; k++)"
               " o[k] = v[3 - k] * 2.f; store(y + i, o); }", lambda v: v.reshape(-1, 4)[:, ::-1].reshape(-1) * 2),
    "an array that is a member": (STACK, "Stack<float, 4> s; for (int k = 0; k < 4; k++) s.push(x[(i + k) % n]);"
                                  "s.pop(); y[i] = s.fold(-100.f, Larger());",
                                  lambda v: np.maximum(np.maximum(v, np.roll(v, -1)), np.roll(v, -2))),
    "a pointer that moves": (WALK, "Walk w(x + i % 8, 5); float s = 0.f; while (w.more()) s += w.next(); y[i] = s;",
                             lambda v: np.array([v[i % 8 : i % 8 + 5].sum() for i in range(N)])),
    "union": ("union Bits { float f; unsigned u; };", "Bits b; b.f = x[i]; b.u ^= 0x80000000u; y[i] = b.f;",
              lambda v: -v),
    "bits of a register": ("", "float v = x[i]; int b = *(int*)&v; b &= 0x7fffffff; y[i] = *(float*)&b;", np.abs),
    "halves of a word": ("", "unsigned w = i * 65536 + 7; const unsigned short* p = (const unsigned short*)&w;"
                         "y[i] = p[1] * 10 + p[0];", lambda v: np.arange(N) * 10 + 7),
    "carved shared memory": ("extern __shared__ char memory[];",
                             "float* a = (float*)memory; short* b = (short*)(a + blockDim.x); int t = threadIdx.x;"
                             "a[t] = x[i]; b[t] = (short)(t * 3); __syncthreads(); int o = blockDim.x - 1 - t;"
                             "y[i] = a[o] + b[o];",
                             lambda v: (v.reshape(BLOCKS, THREADS) + np.arange(THREADS) * 3)[:, ::-1].reshape(-1)),
    "shared records": ("struct P { char c; float f; short s; };",
                       "__shared__ P s[64]; int t = threadIdx.x; s[t].c = t; s[t].f = x[i]; s[t].s = -t;"
                       "__syncthreads(); P p = s[63 - t]; y[i] = p.f + p.c * 1000 + p.s;",
                       lambda v: (v.reshape(BLOCKS, THREADS) + np.arange(THREADS) * 999)[:, ::-1].reshape(-1)),
    "rows by pointer": ("__device__ float trace(float (*m)[3]) { return m[0][0] + m[1][1] + m[2][2]; }\n"
                        "template <int R, int C> __device__ float sum(float (&m)[R][C])"
                        "{ float s = 0; for (int r = 0; r < R; r++) for (int c = 0; c < C; c++) s += m[r][c];"
                        " return s; }",
                        "float m[3][3]; for (int k = 0; k < 9; k++) m[k / 3][k % 3] = x[i] + k;"
                        "y[i] = trace(m) * 100 + sum(m);", lambda v: (3 * v + 12) * 100 + 9 * v + 36),
    "pointer chosen in a branch": ("", "const float* p; if (i % 2) p = x + 1; else p = x + n - 1; y[i] = *p;",
                                   lambda v: np.where(np.arange(N) % 2, v[1], v[N - 1])),
    "pointer returned": ("__device__ const float* at(const float* p, int k) { if (k < 0) return p; return p + k; }",
                         "y[i] = *at(x, i - 9);", lambda v: v[np.maximum(np.arange(N) - 9, 0)]),
    "local address to a helper": ("struct Best { float v; int at; };\n__device__ void take(Best* b, float v, int k)"
                                  "{ if (v > b->v) { b->v = v; b->at = k; } }",
                                  "Best b = {-1e9f, -1};"
                                  "for (int k = 0; k < 4; k++) take(&b, x[(i * 7 + k * 5) % n], k);"
                                  "y[i] = b.v + b.at * 1000;",
                                  lambda v: np.array([max((float(v[(i * 7 + k * 5) % N]), -k) for k in range(4))[0]
                                                      + 1000 * max((float(v[(i * 7 + k * 5) % N]), -k)
                                                                   for k in range(4))[1] * -1 for i in range(N)])),
    "reference to a local": ("__device__ void swap(float& a, float& b) { float t = a; a = b; b = t; }",
                             "float a = x[i], b = 5.f; swap(a, b); float& r = a; r *= 2.f; y[i] = a * 100 + b;",
                             lambda v: 1000 + v),
    "inheritance": ("struct A { float a; __device__ float get() const { return a; } };\n"
                    "struct B : A { float b; __device__ float both() const { return get() * 10 + b; } };",
                    "B v; v.a = x[i]; v.b = 2.f; A base = v; y[i] = v.both() + base.a;", lambda v: v * 11 + 2),
    "anonymous union": ("struct V { union { struct { float x, y; }; float e[2]; }; };",
                        "V v; v.e[0] = x[i]; v.e[1] = 3.f; y[i] = v.x * 10 + v.y;", lambda v: v * 10 + 3),
    "copied and set bytes": ("", "float a[4], b[4]; memset(a, 0, sizeof(a)); a[2] = x[i];"
                             "memcpy(b, a + 1, 3 * sizeof(float));"
                             "y[i] = b[1] + b[0] + b[2];", lambda v: v),
    "constants of the file": ("enum { BASE = 5, NEXT };\n"
                              "struct K { static const int id = 7; };", "y[i] = x[i] + NEXT + K::id + sizeof(double);",
                              lambda v: v + 21),
    "vector members": ("struct R { float4 a; float b; };", "R r; r.a = make_float4(x[i], 1.f, 2.f, 3.f); r.b = 4.f;"
                       "R q = r; q.a.y += r.b; float4 w = q.a; w.z = 9.f;"
                       "y[i] = q.a.x + q.a.y * 10 + q.a.z * 100 + w.z * 1000;",
                       lambda v: v + 50 + 200 + 9000),
    "functors and closures": ("struct Add { float k; __device__ float operator()(float a) const { return a + k; } };\n"
                              "template <class F> __device__ float twice(F f, float a) { return f(f(a)); }",
                              "Add add{3.f}; float s = 1.f; auto g = [&](float a) { s += 1.f; return a * s; };"
                              "y[i] = twice(add, x[i]) + g(2.f) + g(2.f);", lambda v: v + 6 + 4 + 6),
    "constant arrays": ("__device__ const float table[2][2] = {{1.f, 2.f}, {3.f, 4.f}};\n"
                        "constexpr int steps[] = {1, -1, 2};\nstruct P { int a; float b; };\n"
                        "static const P pairs[2] = {{1, 2.f}, {3, 4.f}};",
                        "y[i] = x[i] + table[i % 2][1] * 100 + steps[i % 3] * 1000 + pairs[i % 2].b * 10 + pairs[1].a;",
                        lambda v: v + np.where(np.arange(N) % 2, 443, 223)
                        + np.array([1, -1, 2])[np.arange(N) % 3] * 1000),
    "traits": ("template <class A, class B> __device__ float pick(float v) {\n"
               "  if constexpr (std::is_same_v<A, B>) return v;\n"
               "  else { typename std::conditional<std::is_integral<A>::value, int, float>::type w = v;"
               "    return w + 0.5f; }\n"
               "}", "y[i] = pick<int, int>(x[i]) + pick<int, float>(x[i]) + pick<float, int>(x[i]);",
               lambda v: v + np.trunc(v) + v + 1),
    "reference members": ("struct Sum { float& to; __device__ Sum(float& t) : to(t) {}\n"
                          "  __device__ void add(float v) { to += v; } };",
                          "float s = 1.f; Sum sum(s); sum.add(x[i]); sum.add(2.f); y[i] = s;", lambda v: v + 3),
    "array of pointers": ("", "const float* p[2] = {x, x + 5}; p[0] = p[1] + 1; y[i] = p[0][i % 8] + p[1][0];",
                          lambda v: v[6 + np.arange(N) % 8] + v[5]),
    "sums that look like casts": ("", "int m = i, k = 3; y[i] = (m) + k * 2 - (m) * k + x[i];",
                                  lambda v: v + 6 - 2 * np.arange(N)),
}  # fmt: skip


@pytest.mark.parametrize("name", ONE_ARRAY)
def test_what_is_done_with_records_and_addresses(name: str) -> None:
    before, statements, expected = ONE_ARRAY[name]
    given = x()
    text = f"{before}\n{HEAD}{statements}\n}}"
    done = executed(text, {"y": np.zeros(N, np.float32), "x": given, "n": N}, BLOCKS, THREADS, 4096)
    assert done.faults == ()
    np.testing.assert_array_equal(done.arrays["y"], expected(given).astype(np.float32))


RECORDS = """
struct Mixed { char tag; double weight; int count; float v[3]; };
__global__ void k(Mixed* p, const Mixed* q) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Mixed m = q[i];
  m.tag += 1;
  m.weight = m.weight * 2 + m.count;
  m.v[m.count % 3] = 9.f;
  p[i] = m;
  p[i].count = -q[i].count;
  atomicAdd(&p[0].v[1], 0.f);
}
"""


def test_an_array_of_records_is_laid_out_as_in_cuda() -> None:
    given = np.zeros(N, MIXED)
    given["tag"], given["weight"], given["count"] = np.arange(N) % 100, np.arange(N) / 4, np.arange(N) + 5
    given["v"] = np.arange(3 * N).reshape(N, 3)
    bytes_ = np.frombuffer(given.tobytes(), np.int8)
    done = executed(RECORDS, {"p": np.zeros(32 * N, np.int8), "q": bytes_}, BLOCKS, THREADS)
    assert done.faults == ()
    found = np.frombuffer(done.arrays["p"].tobytes(), MIXED)
    np.testing.assert_array_equal(found["tag"], given["tag"] + 1)
    np.testing.assert_array_equal(found["weight"], given["weight"] * 2 + given["count"])
    np.testing.assert_array_equal(found["count"], -given["count"])
    expected = given["v"].copy()
    expected[np.arange(N), given["count"] % 3] = 9
    np.testing.assert_array_equal(found["v"], expected)


HALVES = """
__global__ void k(half* y, const half* x) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
  float4 v = *(const float4*)&x[i];
  half2* h = (half2*)&v;
  for (int k = 0; k < 4; k++) h[k] = __hadd2(h[k], h[k]);
  ((uint4*)y)[i / 8] = *(uint4*)&v;
}
"""


def test_halves_moved_as_wider_words_keep_their_bits() -> None:
    given = (np.arange(8 * N) % 512).astype(np.float16)
    done = executed(HALVES, {"y": np.zeros(8 * N, np.float16), "x": given}, BLOCKS, THREADS)
    assert done.faults == ()
    np.testing.assert_array_equal(done.arrays["y"], given + given)


PARAMETERS = """
struct Inner { float2 c; int d[3]; };
struct Given { float* out; const float* from[2]; Inner in; int n; float w[2][2]; };
struct Next { __device__ float operator()(float a) const { return a + 1.f; } };
template <class F> __global__ void k(Given p, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  p.n += 1;
  p.out[i] = f(p.from[0][i] + p.from[1][i]) + p.in.c.y + p.in.d[i % 3] + p.w[1][i % 2] + p.n;
}
void run(Given p) { k<Next><<<2, 64>>>(p, Next()); }
"""


def test_a_record_by_value_is_taken_apart() -> None:
    given, w = x(), np.array([[1, 2], [3, 4]], np.float32)
    arguments = {
        "p.out": np.zeros(N, np.float32), "p.from[0]": given, "p.from[1]": given * 2, "p.in.c.x": 0, "p.in.c.y": 7,
        "p.in.d": np.array([10, 20, 30], np.int32), "p.n": 100, "p.w": w,
    }  # fmt: skip
    done = executed(PARAMETERS, arguments)
    assert done.faults == ()
    expected = given * 3 + 1 + 7 + np.array([10, 20, 30])[np.arange(N) % 3] + w[1][np.arange(N) % 2] + 101
    np.testing.assert_array_equal(done.arrays["p.out"], expected.astype(np.float32))


def test_large_members_that_a_list_does_not_reach_are_zero() -> None:
    text = """
    struct B { int c; int a[100]; int m[9][9]; };
    struct E { B b; int d = 3; };
    __global__ void k(int* x, int n) {
      B b = {n}; E e = {}; B z{};
      x[0] = b.c; x[1] = b.a[77] + b.m[8][7]; x[2] = e.b.a[n] + e.d; x[3] = z.m[n][n] + 9;
    }"""
    done = executed(text, {"x": np.zeros(4, np.int32), "n": 4}, 1, 1)
    assert done.events == ()
    assert done.arrays["x"].tolist() == [4, 0, 3, 9]
