"""Pointers that may point into one of several buffers."""

import numpy as np
import pytest
from tests.execution.running import executed

from portcheck.core.source import SourceFile
from portcheck.frontends.cuda import CudaOptions, read_cuda
from portcheck.ir import Opaque, kernel_operations

N = 8
X, Z = np.arange(1, N + 1, dtype=np.float32), np.arange(101, N + 101, dtype=np.float32)
T = np.arange(N)
HEAD = "__device__ float second(const float* p) { return p[1]; }\n"
HEAD += "__device__ float either(const float* p, const float* q, int t) { if (t > 3) p = q; return p[t]; }\n"
HEAD += """__device__ const float* of_two(const float* p, const float* q, int t) { if (t > 3) return q; return p; }
__device__ const float* at(const float* p, int t) { if (t <= 3) return nullptr; return p + t; }
__device__ const float* any_of(const float* p, const float* q, int t) {
  if (t > 3) return p; else if (t > 1) return nullptr; return q; }
"""
CHOSEN = {
    "read": ("const float* p = t < 3 ? x : z; y[t] = p[t];", np.where(T < 3, X, Z)),
    "read at offsets": ("const float* p = t < 3 ? x + t : z + 1; y[t] = *p;", np.where(T < 3, X, Z[1])),
    "chosen by data": ("const float* p = x[t] > 4.f ? x : z; y[t] = p[t] + p[0];",
                       np.where(X > 4, X + X[0], Z + Z[0])),
    "of three": ("const float* p = t < 3 ? x : t < 5 ? z : x + 1; y[t] = p[0];",
                 np.where(T < 3, X[0], np.where(T < 5, Z[0], X[1]))),
    "given to a function": ("y[t] = second(t % 2 ? x : z);", np.where(T % 2, X[1], Z[1])),
    "without a variable": ("y[t] = (t % 2 ? x : z)[t];", np.where(T % 2, X, Z)),
    "moved on": ("const float* p = t % 2 ? x : z; p += 2; float s = 0.f; for (int i = 0; i < 3; i++) s += *p++;"
                 "y[t] = s;", np.where(T % 2, X[2:5].sum(), Z[2:5].sum())),
    "written": ("__shared__ float a[8], b[8]; a[t] = b[t] = 0.f; float* p = t % 2 ? a : b; p[t] = 3.f; *(p + t) += 2.f;"
                "y[t] = a[t] * 10.f + b[t];", np.where(T % 2, 50, 5)),
    "added to at once": (
        "__shared__ float a, b; if (t == 0) a = b = 0.f; __syncthreads(); float* p = t < 3 ? &a : &b;"
        "float old = atomicAdd(p, 1.f); __syncthreads(); y[t] = a * 10.f + b;", np.full(N, 35),
    ),
    "known again": ("const float* p = t < 3 ? x : z; y[t] = p == x ? 1.f : p == z ? 2.f : 3.f;", np.where(T < 3, 1, 2)),
    "or none": ("const float* p = t < 3 ? x : nullptr; y[t] = 7.f; if (p) y[t] = p[t]; else y[t] = 9.f;",
                np.where(T < 3, X, 9)),
    "none, or": ("const float* p = t < 3 ? nullptr : x + t; y[t] = p != nullptr ? *p : 9.f;", np.where(T < 3, 9, X)),
}  # fmt: skip

