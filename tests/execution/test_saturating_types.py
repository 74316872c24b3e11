"""CUDA's classes of 8 bits keep what is made of a number within their range, however that is written."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from tests.execution.running import executed

HEAD = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuda_fp8.h>\n"
FORMATS = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}
X = np.array([500, -1e9, np.nan, 0.3, -448, 464.1, np.inf, 65000], np.float32)
WAYS = {
    "a constructor": "y[t] = T(x[t]);",
    "braces": "y[t] = T{x[t]};",
    "a static cast": "y[t] = static_cast<T>(x[t]);",
    "a cast": "y[t] = (T)x[t];",
    "a variable": "T v(x[t]); y[t] = v;",
    "a variable in braces": "T v{x[t]}; y[t] = v;",
    "a variable that is set": "T v = T(0.f); v = T(x[t]); y[t] = v;",
    "an assignment": "y[t] = x[t];",
    "an array": "T v[2]; v[1] = T(x[t]); y[t] = v[1];",
    "of a double": "y[t] = T(static_cast<double>(x[t]));",
    "a template": "y[t] = as<T>(x[t]);",
    "an alias": "using U = T; y[t] = U(x[t]);",
}
AROUND = "template<typename V> __device__ V as(float v) { return static_cast<V>(v); }\n"


def kept(x: np.ndarray, name: str) -> np.ndarray:
    """What __NV_SATFINITE makes of these numbers."""
    most = float(ml_dtypes.finfo(FORMATS[name]).max)
    return np.clip(x, -most, most).astype(FORMATS[name])


def same(found: np.ndarray, expected: np.ndarray) -> None:
    """Both hold the same numbers, none counted as one."""
    np.testing.assert_array_equal(found.astype(np.float32), expected.astype(np.float32))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("way", WAYS)
def test_what_is_too_large_becomes_the_largest(way: str, name: str) -> None:
    text = f"""{HEAD}using T = __nv_fp8_{name};\n{AROUND}__global__ void k(const float* x, __nv_fp8_{name}* y) {{
      int t = threadIdx.x; {WAYS[way]} }}"""
    done = executed(text, {"x": X, "y": np.zeros(8, FORMATS[name])}, 1, 8)
    same(done.arrays["y"], kept(X, name))


@pytest.mark.parametrize(("spelled", "dtype"), [("__half", np.float16), ("__nv_bfloat16", ml_dtypes.bfloat16)])
def test_halves_too(spelled: str, dtype: type) -> None:
    text = f"""{HEAD}__global__ void k(const {spelled}* x, __nv_fp8_e4m3* y) {{
      y[threadIdx.x] = __nv_fp8_e4m3(x[threadIdx.x]); }}"""
    x = np.clip(X, -60000, 60000).astype(dtype)
    done = executed(text, {"x": x, "y": np.zeros(8, FORMATS["e4m3"])}, 1, 8)
    same(done.arrays["y"], kept(x.astype(np.float32), "e4m3"))


@pytest.mark.parametrize("value", ["500.f", "500", "1e9", "448.f", "-1000.0f"])
def test_constants_too(value: str) -> None:
    text = f"{HEAD}__global__ void k(__nv_fp8_e4m3* y) {{ y[0] = __nv_fp8_e4m3({value}); }}"
    done = executed(text, {"y": np.zeros(1, FORMATS["e4m3"])}, 1, 1)
    same(done.arrays["y"], kept(np.array([float(value.rstrip("f"))], np.float32), "e4m3"))


VECTORS = {
    "a constructor": (4, "y[t] = V(x[t]);"),
    "braces": (4, "y[t] = V{x[t]};"),
    "a cast": (2, "y[t] = static_cast<V>(x[t]);"),
    "a variable": (2, "V v(x[t]); y[t] = v;"),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("way", VECTORS)
def test_vectors_too(way: str, name: str) -> None:
    lanes, text = VECTORS[way]
    text = f"""{HEAD}using V = __nv_fp8x{lanes}_{name};
    __global__ void k(const float{lanes}* x, __nv_fp8x{lanes}_{name}* y) {{ int t = threadIdx.x; {text} }}"""
    done = executed(text, {"x": X, "y": np.zeros(8, FORMATS[name])}, 1, 8 // lanes)
    same(done.arrays["y"], kept(X, name))


def test_other_classes_do_not() -> None:
    text = (
        "__global__ void k(const float* x, c10::Float8_e5m2* y) { y[threadIdx.x] = c10::Float8_e5m2(x[threadIdx.x]); }"
    )
    done = executed(text, {"x": X, "y": np.zeros(8, FORMATS["e5m2"])}, 1, 8)
    same(done.arrays["y"], X.astype(FORMATS["e5m2"]))
