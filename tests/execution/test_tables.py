"""Constants of the file: arrays with a list are data every thread has; what the host may change is an argument."""

from __future__ import annotations

import numpy as np
import pytest
from tests.execution.running import executed, lowered

from portcheck.core.dtype import INT32
from portcheck.frontends.cuda.model.constants import constant_value
from portcheck.ir import Const

TABLES = {
    "constant memory": "__constant__ float t[4] = {1.5f, -2.f, 3.f};",
    "device constant": "__device__ const float t[] = {1.5f, -2.f, 3.f, 0.f};",
    "constexpr": "constexpr float t[4] = {1.5f, -2.f, 3.f, 0.f};",
    "computed": "#define H 0.5f\nstatic __constant__ float t[2 * 2] = {1 + H, -4 * H, 3, 0};",
    "used by a helper": ("__constant__ float t[4] = {1.5f, -2.f, 3.f}; __device__ float at(int i) { return t[i]; }"),
}


@pytest.mark.parametrize("text", TABLES.values(), ids=TABLES)
def test_a_list_of_constants_is_what_the_kernel_reads(text: str) -> None:
    use = "at(i & 3)" if " at(" in text else "t[i & 3]"
    kernel = f"{text}\n__global__ void k(float* x) {{ int i = threadIdx.x; x[i] = {use} * 2; }}"
    done = executed(kernel, {"x": np.zeros(64, np.float32)}, 1, 64)
    assert done.faults == ()
    assert done.arrays["x"].tolist() == [3.0, -4.0, 6.0, 0.0] * 16


def test_rows_and_vectors_of_constants() -> None:
    text = """
    __constant__ int rows[2][3] = {{1}, {2, 3}};
    __constant__ float2 pairs[2] = {{1, 2}, {3, 4}};
    __global__ void k(float* x) { int i = threadIdx.x; x[i] = rows[i / 3][i % 3] + pairs[i & 1].y; }
    """
    done = executed(text, {"x": np.zeros(6, np.float32)}, 1, 6)
    assert done.arrays["x"].tolist() == [1 + 2, 4, 2, 2 + 4, 3 + 2, 4]


def test_constant_memory_that_the_host_writes_is_an_argument() -> None:
    text = """
    __constant__ float t[2] = {1, 2};
    __global__ void k(float* x) { x[threadIdx.x] = t[threadIdx.x]; }
    void set(const float* from) { cudaMemcpyToSymbol(t, from, sizeof(t)); }
    """
    assert [part.name for part in lowered(text).kernels[0].parameters] == ["x", "t"]
    done = executed(text, {"x": np.zeros(2, np.float32), "t": np.array([7, 8], np.float32)}, 1, 2)
    assert done.arrays["x"].tolist() == [7, 8]


HANDED = {
    "in another list": "void set(const float* from) { check(1, cudaMemcpyToSymbol(t, from, sizeof(t)), 2); }",
    "by what follows": "__device__ void g(int, int); void set() { f(1); } void get(int b) { g(copy(t), b); }",
    "in a launch": "__global__ void other(const float* p); void run() { other<<<1, 1>>>(t); }",
}


@pytest.mark.parametrize("host", HANDED.values(), ids=HANDED)
def test_constant_memory_that_the_host_hands_on_is_an_argument(host: str) -> None:
    kernel = "__constant__ float t[2] = {1, 2};\n__global__ void k(float* x) { x[threadIdx.x] = t[threadIdx.x]; }\n"
    assert [part.name for part in lowered(kernel + host).kernels[-1].parameters] == ["x", "t"]


def test_constant_memory_that_only_the_device_hands_on_is_its_list() -> None:
    text = """
    __constant__ float t[2] = {1, 2};
    __device__ float at(const float* p, int i) { return p[i]; }
    __global__ void k(float* x) { x[threadIdx.x] = fmaxf(at(t, threadIdx.x), at(t, 0)); }
    void run(float* x) { k<<<1, 2>>>(x); }
    """
    assert [part.name for part in lowered(text).kernels[0].parameters] == ["x"]


def test_a_constant_of_the_file_is_made_of_names_of_the_file() -> None:
    text = """
    const int n = 4; const int m = n * 2; enum { A, B, C = m + 1, D, E }; __device__ int t[m] = {n};
    __global__ void k(int* x, int n) { const int m = 3; x[0] = ::m; x[1] = D + n; x[2] = B; x[3] = at(7); t[0] = 1; }
    __device__ int at(int n) { return ::m + n; }
    """
    table = lowered(text).kernels[0].parameters[-1]
    assert [constant_value(extent) for extent in table.type.shape] == [8]
    assert table.initial == (Const(4, INT32),)
    done = executed(text, {"x": np.zeros(4, np.int32), "t": np.zeros(8, np.int32), "n": 100}, 1, 1)
    assert done.arrays["x"].tolist() == [8, 110, 1, 15]


def test_an_alias_of_an_array_has_its_extents() -> None:
    text = """
    typedef int row[3];
    __global__ void k(int* x) {
      row a = {1, 2}; row b[2] = {{3}, {4, 5}};
      x[0] = a[1] + a[2]; x[1] = b[1][1] + b[0][1];
    }
    """
    done = executed(text, {"x": np.zeros(2, np.int32)}, 1, 1)
    assert done.arrays["x"].tolist() == [2, 5]
