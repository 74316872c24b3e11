"""Structs and classes: what a kernel that uses them computes, seen by the formula of what it stores."""

from __future__ import annotations

import pytest
from tests.frontends.cuda.reading import body, not_understood, program

from portcheck.values import coordinate_names, evaluate, term_text

COMPLEX = """
struct Complex {
  float re, im;
  __device__ Complex(float a = 0.f, float b = 0.f) : re(a), im(b) {}
  __device__ Complex operator*(const Complex& o) const { return Complex(re * o.re - im * o.im, re * o.im + im * o.re); }
  __device__ Complex& operator+=(const Complex& o) { re += o.re; im += o.im; return *this; }
  __device__ Complex operator-() const { return Complex(-re, -im); }
  __device__ float& operator[](int i) { return i == 0 ? re : im; }
  __device__ float norm() const { return re * re + im * im; }
  __device__ void scale(float f);
  __device__ static Complex one() { return {1.f, 0.f}; }
  static constexpr int parts = 2;
};
__device__ void Complex::scale(float f) { re *= f; im *= f; }
__device__ Complex operator+(Complex a, const Complex& b) { a += b; return a; }
"""
PACKED = """
template <class T> struct alignas(16) Packed {
  Packed() = default;
  __device__ explicit Packed(int4 bits) { memcpy(&data, &bits, sizeof(bits)); }
  __device__ static Packed filled(T v) { Packed r; for (int k = 0; k < size; ++k) r.data[k] = v; return r; }
  __device__ T& operator[](int i) { return data[i]; }
  __device__ const T& operator[](int i) const { return data[i]; }
  __device__ int4 bits() const { int4 b; memcpy(&b, &data, sizeof(b)); return b; }
  static constexpr int size = 16 / sizeof(T);
  T data[size];
};
template <class T> __device__ Packed<T> load(const T* p) { return Packed<T>{*reinterpret_cast<const int4*>(p)}; }
template <class T> __device__ void store(T* p, Packed<T> v) { *reinterpret_cast<int4*>(p) = v.bits(); }
using Floats = Packed<float>;
"""
SHAPES = """
struct Base { float a; __device__ float twice() const { return a * 2.f; } };
struct Derived : public Base { float b; __device__ float sum() const { return twice() + b; } };
struct Defaults { float a = 2.f; float v[2] = {3.f, 4.f}; float3 w{1.f, 5.f, 6.f}; };
struct Outer { struct Inner { float x; } in; float y; };
struct View { float* p; int n; __device__ float& at(int i) { return p[i]; } };
struct Plus { __device__ float operator()(float a, float b) const { return a + b; } };
struct Times { template <class T> __device__ T operator()(T a, T b) const { return a * b; } };
template <class F> __device__ float apply(F f, float a, float b) { return f(a, b); }
template <class F> __device__ float made(float a, float b) { F f; return f(a, b); }
template <class T, int N> struct Row {
  T v[N];
  __device__ T total() { T s = T(0); for (int k = 0; k < N; k++) s += v[k]; return s; }
};
template <class T> struct Kind { static constexpr int id = 1; };
template <class T> struct Kind<T*> { static constexpr int id = 2; };
template <> struct Kind<double> { static constexpr int id = 3; };
template <class T> struct Shared { __device__ operator T*() { extern __shared__ int memory[]; return (T*)memory; } };
template <class T> struct Traits { using type = T; };
template <> struct Traits<int> { using type = float; };
struct Number { float v; __device__ operator float() const { return v; } };
__device__ float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
__device__ void operator+=(float3& a, float3 b) { a.x += b.x; a.y += b.y; a.z += b.z; }
__device__ void reset(Base* b, float v) { b->a = v; }
__device__ void raise(Base& b) { b.a += 1.f; }
namespace ns { struct Scale { enum { factor = 3 }; float k; __device__ Scale(float v) : k(v * factor) {} }; }
"""
BODIES = {
    "product": (COMPLEX, "Complex a(x[t], 2.f), b = Complex(3.f); Complex c = a * b; y[t] = c.im;", "x[i] * 0 + 2 * 3"),
    "compound assignment": (COMPLEX, "Complex a(x[t]), b(1.f); a += b; y[t] = a.re;", "x[i] + 1"),
    "free operator": (COMPLEX, "Complex a(x[t]), b(1.f); Complex c = a + b; y[t] = c.re + a.re;", "x[i] + 1 + x[i]"),
    "unary operator": (COMPLEX, "Complex a(x[t]); y[t] = (-a).re;", "-x[i]"),
    "function outside": (COMPLEX, "Complex a(x[t]); a.scale(3.f); y[t] = a.re;", "x[i] * 3"),
    "static function and member": (COMPLEX, "y[t] = x[t] + Complex::one().re + Complex::parts;", "x[i] + 1 + 2"),
    "method on an element": (COMPLEX, "y[t] = ((const Complex*)x)[t].norm();",
                             "x[2*i] * x[2*i] + x[2*i + 1] * x[2*i + 1]"),
    "packed": (PACKED, "Packed<float> v = load(x + t * Floats::size), o; for (int k = 0; k < v.size; k++)"
               " o[k] = v[k] * 2.f; store(y + t * Floats::size, o);", None),
    "filled": (PACKED, "Floats v = Floats::filled(7.f); v[1] += x[t]; y[t] = v[1] + v[0];", "7 + x[i] + 7"),
    "inheritance": (SHAPES, "Derived d; d.a = x[t]; d.b = 1.f; y[t] = d.sum();", "x[i] * 2 + 1"),
    "default members": (SHAPES, "Defaults d; y[t] = d.a + d.v[1] + d.w.z + x[t];", "2 + 4 + 6 + x[i]"),
    "nested list": (SHAPES, "Outer o = {{x[t]}, 2.f}; y[t] = o.in.x + o.y;", "x[i] + 2"),
    "designated list": (SHAPES, "Base b = {.a = x[t]}; y[t] = b.twice();", "x[i] * 2"),
    "copy": (SHAPES, "Outer o; o.in.x = x[t]; Outer p = o; o.in.x = 0.f; y[t] = p.in.x;", "x[i]"),
    "pointer member": (SHAPES, "View v{y, n}; v.at(t) = x[t];", "x[i]"),
    "functor argument": (SHAPES, "y[t] = apply(Plus(), x[t], 2.f);", "x[i] + 2"),
    "functor template argument": (SHAPES, "y[t] = made<Times>(x[t], 2.f);", "x[i] * 2"),
    "functor variable": (SHAPES, "Plus f; y[t] = f(x[t], 2.f);", "x[i] + 2"),
    "numbers in templates": (SHAPES, "Row<float, 2> r; r.v[0] = x[t]; r.v[1] = 1.f; y[t] = r.total();", None),
    "partial specialisation": (SHAPES, "y[t] = x[t] + Kind<int*>::id;", "x[i] + 2"),
    "full specialisation": (SHAPES, "y[t] = x[t] + Kind<double>::id;", "x[i] + 3"),
    "conversion to a pointer": (SHAPES, "float* s = Shared<float>(); s[i] = x[t]; __syncthreads(); y[t] = s[i];",
                                "x[i]"),
    "conversion to a number": (SHAPES, "Number v = {x[t]}; float f = v; y[t] = f + 1.f;", "x[i] + 1"),
    "number in an operator": (SHAPES, "Number v = {x[t]}; y[t] = v * 2.f;", "x[i] * 2"),
    "type of a trait": (SHAPES, "typename Traits<int>::type v = x[t]; y[t] = v;", "x[i]"),
    "vector operators": (SHAPES, "float3 p = make_float3(x[t], 0.f, 0.f); p += p + p; y[t] = p.x;",
                         "x[i] + (x[i] + x[i])"),
    "pointer to a variable": (SHAPES, "Base b; reset(&b, x[t]); y[t] = b.a;", "x[i]"),
    "reference to a variable": (SHAPES, "Base b; b.a = x[t]; raise(b); Base& c = b; raise(c); y[t] = b.a;",
                                "x[i] + 1 + 1"),
    "constructor with an enumerator": (SHAPES, "ns::Scale s(x[t]); y[t] = s.k;", "x[i] * 3"),
    "array of records": (SHAPES, "Outer o[2]; o[1].in.x = x[t]; o[0] = o[1]; y[t] = o[0].in.x;", "x[i]"),
    "local type": ("", "struct L { float v; }; L l = {x[t]}; y[t] = l.v;", "x[i]"),
    "shared records": (SHAPES, "__shared__ Outer s[256]; s[i].y = x[t]; __syncthreads(); y[t] = s[i].y;", "x[i]"),
    "auto": (SHAPES, "auto b = Base{x[t]}; y[t] = b.a;", "x[i]"),
    "limit": ("", "y[t] = fminf(x[t], std::numeric_limits<float>::max());",
              "min(x[i], 340282346638528859811704183484516925440)"),
}  # fmt: skip