FIRSTS = (X[0], Z[0], X[1])
PAIR = "__shared__ float a[8], b[8]; a[t] = x[t]; b[t] = 0.f;"
SCANNED = (
    PAIR
    + """float* in = a; float* out = b;
  for (int k = 1; k < 8; k *= 2) { __syncthreads(); if (t >= k) out[t] = in[t] + in[t - k]; else out[t] = in[t]; %s }
  __syncthreads(); y[t] = in[t];"""
)
TURNS = "for (int k = 0; k < 3; k++) { s = s * 10.f + *p; %s } y[t] = s;"
SET = {
    "buffers that take turns": (SCANNED % "float* c = in; in = out; out = c;", np.cumsum(X)),
    "buffers that are exchanged": (SCANNED % "std::swap(in, out);", np.cumsum(X)),
    "set in a branch": ("const float* p = x; if (t > 3) p = z; y[t] = p[t];", np.where(T > 3, Z, X)),
    "set in both": ("const float* p; if (t > 3) p = z + 1; else p = x; y[t] = p[0];", np.where(T > 3, Z[1], X[0])),
    "set to none": ("const float* p = x; if (t > 3) p = nullptr; y[t] = p ? p[t] : -1.f;", np.where(T > 3, -1, X)),
    "none, then set": ("const float* p = nullptr; if (t > 3) p = x + t; y[t] = 5.f; if (p) y[t] = *p;",
                       np.where(T > 3, X, 5)),
    "none, then one of two": ("const float* p = nullptr; if (t > 3) p = x + t; else if (t > 1) p = z + t;"
                              "y[t] = p == nullptr ? 5.f : *p;", np.where(T > 3, X, np.where(T > 1, Z, 5))),
    "set in a loop": ("const float* p = x; float s = 0.f;" + TURNS % "p = p == x ? z : x;",
                      np.full(N, (X[0] * 10 + Z[0]) * 10 + X[0])),
    "of three in a loop": (
        "const float* p = x; float s = 0.f;" + TURNS % "if (k == 0) p = z; else p = y;",
        np.full(N, (X[0] * 10 + Z[0]) * 10 + 0),
    ),
    "written through": (PAIR + "float* p = a; if (t % 2) p = b; p[t] += 2.f; ++*(p + t); y[t] = a[t] + 100.f * b[t];",
                        np.where(T % 2, X + 300, X + 3)),
    "kept when the variable moves on": ("const float* p = x; if (t > 3) p = z; const float* q = p; p = x + 1;"
                                        "y[t] = q[t] * 10.f + *p;", np.where(T > 3, Z, X) * 10 + X[1]),
    "moved after it was set": ("const float* p = x; if (t > 3) p = z; p += t; p++; y[t] = p[-1];",
                               np.where(T > 3, Z, X)),
    "left, set to none, then set": ("const float* p; p = nullptr; if (t > 3) p = x + t; y[t] = p ? *p : 5.f;",
                                    np.where(T > 3, X, 5)),
    "a parameter of a function": ("y[t] = either(x, z, t);", np.where(T > 3, Z, X)),
    "what a function gives": ("y[t] = of_two(x, z, t)[t];", np.where(T > 3, Z, X)),
    "what a function gives, or none": ("const float* p = at(x, t); y[t] = p ? *p : 5.f;", np.where(T > 3, X, 5)),
    "what a function gives, none or one of two": (
        "const float* p = any_of(x, z, t); y[t] = 5.f; if (p) y[t] = p[t];",
        np.where(T > 3, X, np.where(T > 1, 5, Z)),
    ),
    "one of an array": (
        "const float* p[3] = {x, z, x + 1}; float s = 0.f;"
        "for (int k = 0; k < 3; k++) s = s * 10.f + p[(k + t) % 3][0]; y[t] = s;",
        [(FIRSTS[i % 3] * 10 + FIRSTS[(i + 1) % 3]) * 10 + FIRSTS[(i + 2) % 3] for i in T],
    ),
    "one of an array of the same buffer": ("const float* p[2] = {x, x + 3}; y[t] = *(p[t & 1] + 1);", X[T % 2 * 3 + 1]),
    "a member": ("struct { const float* p; } h; h.p = x; if (t > 3) h.p = z; y[t] = h.p[t];", np.where(T > 3, Z, X)),
}  # fmt: skip


def run(body: str) -> np.ndarray:
    """What a body leaves in y, one thread an element."""
    text = f"{HEAD}__global__ void k(const float* x, const float* z, float* y) {{ int t = threadIdx.x; {body} }}"
    done = executed(text, {"x": X, "z": Z, "y": np.zeros(N, np.float32)}, 1, N)
    assert done.faults == ()
    return done.arrays["y"]


@pytest.mark.parametrize("name", CHOSEN)
def test_a_pointer_that_is_chosen_leads_to_what_was_chosen(name: str) -> None:
    body, expected = CHOSEN[name]
    np.testing.assert_array_equal(run(body), np.asarray(expected, np.float32))


