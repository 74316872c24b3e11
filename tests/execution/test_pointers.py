"""Addresses as numbers, null pointers, and statements that were not understood."""

import numpy as np
import pytest
from tests.execution.running import executed, lowered

from portcheck.core.source import SourceFile
from portcheck.execution import EventKind, Geometry, run
from portcheck.frontends.cuda import CudaOptions, read_cuda

BLOCKS, THREADS = 5, 256
OPTIONAL = """
__global__ void k(float* out, const float* bias, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = bias != nullptr ? bias[i] : -1.f;
}
"""
UNCHECKED = "__global__ void k(float* out, const float* bias, int n) { out[threadIdx.x] = bias[threadIdx.x]; }"
DISTANCE = """
__global__ void k(long long* out, const float* a, const float* b, int n) {
  __shared__ float s[64];
  const float* moved = a + n;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x % 64] = 0.f;
  out[i] = (a == b) + 2 * (moved == a + n) + 4 * (a != nullptr) + 8 * ((const float*)s != a);
}
"""


def test_pointer_that_is_given_is_not_null() -> None:
    bias = np.arange(1279, dtype=np.float32)
    done = executed(OPTIONAL, {"out": np.zeros(1279, np.float32), "bias": bias, "n": 1279}, BLOCKS, THREADS)
    assert done.faults == ()
    np.testing.assert_array_equal(done.arrays["out"], bias)


def test_none_is_a_null_pointer() -> None:
    done = executed(OPTIONAL, {"out": np.zeros(1279, np.float32), "bias": None, "n": 1279}, BLOCKS, THREADS)
    assert done.faults == ()
    assert list(done.arrays) == ["out"]
    assert (done.arrays["out"] == -1).all()


def test_reading_through_a_null_pointer_is_out_of_bounds() -> None:
    done = executed(UNCHECKED, {"out": np.zeros(256, np.float32), "bias": None, "n": 256}, 1, 256)
    assert [event.kind for event in done.faults] == [EventKind.OUT_OF_BOUNDS]


@pytest.mark.parametrize(("same", "expected"), [(False, 14), (True, 15)])
def test_addresses_differ_unless_the_array_is_the_same(same: bool, expected: int) -> None:
    program = lowered(DISTANCE)
    arguments = {"out": np.zeros(1280, np.int64), "a": np.zeros(300, np.float32), "n": 3}
    if same:
        program = lowered(DISTANCE.replace("a == b", "a == a"))
    done = run(program, arguments | {"b": np.zeros(300, np.float32)}, Geometry.of(BLOCKS, THREADS))
    assert (done.arrays["out"] == expected).all()


def test_statement_that_was_not_understood_ends_the_run() -> None:
    text = "__global__ void k(float* x) { try { x[0] = 1.f; } catch (int e) {} }"
    module = read_cuda(SourceFile("kernel.cu", text), CudaOptions())
    done = run(module.lower(["k"]), {"x": np.zeros(1, np.float32)}, Geometry.of(1, 32))
    assert done.stopped is not None
    assert done.arrays["x"][0] == 0


VECTOR = """
__device__ float& at(float4& v, int i) { return reinterpret_cast<float*>(&v)[i]; }
__device__ float get(const float4& v, int i) { return reinterpret_cast<const float*>(&v)[i]; }
__global__ void k(float* out, const float4* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 v = x[i];
  float4 w = x[i];
  float4 u = x[i];
  at(v, i % 4) = 100.f;
  out[i] = v.x + 2 * v.w + 4 * get(w, (i + 1) % 4) + ((float*)&u)[n];
}
"""


def test_vector_in_registers_is_seen_as_an_array_through_its_address() -> None:
    x = np.random.default_rng(4).integers(-9, 9, (1280, 4)).astype(np.float32)
    done = executed(VECTOR, {"out": np.zeros(1280, np.float32), "x": x, "n": 2}, BLOCKS, THREADS)
    rows = np.arange(1280)
    changed = x.copy()
    changed[rows, rows % 4] = 100
    wanted = changed[:, 0] + 2 * changed[:, 3] + 4 * x[rows, (rows + 1) % 4] + x[:, 2]
    assert done.faults == ()
    np.testing.assert_array_equal(done.arrays["out"], wanted)
