"""Arguments and results whose records say themselves how a copy is made."""

import numpy as np
import pytest
from tests.execution.running import executed

from portcheck.core.source import SourceFile
from portcheck.frontends.cuda import CudaOptions, read_cuda
from portcheck.ir import Opaque, kernel_operations

HEAD = """
struct Twice {
  float v;
  __device__ Twice(float given) : v(given) {}
  __device__ Twice(const Twice& other) : v(2.f * other.v) {}
  __device__ Twice again() const { return *this; }
  __device__ float with(Twice other) const { return v + other.v; }
};
struct Holder { Twice inner; };
struct Plain {
  float a, b;
  __device__ Plain(float x, float y) : a(x), b(y) {}
  __device__ Plain(const Plain& o) : a(o.a) { b = o.b; }
};
struct Half {
  float a, b;
  __device__ Half(float x, float y) : a(x), b(y) {}
  __device__ Half(const Half& o) : a(o.a), b(o.a) {}
};
__device__ float of(Twice t) { return t.v; }
__device__ float seen(const Twice& t) { return t.v; }
__device__ float sum(Plain p) { return p.a + p.b; }
__device__ float sum(Half p) { return p.a + p.b; }
__device__ float held(Holder h) { return h.inner.v; }
__device__ Plain turned(Plain p) { Plain q(p.b, p.a); return q; }
__device__ Twice fresh(float v) { return Twice(v); }
__device__ Twice named(float v) { Twice t(v); return t; }
__device__ Twice handed(Twice t) { t.v += 1.f; return t; }
template <class T> __device__ float any(T t) { return t.v; }
"""
COPIES = {
    "no copy of a reference": ("Twice t(3.f); y[0] = seen(t);", 3),
    "no copy of what is made for it": ("y[0] = of(Twice(3.f));", 3),
    "no copy of what a call gives": ("y[0] = of(fresh(3.f));", 3),
    "a plain copy": ("Plain p(3.f, 4.f); y[0] = sum(p);", 7),
    "a plain copy that is given back": ("Plain p(3.f, 4.f); y[0] = turned(p).a;", 4),
    "an argument": ("Twice t(3.f); y[0] = of(t);", 6),
    "an argument of a template": ("Twice t(3.f); y[0] = any(t);", 6),
    "an argument of a method": ("Twice t(3.f); y[0] = t.with(t);", 9),
    "an argument of a lambda": ("Twice t(3.f); auto f = [](Twice u) { return u.v; }; y[0] = f(t);", 6),
    "a member": ("struct { Twice t; } h{Twice(3.f)}; y[0] = of(h.t);", 6),
    "an argument that is used again": ("Twice t(3.f); y[0] = of(t) + t.v;", 9),
    "one that copies one member for another": ("Half p(3.f, 4.f); y[0] = sum(p);", 6),
    "a parameter that is given back": ("Twice t(3.f); y[0] = handed(t).v;", 14),
    "what something is": ("Twice t(3.f); y[0] = t.again().v;", 6),
}  # fmt: skip
NOT_FOLLOWED = {
    "a variable that is given back": "y[0] = named(3.f).v;",
    "a choice": "Twice t(3.f), u(4.f); y[0] = of(y[1] > 0.f ? t : u);",
    "what is moved": "Twice t(3.f); y[0] = of(std::move(t));",
    "a record around it": "Holder h{Twice(3.f)}; y[0] = held(h);",
}


@pytest.mark.parametrize("name", COPIES)
def test_an_argument_is_copied_as_its_record_says(name: str) -> None:
    body, expected = COPIES[name]
    done = executed(f"{HEAD}__global__ void k(float* y) {{ {body} }}", {"y": np.zeros(2, np.float32)}, 1, 1)
    assert done.faults == ()
    assert done.arrays["y"][0] == expected


@pytest.mark.parametrize("name", NOT_FOLLOWED)
def test_a_copy_that_is_not_followed_is_said_to_be(name: str) -> None:
    module = read_cuda(
        SourceFile("k.cu", f"{HEAD}__global__ void k(float* y) {{ {NOT_FOLLOWED[name]} }}"), CudaOptions()
    )
    assert [op for op in kernel_operations(module.lower(["k"])) if isinstance(op, Opaque)]
