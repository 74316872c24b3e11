"""Halves, their comparisons with NaN, numbers of 8 bits, and functions of words that choose the greater."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tests.execution.running import executed, lowered

from portcheck.core.source import SourceFile
from portcheck.frontends.cuda import CudaOptions, read_cuda
from portcheck.ir import Assume, Opaque, kernel_operations

Array = np.ndarray[Any, np.dtype[Any]]
HEAD = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuda_fp8.h>\n"
VALUES = np.array([0.5, 1, 2, np.nan, -3, np.inf, -0.0, 7], np.float32)
A, B = (side.reshape(-1).astype(np.float16) for side in np.meshgrid(VALUES, VALUES))
NONE = np.isnan(A) | np.isnan(B)
COMPARISONS = {"eq": A == B, "ne": A != B, "lt": A < B, "le": A <= B, "gt": A > B, "ge": A >= B}
TYPES = {"__half": np.float16, "__nv_bfloat16": ml_dtypes.bfloat16}


def _holds(name: str, is_unordered: bool) -> Array:
    return COMPARISONS[name] | NONE if is_unordered else COMPARISONS[name] & ~NONE


@pytest.mark.parametrize("is_unordered", [False, True])
@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("type_", TYPES)
def test_comparisons_say_what_nan_does(type_: str, name: str, is_unordered: bool) -> None:
    function = f"__h{name}{'u' * is_unordered}"
    text = f"""{HEAD}__global__ void k(const {type_}* a, const {type_}* b, int* y) {{
      int t = threadIdx.x; y[t] = {function}(a[t], b[t]); }}"""
    given = {"a": A.astype(TYPES[type_]), "b": B.astype(TYPES[type_]), "y": np.zeros(A.size, np.int32)}
    done = executed(text, given, 1, A.size)
    np.testing.assert_array_equal(done.arrays["y"], _holds(name, is_unordered))


@pytest.mark.parametrize("is_unordered", [False, True])
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_of_pairs(name: str, is_unordered: bool) -> None:
    suffix = "u" * is_unordered
    text = f"""{HEAD}__global__ void k(const __half2* a, const __half2* b, int* all, unsigned* mask, __half2* y) {{
      int t = threadIdx.x; all[t] = __hb{name}{suffix}2(a[t], b[t]); mask[t] = __h{name}{suffix}2_mask(a[t], b[t]);
      y[t] = __h{name}{suffix}2(a[t], b[t]); }}"""
    half = A.size // 2
    arrays = {"all": np.zeros(half, np.int32), "mask": np.zeros(half, np.uint32), "y": np.zeros(A.size, np.float16)}
    done = executed(text, {"a": A, "b": B, **arrays}, 1, half)
    holds = _holds(name, is_unordered)
    np.testing.assert_array_equal(done.arrays["all"], holds.reshape(-1, 2).all(1))
    np.testing.assert_array_equal(done.arrays["mask"], np.where(holds, 0xFFFF, 0).astype(np.uint16).view(np.uint32))
    np.testing.assert_array_equal(done.arrays["y"], holds.astype(np.float16))


PAIRS = {"==": A == B, "!=": A != B, "<": A < B, ">=": A >= B}


@pytest.mark.parametrize("operator", PAIRS)
def test_operators_compare_both_halves(operator: str) -> None:
    text = f"""{HEAD}__global__ void k(const __half2* a, const __half2* b, int* y) {{
      int t = threadIdx.x; y[t] = 0; if (a[t] {operator} b[t]) y[t] = 1; }}"""
    done = executed(text, {"a": A, "b": B, "y": np.zeros(A.size // 2, np.int32)}, 1, A.size // 2)
    np.testing.assert_array_equal(done.arrays["y"], PAIRS[operator].reshape(-1, 2).all(1))


def test_a_product_that_is_rectified() -> None:
    text = f"""{HEAD}__global__ void k(const __half* a, const __half2* b, __half* y, __half2* z) {{
      int t = threadIdx.x; y[t] = __hfma_relu(a[t], a[t], __float2half(-4.0f));
      if (t < 4) z[t] = __hfma2_relu(b[t], b[t], __float2half2_rn(-4.0f)); }}"""
    a = VALUES.astype(np.float16)
    done = executed(text, {"a": a, "b": a, "y": np.zeros(8, np.float16), "z": np.zeros(8, np.float16)}, 1, 8)
    expected = a * a - np.float16(4)
    expected = np.where(expected < 0, np.float16(0), expected)
    np.testing.assert_array_equal(done.arrays["y"], expected)
    np.testing.assert_array_equal(done.arrays["z"], expected)


FORMATS = {"__NV_E4M3": ml_dtypes.float8_e4m3fn, "__NV_E5M2": ml_dtypes.float8_e5m2}


@pytest.mark.parametrize("name", FORMATS)
def test_numbers_of_8_bits_are_made_and_read(name: str) -> None:
    text = f"""{HEAD}__global__ void k(const float* x, const __nv_fp8_storage_t* w, __nv_fp8_storage_t* y, __half* h,
      __nv_fp8x2_storage_t* p, __half2* q) {{
      __shared__ __nv_fp8_storage_t s[8]; __nv_fp8_storage_t l[1]; int t = threadIdx.x;
      l[0] = __nv_cvt_float_to_fp8(x[t], __NV_SATFINITE, {name}); s[t] = l[0]; __syncthreads(); y[t] = s[t];
      h[t] = __nv_cvt_fp8_to_halfraw(w[t], {name});
      if (t < 4) {{ p[t] = __nv_cvt_float2_to_fp8x2(make_float2(x[2 * t], x[2 * t + 1]), __NV_SATFINITE, {name});
        q[t] = __nv_cvt_fp8x2_to_halfraw2(p[t], {name}); }} }}"""
    x = np.array([0.3, -1.7, 5, 0, 1e9, -12, 0.01, 3], np.float32)
    bits = np.array([0x38, 0x3C, 0xB9, 0, 1, 0x45, 0x57, 0xC2], np.uint8)
    given = {"x": x, "w": bits, "y": np.zeros(8, np.uint8), "h": np.zeros(8, np.float16), "p": np.zeros(4, np.uint16)}
    done = executed(text, {**given, "q": np.zeros(8, np.float16)}, 1, 8)
    most = float(ml_dtypes.finfo(FORMATS[name]).max)
    narrow = np.clip(x, -most, most).astype(FORMATS[name])
    np.testing.assert_array_equal(done.arrays["y"], narrow.view(np.uint8))
    np.testing.assert_array_equal(done.arrays["h"], bits.view(FORMATS[name]).astype(np.float16))
    np.testing.assert_array_equal(done.arrays["p"].view(np.uint8), narrow.view(np.uint8))
    np.testing.assert_array_equal(done.arrays["q"], narrow.astype(np.float16))


def test_four_numbers_of_8_bits_become_floats() -> None:
    text = f"""{HEAD}__global__ void k(const __nv_fp8x4_e4m3* x, float4* y) {{
      y[threadIdx.x] = static_cast<float4>(x[threadIdx.x]); }}"""
    x = np.arange(-16, 16).astype(ml_dtypes.float8_e4m3fn)
    done = executed(text, {"x": x, "y": np.zeros(32, np.float32)}, 1, 8)
    np.testing.assert_array_equal(done.arrays["y"], x.astype(np.float32))


WORDS = np.random.default_rng(9).integers(-(2**31), 2**31, (3, 64)).astype(np.int32)
P, Q, R = WORDS
HALVES = [side.view(np.int16) for side in WORDS]
CHOSEN = {
    "__vimax3_s32(a, b, c)": np.maximum(np.maximum(P, Q), R),
    "__vimin3_u32(a, b, c)": np.minimum(np.minimum(P.view("u4"), Q.view("u4")), R.view("u4")).view("i4"),
    "__vimin_s32_relu(a, b)": np.maximum(np.minimum(P, Q), 0),
    "__viaddmax_s32(a >> 2, b >> 2, c)": np.maximum((P >> 2) + (Q >> 2), R),
    "__hadd(a, b)": (P.astype(np.int64) + Q) >> 1,
    "__vimax3_s16x2(a, b, c)": np.maximum(np.maximum(HALVES[0], HALVES[1]), HALVES[2]).view(np.int32),
    "__vimin_s16x2_relu(a, b)": np.maximum(np.minimum(HALVES[0], HALVES[1]), 0).view(np.int32),
    "std::clamp(a, -5000, 5000)": np.clip(P, -5000, 5000),
    "cuda::std::clamp(a, 3, 9)": np.clip(P, 3, 9),
    "__builtin_popcount(a)": np.array([int(word).bit_count() for word in P.view(np.uint32)], np.int32),
}  # fmt: skip


@pytest.mark.parametrize("expression", CHOSEN)
def test_functions_that_choose(expression: str) -> None:
    text = f"""__global__ void k(const int* x, int* y) {{
      int t = threadIdx.x, a = x[t], b = x[t + 64], c = x[t + 128]; y[t] = {expression}; }}"""
    done = executed(text, {"x": WORDS, "y": np.zeros(64, np.int32)}, 1, 64)
    np.testing.assert_array_equal(done.arrays["y"], CHOSEN[expression])


def test_pairs_of_floats_are_computed_at_once() -> None:
    text = """__global__ void k(const float2* x, float2* y) {
      int t = threadIdx.x; float2 v = __fmul2_rn(x[t], x[t]); y[t] = __ffma2_rn(x[t], v, __fadd2_rn(v, v)); }"""
    x = np.arange(16, dtype=np.float32)
    done = executed(text, {"x": x, "y": np.zeros(16, np.float32)}, 1, 8)
    np.testing.assert_array_equal(done.arrays["y"], x * x * x + 2 * x * x)


def test_what_the_source_assumes_is_kept() -> None:
    program = lowered("__global__ void k(int* y, int n) { __builtin_assume(n > 3); y[0] = n; }")
    assert len([op for op in kernel_operations(program) if isinstance(op, Assume)]) == 1


def test_what_an_assumption_would_do_is_not_done() -> None:
    program = lowered("__global__ void k(int* y, int n) { __builtin_assume(atomicAdd(y, 1) > 3); y[1] = n; }")
    assert not [op for op in kernel_operations(program) if isinstance(op, Assume)]


NAN = np.float32("nan")
ONES, OTHERS = np.array([[1, 2, -0.0, 0.0, NAN, 1, NAN, 3], [2, 1, 0.0, -0.0, 1, NAN, 2, 3]], np.float32)
IGNORING = {
    "fmaxf(a, b)": [2, 2, 0, 0, 1, 1, 2, 3], "max(a, b)": [2, 2, 0, 0, 1, 1, 2, 3],
    "::max(a, b)": [2, 2, 0, 0, 1, 1, 2, 3], "std::fmax(a, b)": [2, 2, 0, 0, 1, 1, 2, 3],
    "min(a, b)": [1, 1, -0.0, -0.0, 1, 1, 2, 3], "std::fmin(a, b)": [1, 1, -0.0, -0.0, 1, 1, 2, 3],
}  # fmt: skip
FIRST_FOR_NAN = {
    "std::max(a, b)": np.where(ONES < OTHERS, OTHERS, ONES), "std::min(a, b)": np.where(OTHERS < ONES, OTHERS, ONES),
    "cuda::std::max(a, b)": np.where(ONES < OTHERS, OTHERS, ONES),
    "std::max<float>(a, 2)": np.where(ONES < 2, 2, ONES), "std::clamp(a, 1.5f, 2.5f)": np.clip(ONES, 1.5, 2.5),
    "std::max<int>(a == a ? a * 2.5f : 0.f, 3)": [3, 5, 3, 3, 3, 3, 3, 7],
    "__half2float(std::max(__float2half(a), __float2half(b)))": np.where(ONES < OTHERS, OTHERS, ONES),
}  # fmt: skip


@pytest.mark.parametrize("expression", [*IGNORING, *FIRST_FOR_NAN])
def test_what_a_maximum_does_with_what_is_no_number(expression: str) -> None:
    text = f"""__global__ void k(const float* x, const float* z, float* y) {{
      int t = threadIdx.x; float a = x[t], b = z[t]; y[t] = {expression}; }}"""
    done = executed(text, {"x": ONES, "z": OTHERS, "y": np.zeros(8, np.float32)}, 1, 8)
    wanted = np.array((IGNORING | FIRST_FOR_NAN)[expression], np.float32)
    np.testing.assert_array_equal(done.arrays["y"], wanted)
    if "::max(a" in expression or "::min(a" in expression:
        np.testing.assert_array_equal(np.signbit(done.arrays["y"]), np.signbit(wanted))


@pytest.mark.parametrize("call", ["std::max(a, b, less)", "std::clamp(a, 1.f, b, less)"])
def test_a_comparison_of_the_program_is_not_left_out(call: str) -> None:
    text = f"""struct Less {{ __device__ bool operator()(float a, float b) const {{ return a > b; }} }};
    __global__ void k(float* y) {{ Less less; float a = y[1], b = y[2]; y[0] = {call}; }}"""
    module = read_cuda(SourceFile("kernel.cu", text), CudaOptions())
    assert [op for op in kernel_operations(module.lower(["k"])) if isinstance(op, Opaque)]