WAYS = {
    "four at once": ("const float4* p = (const float4*)(t % 2 ? x : z); float4 v = p[1]; y[t] = v.x + v.w;",
                     np.where(T % 2, X[4] + X[7], Z[4] + Z[7])),
    "read-only loads": ("y[t] = __ldg(t % 2 ? x + t : z);", np.where(T % 2, X, Z[0])),
    "bytes": ("__shared__ float a[8]; if (t == 0) memcpy(a, y[0] == 0.f ? x : z, 32); __syncthreads(); y[t] = a[t];",
              X),
    "an asynchronous copy": (
        "__shared__ float a[8]; __pipeline_memcpy_async(a + t, (t % 2 ? x : z) + t, 4); __pipeline_commit();"
        "__pipeline_wait_prior(0); y[t] = a[t];", np.where(T % 2, X, Z),
    ),
    "comparing and setting": (
        "__shared__ int a[8], b[8]; a[t] = t; b[t] = t + 1; int* p = t % 2 ? a : b; int old = atomicCAS(p + t, t, 50);"
        "y[t] = old * 10000 + a[t] * 100 + b[t];",
        np.where(T % 2, T * 10000 + 5000 + T + 1, (T + 1) * 10000 + T * 100 + T + 1),
    ),
    "under a condition": ("const float* p = t % 2 ? x : nullptr; y[t] = p != nullptr && p[t] > 4.f ? p[t] : 0.f;",
                          np.where((T % 2 == 1) & (X > 4), X, 0)),
    "rows": ("__shared__ float a[2][8], b[2][8]; a[1][t] = x[t]; b[1][t] = z[t]; __syncthreads();"
             "float (*p)[8] = t % 2 ? a : b; y[t] = p[1][t];", np.where(T % 2, X, Z)),
}  # fmt: skip


@pytest.mark.parametrize("name", WAYS)
def test_memory_is_looked_at_in_all_ways_through_such_a_pointer(name: str) -> None:
    body, expected = WAYS[name]
    np.testing.assert_array_equal(run(body), np.asarray(expected, np.float32))


def test_a_tile_is_loaded_from_where_the_pointer_leads() -> None:
    text = """#include <mma.h>
    using namespace nvcuda;
    __global__ void k(const half* a, const half* b, float* y, int n) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
      wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum; wmma::fill_fragment(sum, 0.f);
      wmma::load_matrix_sync(left, n > 3 ? a : b, 16); wmma::load_matrix_sync(right, b, 16);
      wmma::mma_sync(sum, left, right, sum); wmma::store_matrix_sync(y, sum, 16, wmma::mem_row_major); }"""
    a, b = (np.random.default_rng(seed).integers(-4, 4, (16, 16)).astype(np.float16) for seed in (1, 2))
    for n, left in ((4, a), (3, b)):
        done = executed(text, {"a": a, "b": b, "y": np.zeros((16, 16), np.float32), "n": n}, 1, 32)
        np.testing.assert_array_equal(done.arrays["y"], left.astype(np.float32) @ b.T.astype(np.float32))


@pytest.mark.parametrize("name", SET)
def test_a_pointer_variable_leads_to_what_it_was_set_to(name: str) -> None:
    body, expected = SET[name]
    np.testing.assert_array_equal(run(body), np.asarray(expected, np.float32))


UNLIKE = {
    "numbers of other types": "const void* p = t ? (const void*)x : (const void*)c; y[t] = ((const float*)p)[0];",
    "variables": "float a = 1.f, b = 2.f; float* p = t ? &a : &b; *p = 3.f; y[t] = a + b;",
    "read as another type": "const int* p = (const int*)(t ? x : z); y[t] = p[0];",
}


@pytest.mark.parametrize("name", UNLIKE)
def test_a_choice_between_what_is_not_alike_is_not_followed(name: str) -> None:
    text = f"""__global__ void k(const float* x, const float* z, float* y, const short* c) {{
      int t = threadIdx.x; {UNLIKE[name]} }}"""
    module = read_cuda(SourceFile("k.cu", text), CudaOptions())
    assert [op for op in kernel_operations(module.lower(["k"])) if isinstance(op, Opaque)]