def stored(before: str, statements: str) -> tuple[list[str], list[str]]:
    """What is not understood of a kernel, and the formulas of what it stores to y."""
    text = (
        f"{before}\n__global__ void k(float* y, const float* x, int n) {{\n"
        f"  const int i = threadIdx.x, t = blockIdx.x * blockDim.x + threadIdx.x;\n{statements}\n}}\n"
        "void run(float* y, const float* x, int n) { k<<<(n + 255) / 256, 256>>>(y, x, n); }\n"
    )
    lowered = program(text)
    contract = evaluate(lowered).contract("y")
    pieces = contract.pieces if contract is not None else ()
    found = [term_text(piece.value, coordinate_names(piece.bounds, piece.address.symbols)) for piece in pieces]
    return not_understood(list(lowered.kernels[0].body)), found


@pytest.mark.parametrize("name", BODIES)
def test_records_compute_what_their_functions_say(name: str) -> None:
    before, statements, expected = BODIES[name]
    unknown, found = stored(before, statements)
    assert unknown == []
    if expected is not None:
        assert found == [expected]


OPAQUE = {
    "virtual": ("struct V { float a; virtual __device__ float f() { return a; } };", "V v; x[0] = v.f();"),
    "pointer into memory or at a variable": ("", "float v = 1.f, *p; if (n) p = x; else p = &v; x[0] = p[0]; v = 2.f;"),
    "pointer into memory of one of two sorts": (
        "__device__ float* at(float* p, int* q, int k) { if (k < 0) return (float*)q; return p + k; }",
        "__shared__ int s[4]; x[0] = at(x, s, n)[0];",
    ),
    "pointer of an array set at an index": ("", "float* p[2] = {x, x + 1}; p[n] = x + 2; x[0] = p[1][0];"),
    "write through one of two references": (
        "struct V { float a, b; __device__ float& at(int i) { if (i) return a; return b; } };",
        "V v = {1.f, 2.f}; v.at(n) = 3.f; x[0] = v.a;",
    ),
    "bit-field": ("struct B { unsigned a : 3; };", "B b; x[0] = b.a;"),
    "new": ("struct B { float a; };", "B* b = new B(); x[0] = b->a;"),
    "constructor that does not fit": ("struct B { float a; __device__ B(float v) : a(v) {} };",
                                      "B b(1.f, 2.f); x[0] = b.a;"),
}  # fmt: skip


@pytest.mark.parametrize(("before", "statements"), OPAQUE.values(), ids=OPAQUE)
def test_what_records_do_not_do_here_is_kept(before: str, statements: str) -> None:
    assert not_understood(body(statements, before=before))
