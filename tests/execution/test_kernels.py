"""Small kernels, one construct or two each, against references written out in NumPy. 2,048 threads and more are in
flight, and few sizes divide the block."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tests.execution.orders import Array
from tests.execution.running import executed

BFLOAT16 = ml_dtypes.bfloat16
N = 4000
"""Elements; a grid of 16 blocks of 256 threads has 96 to spare."""
RANDOM = np.random.default_rng(11)
X = RANDOM.standard_normal(N).astype(np.float32)
Z = RANDOM.standard_normal(N).astype(np.float32)
K = RANDOM.integers(-1000, 1000, N).astype(np.int32)
U = RANDOM.integers(0, 2**32, N, dtype=np.uint32)


@dataclass(frozen=True)
class Case:
    """A body for `i < n`, or a whole kernel; the element types of x, z and y; what y is to be."""

    body: str
    wanted: Callable[[], Array]
    x: Array = field(default_factory=lambda: X)
    z: Array = field(default_factory=lambda: Z)
    head: str = ""
    y: Any = None
    more: dict[str, Any] = field(default_factory=dict)


C_TYPES = {
    "float32": "float", "float64": "double", "int32": "int", "uint32": "unsigned", "int64": "long long",
    "uint64": "unsigned long long", "int8": "signed char", "uint8": "unsigned char", "int16": "short",
    "uint16": "unsigned short", "float16": "__half", "bfloat16": "__nv_bfloat16", "float8_e4m3fn": "__nv_fp8_e4m3",
}  # fmt: skip


def text_of(case: Case, y: Array) -> str:
    scalars = "".join(f", {'float' if isinstance(value, float) else 'int'} {name}" for name, value in case.more.items())
    x_type, z_type, y_type = (C_TYPES[part.dtype.name] for part in (case.x, case.z, y))
    return f"""
    {case.head}
    __global__ void f(const {x_type}* x, const {z_type}* z, {y_type}* y, int n{scalars}) {{
      int t = threadIdx.x;
      int i = blockIdx.x * blockDim.x + t;
      {case.body}
    }}"""


def guarded(body: str) -> str:
    return "if (i < n) { " + body + " }"


def f32(value: Any) -> Array:
    return np.asarray(value).astype(np.float32)


def exact(function: Callable[..., Array], *values: Array) -> Array:
    """In float64, rounded once."""
    with np.errstate(all="ignore"):
        return f32(function(*(value.astype(np.float64) for value in values)))


def gap(left: Array, right: Array) -> Array:
    """The sum rounded up less the sum rounded down."""
    whole = left.astype(np.float64) + right
    near = f32(whole)
    up = np.where(near < whole, np.nextafter(near, f32(np.inf)), near)
    return up - np.where(near > whole, np.nextafter(near, f32(-np.inf)), near)


def fibonacci(steps: Array) -> Array:
    first, second = np.zeros_like(steps), np.ones_like(steps)
    for step in range(int(steps.max())):
        first, second = np.where(step < steps, second, first), np.where(step < steps, first + second, second)
    return first


def collatz(values: Array) -> Array:
    counts, left = np.zeros_like(values), values.copy()
    while (left > 1).any():
        counts += left > 1
        left = np.where(left > 1, np.where(left % 2 == 0, left // 2, 3 * left + 1), left)
    return counts


SMALL = RANDOM.integers(1, 60, N).astype(np.int32)
HALVES, BFLOATS = X.astype(np.float16), X.astype(BFLOAT16)

CASES: dict[str, Case] = {
    # elementwise: operators and their types
    "polynomial": Case(guarded("y[i] = (x[i] * 2.f + 1.f) * x[i] - z[i];"), lambda: (X * f32(2) + f32(1)) * X - Z),
    "division and root": Case(
        guarded("y[i] = x[i] / (z[i] * z[i] + 1.f) + sqrtf(fabsf(x[i]));"),
        lambda: X / (Z * Z + f32(1)) + np.sqrt(np.abs(X)),
    ),
    "functions": Case(
        guarded("y[i] = expf(x[i]) + logf(fabsf(z[i])) * tanhf(x[i]) - erff(z[i]);"),
        lambda: (exact(np.exp, X) + exact(np.log, np.abs(Z)) * exact(np.tanh, X)) - exact(np.vectorize(math.erf), Z),
    ),
    "double literals promote": Case(guarded("y[i] = x[i] * 0.1;"), lambda: f32(X.astype(np.float64) * 0.1)),
    "double": Case(guarded("y[i] = (double)x[i] / z[i];"), lambda: X.astype(np.float64) / Z, y=np.float64),
    "minimum and maximum": Case(
        guarded("y[i] = fminf(fmaxf(x[i], -0.5f), z[i]);"), lambda: np.minimum(np.maximum(X, f32(-0.5)), Z)
    ),
    "choice": Case(guarded("y[i] = x[i] > z[i] ? x[i] : -z[i];"), lambda: np.where(X > Z, X, -Z)),
    "rounding functions": Case(
        guarded("y[i] = floorf(x[i]) + ceilf(z[i]) * truncf(x[i]) + rintf(z[i]);"),
        lambda: (np.floor(X) + np.ceil(Z) * np.trunc(X)) + np.rint(Z),
    ),
    "fma": Case(guarded("y[i] = fmaf(x[i], z[i], 0.5f);"), lambda: f32(X.astype(float) * Z.astype(float) + 0.5)),
    "directed rounding": Case(guarded("y[i] = __fadd_ru(x[i], z[i]) - __fadd_rd(x[i], z[i]);"), lambda: gap(X, Z)),
    # integers
    "wrapping integers": Case(
        guarded("y[i] = x[i] * 1103515245 + 12345;"),
        lambda: (U.astype(np.uint64) * 1103515245 + 12345).astype(np.uint32),
        x=U,
        y=np.uint32,
    ),
    "truncating division": Case(
        guarded("y[i] = x[i] / 7 + x[i] % 7 * 1000;"),
        lambda: np.trunc(K / 7).astype(np.int32) + np.fmod(K, 7) * 1000,
        x=K,
        y=np.int32,
    ),
    "shifts": Case(
        guarded("y[i] = (x[i] >> 3) ^ ((unsigned)x[i] >> 5) ^ (x[i] << 2);"),
        lambda: (K >> 3) ^ (K.view(np.uint32) >> 5).view(np.int32) ^ (K << 2),
        x=K,
        y=np.int32,
    ),
    "small types promote": Case(
        guarded("y[i] = x[i] + x[i];"), lambda: K.astype(np.int8).astype(np.int32) * 2, x=K.astype(np.int8), y=np.int32
    ),
    "stores narrow": Case(guarded("y[i] = x[i];"), lambda: K.astype(np.uint8), x=K, y=np.uint8),
    "64-bit products": Case(
        guarded("y[i] = (long long)x[i] * x[i] * 100000;"), lambda: K.astype(np.int64) ** 2 * 100000, x=K, y=np.int64
    ),
    "bits": Case(
        guarded("y[i] = __popc(x[i]) + 100 * __clz(x[i]) + 10000 * __ffs(x[i]) + __mulhi((int)x[i], 12345);"),
        lambda: (
            np.array(
                [
                    int(v).bit_count() + 100 * (32 - int(v).bit_length()) + 10000 * (int(v) & -int(v)).bit_length()
                    for v in U
                ],
                np.int32,
            )
            + ((U.view(np.int32).astype(np.int64) * 12345) >> 32).astype(np.int32)
        ),
        x=U,
        y=np.int32,
    ),
    "float to int and back": Case(
        guarded("int k = (int)(x[i] * 100.f); y[i] = (float)k / 100.f;"), lambda: np.trunc(X * f32(100)) / f32(100)
    ),
    "unsigned comparison": Case(
        guarded("y[i] = (unsigned)x[i] < 500u ? 1 : 0;"),
        lambda: (K.view(np.uint32) < 500).astype(np.int32),
        x=K,
        y=np.int32,
    ),
    "thread index against negative numbers": Case(
        guarded("y[i] = (t < x[i]) + 2 * (t % 32 > x[i] - 5) + 4 * (x[i] - 20 <= t);"),
        lambda: np.array(
            [(p % 256 < v) + 2 * (p % 256 % 32 > v - 5) + 4 * (v - 20 <= p % 256) for p, v in enumerate(K.tolist())],
            np.int32,
        ),
        x=K,
        y=np.int32,
    ),
    "thread index against a negative parameter": Case(
        guarded("y[i] = (t < low) + 2 * (t % 32 > low) + 4 * ((long long)low < (long long)threadIdx.x);"),
        lambda: np.full(N, 6, np.int32),
        y=np.int32,
        more={"low": -3},
    ),
    # narrow floats
    "half arithmetic": Case(
        guarded("y[i] = __hadd(__hmul(x[i], x[i]), x[i]);"),
        lambda: HALVES * HALVES + HALVES,
        x=HALVES,
        y=np.float16,
        head="#include <cuda_fp16.h>",
    ),
    "half operators": Case(
        guarded("y[i] = x[i] * x[i] - x[i];"),
        lambda: HALVES * HALVES - HALVES,
        x=HALVES,
        y=np.float16,
        head="#include <cuda_fp16.h>",
    ),
    "half fma": Case(
        guarded("y[i] = __hfma(x[i], x[i], x[i]);"),
        lambda: (HALVES.astype(float) ** 2 + HALVES.astype(float)).astype(np.float16),
        x=HALVES,
        y=np.float16,
        head="#include <cuda_fp16.h>",
    ),
    "bfloat16 through float": Case(
        guarded("y[i] = __float2bfloat16(__bfloat162float(x[i]) * 1.25f);"),
        lambda: (BFLOATS.astype(np.float32) * f32(1.25)).astype(BFLOAT16),
        x=BFLOATS,
        y=BFLOAT16,
        head="#include <cuda_bf16.h>",
    ),
    "bfloat16 arithmetic": Case(
        guarded("y[i] = __hmul(x[i], x[i]);"),
        lambda: (BFLOATS.astype(np.float32) ** 2).astype(BFLOAT16),
        x=BFLOATS,
        y=BFLOAT16,
        head="#include <cuda_bf16.h>",
    ),
    # control flow
    "branches": Case(
        guarded("float v = x[i]; if (v > 1.f) v = v - 1.f; else if (v < -1.f) v = v + 1.f; else v = 0.f; y[i] = v;"),
        lambda: np.where(X > 1, X - f32(1), np.where(X < -1, X + f32(1), f32(0))),
    ),
    "loops of different lengths": Case(
        guarded("int a = 0, b = 1; for (int k = 0; k < x[i]; ++k) { int c = a + b; a = b; b = c; } y[i] = a;"),
        lambda: fibonacci(SMALL % 40),
        x=SMALL % 40,
        y=np.int32,
    ),
    "while": Case(
        guarded("int v = x[i], c = 0; while (v > 1) { v = v % 2 ? 3 * v + 1 : v / 2; ++c; } y[i] = c;"),
        lambda: collatz(SMALL),
        x=SMALL,
        y=np.int32,
    ),
    "do while": Case(
        guarded("int v = x[i], c = 0; do { v /= 3; ++c; } while (v > 0); y[i] = c;"),
        lambda: np.array([max(1, len(np.base_repr(int(v), 3))) for v in SMALL], np.int32),
        x=SMALL,
        y=np.int32,
    ),
    "break and continue": Case(
        guarded(
            "int s = 0; "
            "for (int k = 1; k < 100; ++k) { if (k % 3 == 0) continue; if (k > x[i]) break; s += k; } "
            "y[i] = s;"
        ),
        lambda: np.array([sum(k for k in range(1, int(v) + 1) if k % 3) for v in SMALL], np.int32),
        x=SMALL,
        y=np.int32,
    ),
    "nested loops that are left": Case(
        guarded(
            "int c = 0; "
            "for (int a = 0; a < 10; ++a) for (int b = 0; b < 10; ++b) { if (a * b > x[i]) break; ++c; } "
            "y[i] = c;"
        ),
        lambda: np.array(
            [sum(next((b for b in range(10) if a * b > v), 10) for a in range(10)) for v in SMALL], np.int32
        ),
        x=SMALL,
        y=np.int32,
    ),
    "early return": Case(
        "if (i >= n) return; if (x[i] < 0.f) { y[i] = -1.f; return; } y[i] = x[i];", lambda: np.where(X < 0, f32(-1), X)
    ),
    "return from a loop": Case(
        "if (i >= n) return; for (int k = 0; k < 64; ++k) { if (k == x[i]) { y[i] = k; return; } } y[i] = -1;",
        lambda: SMALL,
        x=SMALL,
        y=np.int32,
    ),
    "switch": Case(
        guarded("switch (x[i] % 4) { case 0: y[i] = 10; break; case 1: y[i] = 11; break; default: y[i] = 99; }"),
        lambda: np.choose(np.minimum(SMALL % 4, 2), [10, 11, 99]).astype(np.int32),
        x=SMALL,
        y=np.int32,
    ),
    "grid stride": Case("for (int k = i; k < n; k += gridDim.x * blockDim.x) y[k] = x[k] + 1.f;", lambda: X + f32(1)),
    "short circuit": Case(
        "if (i < n && x[i] > 0.f) y[i] = x[i]; else if (i < n) y[i] = 0.f;", lambda: np.where(X > 0, X, f32(0))
    ),
    "iterations that some threads leave": Case(
        guarded("int s = 0; for (int k = 0; k < 9; ++k) { if ((i + k) % 3 == 0) continue; s += x[i] * k; } y[i] = s;"),
        lambda: SMALL * np.array([sum(k for k in range(9) if (p + k) % 3) for p in range(N)], np.int32),
        x=SMALL,
        y=np.int32,
    ),
    # memory
    "local array": Case(
        guarded(
            "float own[4]; for (int k = 0; k < 4; ++k) own[k] = x[i] * k; y[i] = own[x[i] > 0.f ? 3 : 1] + own[2];"
        ),
        lambda: np.where(X > 0, X * f32(3), X) + X * f32(2),
    ),
    "helper by reference": Case(
        guarded("float a = x[i], b = z[i]; exchange(a, b); y[i] = a - b;"),
        lambda: Z - X,
        head="__device__ void exchange(float& a, float& b) { float c = a; a = b; b = c; }",
    ),
    "vector loads": Case(
        "if (4 * i < n) { float4 v = ((const float4*)x)[i]; y[i] = v.x + v.y * v.z - v.w; }",
        lambda: (X.reshape(-1, 4)[:, 0] + X.reshape(-1, 4)[:, 1] * X.reshape(-1, 4)[:, 2]) - X.reshape(-1, 4)[:, 3],
    ),
    "gather": Case(guarded("y[i] = z[x[i]];"), lambda: Z[SMALL], x=SMALL),
    "constant memory": Case(
        guarded("y[i] = x[i] * table[i % 3];"),
        lambda: X * np.array([1, 2, 4], np.float32)[np.arange(N) % 3],
        head="__constant__ float table[3];",
        more={},
    ),
    "bits as a float": Case(guarded("y[i] = __int_as_float(__float_as_int(x[i]) & 0x7fffffff);"), lambda: np.abs(X)),
    "reading bytes as integers": Case(
        guarded("y[i] = reinterpret_cast<const unsigned char*>(x)[4 * i + 1];"),
        lambda: ((U >> 8) & 255).astype(np.int32),
        x=U,
        y=np.int32,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_kernels_compute_what_they_say(name: str) -> None:
    case = CASES[name]
    with np.errstate(all="ignore"):
        wanted = case.wanted()
    kind = np.dtype(np.float32 if case.y is None else case.y)
    y = np.zeros(len(wanted), kind)
    arguments = {"x": case.x, "z": case.z, "y": y, "n": N, **case.more}
    if "table" in case.head:
        arguments["table"] = np.array([1, 2, 4], np.float32)
    done = executed(text_of(case, y), arguments, 16, 256)
    assert done.faults == ()
    assert wanted.dtype == kind
    np.testing.assert_array_equal(done.arrays["y"], wanted)


CONTRACTED = {
    "x[i] * z[i] + 1.f": lambda: exact(lambda a, b: a * b + 1, X, Z),
    "x[i] * z[i] - 1.f": lambda: exact(lambda a, b: a * b - 1, X, Z),
    "1.f - x[i] * z[i]": lambda: exact(lambda a, b: 1 - a * b, X, Z),
    "__fmul_rn(x[i], z[i]) + 1.f": lambda: X * Z + f32(1),
}


@pytest.mark.parametrize("expression", CONTRACTED)
def test_products_are_fused_into_sums_where_that_is_asked_for(expression: str) -> None:
    case = Case(guarded(f"y[i] = {expression};"), CONTRACTED[expression])
    arguments = {"x": X, "z": Z, "y": np.zeros(N, np.float32), "n": N}
    done = executed(text_of(case, arguments["y"]), arguments, 16, 256, contracts=True)
    np.testing.assert_array_equal(done.arrays["y"], case.wanted())
