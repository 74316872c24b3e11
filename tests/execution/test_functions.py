"""Functions, inline assembly and matrix instructions compute what NumPy does."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.execution.running import executed

Array = np.ndarray[Any, np.dtype[Any]]
LANES = 64

FLOATS: dict[str, tuple[str, Callable[[Array], Array], float]] = {
    "saturation": ("__saturatef(v)", lambda v: np.clip(v, 0, 1), 0),
    "a fraction and a power": ("frexpf(v, &e) + 100.0f * e", lambda v: np.frexp(v)[0] + 100 * np.frexp(v)[1], 1e-6),
    "what lies behind the point": ("modff(v, &p) + 64.0f * p", lambda v: v - np.trunc(v) + 64 * np.trunc(v), 1e-6),
    "both results of an angle": ("(sincosf(v, &s, &c), s * 2.0f + c)", lambda v: np.sin(v) * 2 + np.cos(v), 1e-6),
    "an angle of two sides": ("atan2f(v, 2.0f)", lambda v: np.arctan2(v, 2), 1e-6),
    "a diagonal": ("hypotf(v, 3.0f)", lambda v: np.hypot(v, 3), 1e-6),
    "the length in space": ("norm3df(v, 1.0f, 2.0f)", lambda v: np.sqrt(v * v + 5), 1e-6),
    "a power of two": ("ldexpf(v, 3)", lambda v: v * 8, 0),
    "an exponent": ("ilogbf(v)", lambda v: np.frexp(v)[1] - 1, 0),
    "a positive difference": ("fdimf(v, 0.5f)", lambda v: np.maximum(v - np.float32(0.5), 0), 0),
    "the nearest remainder": ("remainderf(v, 0.75f)", np.vectorize(lambda v: math.remainder(v, 0.75)), 0),
    "the other error function": ("erfcf(v)", np.vectorize(math.erfc), 1e-6),
    "an error function undone": ("erff(erfinvf(v * 0.1f))", lambda v: v * 0.1, 1e-6),
    "gamma": ("tgammaf(v + 9.0f)", np.vectorize(lambda v: math.gamma(v + 9)), 1e-5),
    "a Bessel function": ("j0f(v) * 0.0f + j1f(0.0f) + cyl_bessel_i0f(0.0f)", lambda v: np.ones_like(v), 1e-6),
    "whether it is finite": ("(float)isfinite(v / (v - v)) + (float)signbit(v)", lambda v: np.signbit(v), 0),
    "rounding away": ("lroundf(v * 2.0f)", lambda v: np.trunc(v * 2 + np.copysign(0.5, v)), 0),
    "assembly": ("(float)twice(v)", lambda v: 2 * v, 0),
    "a comparison in assembly": ("positive(v)", lambda v: np.where(v > 0, v, 0), 0),
}  # fmt: skip
HELPERS = """
__device__ float twice(float v) { float r; asm("add.rn.f32 %0, %1, %1;" : "=f"(r) : "f"(v)); return r; }
__device__ float positive(float v) {
  float r = 0.0f;
  asm("{ .reg .pred p; setp.gt.f32 p, %1, 0f00000000; @p mov.b32 %0, %1; }" : "+f"(r) : "f"(v));
  return r;
}
"""


@pytest.mark.parametrize(("expression", "reference", "bound"), FLOATS.values(), ids=FLOATS)
def test_function_of_floats(expression: str, reference: Callable[[Array], Array], bound: float) -> None:
    text = f"""{HELPERS}
    __global__ void k(const float* x, float* y) {{
      float v = x[threadIdx.x]; int e; float p, s, c;
      y[threadIdx.x] = {expression};
    }}"""
    x = np.random.default_rng(1).uniform(-4, 4, LANES).astype(np.float32)
    run = executed(text, {"x": x, "y": np.zeros(LANES, np.float32)}, 1, LANES)
    assert not run.faults
    assert not run.stopped
    expected = reference(x.astype(np.float64)).astype(np.float64)
    np.testing.assert_allclose(run.arrays["y"], expected, rtol=bound, atol=bound)


def _bytes(word: Array) -> Array:
    return word.view(np.uint8).reshape(-1, 4)


def _joined(parts: Array) -> Array:
    return np.ascontiguousarray(parts).view(np.uint32)[:, 0]


def _permuted(a: Array, b: Array) -> Array:
    both = np.concatenate([_bytes(a), _bytes(b)], axis=1)
    return np.ascontiguousarray(both[:, [7, 0, 5, 2]]).view(np.uint32)[:, 0]


def _wide(a: Array, b: Array) -> Array:
    return (b.astype(np.uint64) << np.uint64(32)) | a.astype(np.uint64)


def _counted(a: Array) -> Array:
    return np.array([32 - int(word).bit_length() for word in a], np.uint32)


WORDS: dict[str, tuple[str, Callable[[Array, Array], Array]]] = {
    "permuted bytes": ("__byte_perm(a, b, 0x2507)", _permuted),
    "permuted bytes in assembly": (
        'asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(0x2507));', _permuted,
    ),
    "bytes chosen by data": ("__byte_perm(a, b, b & 0x7777)", lambda a, b: np.array(
        [sum(((int(x) | int(y) << 32) >> (8 * (int(y) >> 4 * i & 7)) & 255) << 8 * i for i in range(4))
         for x, y in zip(a, b, strict=True)], np.uint32)),
    "a funnel shift": ("__funnelshift_l(a, b, 5)", lambda a, b: (_wide(a, b) << np.uint64(5) >> np.uint64(32))),
    "a funnel shift to the right": ("__funnelshift_rc(a, b, 40)", lambda a, b: b),
    "reversed bits": ("__brev(a)", lambda a, b: np.array([int(f"{x:032b}"[::-1], 2) for x in a], np.uint32)),
    "the sum of a distance": ("__usad(a, b, 7u)", lambda a, b: np.maximum(a, b) - np.minimum(a, b) + np.uint32(7)),
    "a product of low bits": ("__umul24(a, b)", lambda a, b: (a & np.uint32(0xFFFFFF)) * (b & np.uint32(0xFFFFFF))),
    "a signed product of low bits": ("__mul24((int)a, (int)b)", lambda a, b: (
        (a.view(np.int32) << 8 >> 8) * (b.view(np.int32) << 8 >> 8))),
    "two halves": ("__half_as_ushort(__high2half(__floats2half2_rn(2.5f, (float)(a & 1023))))", lambda a, b: (
        (a & np.uint32(1023)).astype(np.float16).view(np.uint16).astype(np.uint32))),
    "literals rounded as asked": (
        "__float2int_rn(3.5f) * 100u + __float2int_rd(-2.7f) * 10u + (unsigned)__half2float(__float2half_ru(2048.5f))",
        lambda a, b: np.full_like(a, 4 * 100 - 3 * 10 + 2050)),
    "an average": ("__uhadd(a, b)", lambda a, b: (a.astype(np.uint64) + b) >> np.uint64(1)),
    "signed products of bytes": ("__dp4a((int)a, (int)b, 3)", lambda a, b: (
        (_bytes(a).view(np.int8).astype(np.int32) * _bytes(b).view(np.int8)).sum(1) + 3)),
    "a function of three words": (
        'asm("lop3.b32 %0, %1, %2, %3, 0x1d;" : "=r"(r) : "r"(a), "r"(b), "r"(a ^ 0xff));',
        lambda a, b: _table(0x1D, a, b, a ^ np.uint32(255))),
    "a field": ('asm("bfe.s32 %0, %1, 7, 9;" : "=r"(r) : "r"(a));', lambda a, b: (a << 16).view(np.int32) >> 23),
    "a field put in": (
        'asm("bfi.b32 %0, %1, %2, 4, 8;" : "=r"(r) : "r"(a), "r"(b));',
        lambda a, b: (b & np.uint32(0xFFFFF00F)) | ((a & np.uint32(255)) << 4)),
    "the highest bit": ('asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(a));', lambda a, b: 31 - _counted(a)),
    "a shift by more than there is": ('asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));', lambda a, b: (
        np.where(b < 32, a.astype(np.uint64) << (b & np.uint32(31)).astype(np.uint64), 0))),
    "a long sum": (
        'unsigned h; asm("add.cc.u32 %0, %2, %3; addc.u32 %1, %3, %3;" : "=r"(r), "=r"(h) : "r"(a), "r"(b)); r ^= h;',
        lambda a, b: (a + b) ^ (b + b + ((a.astype(np.uint64) + b) >> np.uint64(32)).astype(np.uint32))),
    "a long difference": (
        'unsigned h; asm("sub.cc.u32 %0, %2, %3; subc.u32 %1, %3, 0;" : "=r"(r), "=r"(h) : "r"(a), "r"(b)); r ^= h;',
        lambda a, b: (a - b) ^ (b - (a < b).astype(np.uint32))),
    "a packed sum": (
        'asm("add.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a & 0x3fff3fffu), "r"(b & 0x3fff3fffu));',
        lambda a, b: ((a & np.uint32(0x3FFF3FFF)).view(np.float16) + (b & np.uint32(0x3FFF3FFF)).view(np.float16))
        .view(np.uint32)),
    "distances of bytes": (
        'asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(5));',
        lambda a, b: np.abs(_bytes(a).astype(int) - _bytes(b)).sum(1) + 5),
    "sums of bytes that saturate": ("__vaddss4(a, b)", lambda a, b: _joined(
        np.clip(_bytes(a).view(np.int8).astype(int) + _bytes(b).view(np.int8), -128, 127).astype(np.int8))),
    "sums of halfwords that wrap": (
        "__vadd2(a, b)", lambda a, b: (a.view(np.uint16) + b.view(np.uint16)).view(np.uint32),
    ),
    "which bytes are larger": ("__vcmpgtu4(a, b)", lambda a, b: _joined(
        np.where(_bytes(a) > _bytes(b), 255, 0).astype(np.uint8))),
    "which signed halfwords are no larger": ("__vsetles2(a, b)", lambda a, b: (
        (a.view(np.int16) <= b.view(np.int16)).astype(np.uint16).view(np.uint32))),
    "sizes of halfwords": ("__vabs2(a)", lambda a, b: np.abs(a.view(np.int16)).view(np.uint32)),
    "rounded averages of bytes": ("__vavgu4(a, b)", lambda a, b: _joined(
        ((_bytes(a).astype(int) + _bytes(b) + 1) >> 1).astype(np.uint8))),
    "the sum of distances of signed bytes": ("__vsads4(a, b)", lambda a, b: (
        np.abs(_bytes(a).view(np.int8).astype(int) - _bytes(b).view(np.int8)).sum(1))),
}  # fmt: skip


def _table(table: int, a: Array, b: Array, c: Array) -> Array:
    result = np.zeros_like(a)
    for row in range(8):
        if table >> row & 1:
            result |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
    return result


@pytest.mark.parametrize(("form", "reference"), WORDS.values(), ids=WORDS)
def test_function_of_words(form: str, reference: Callable[[Array, Array], Array]) -> None:
    statement = form if form.endswith(";") else f"r = {form};"
    text = f"""__global__ void k(const unsigned* x, unsigned* y) {{
      unsigned a = x[threadIdx.x], b = x[threadIdx.x + {LANES}], r;
      {statement}
      y[threadIdx.x] = r;
    }}"""
    x = np.random.default_rng(2).integers(0, 2**32, 2 * LANES, dtype=np.uint32)
    x[LANES : LANES + 16] &= np.uint32(63)
    run = executed(text, {"x": x, "y": np.zeros(LANES, np.uint32)}, 1, LANES)
    assert not run.faults
    assert not run.stopped
    expected = np.asarray(reference(x[:LANES], x[LANES:])).astype(np.uint64) & np.uint64(2**32 - 1)
    np.testing.assert_array_equal(run.arrays["y"], expected.astype(np.uint32))


def test_special_registers_and_votes_in_assembly() -> None:
    text = """__global__ void k(unsigned* y) {
      unsigned lane, below, warp, set, mate;
      asm("mov.u32 %0, %%laneid;" : "=r"(lane));
      asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
      asm("mov.u32 %0, %%warpid;" : "=r"(warp));
      asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, 20; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                   : "=r"(set) : "r"(lane));
      asm volatile("shfl.sync.down.b32 %0, %1, 4, 0x1f, 0xffffffff;" : "=r"(mate) : "r"(lane));
      y[threadIdx.x] = lane + 100u * warp;
      y[threadIdx.x + 64] = below;
      y[threadIdx.x + 128] = set;
      y[threadIdx.x + 192] = mate;
    }"""
    run = executed(text, {"y": np.zeros(256, np.uint32)}, 1, 64)
    lane = np.arange(64) % 32
    assert not run.faults
    np.testing.assert_array_equal(run.arrays["y"][:64], lane + 100 * (np.arange(64) // 32))
    np.testing.assert_array_equal(run.arrays["y"][64:128], (1 << lane) - 1)
    np.testing.assert_array_equal(run.arrays["y"][128:192], (2**32 - 1) ^ (2**21 - 1))
    np.testing.assert_array_equal(run.arrays["y"][192:], np.where(lane < 28, lane + 4, lane))


def test_asynchronous_copies_fill_with_zeros_what_is_not_there() -> None:
    text = """__global__ void k(const float* x, float* y, int n) {
      __shared__ float tile[128];
      int t = threadIdx.x;
      unsigned start = (unsigned)__cvta_generic_to_shared(tile);
      int left = (n - 4 * t) * 4;
      left = left < 0 ? 0 : (left > 16 ? 16 : left);
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(start + t * 16), "l"(x + 4 * t), "r"(left));
      asm volatile("cp.async.commit_group;");
      asm volatile("cp.async.wait_group 0;");
      __syncthreads();
      for (int i = t; i < 128; i += 32) y[i] = tile[127 - i];
    }"""
    x = np.arange(1, 102, dtype=np.float32)
    run = executed(text, {"x": x, "y": np.zeros(128, np.float32), "n": 101}, 1, 32)
    assert not run.faults
    np.testing.assert_array_equal(run.arrays["y"], np.concatenate([x, np.zeros(27, np.float32)])[::-1])


MMA = """
#include <cstdint>
__global__ void k(const half* a, const half* b, {result}* c) {{
  __shared__ half sa[16][16]; __shared__ half sb[{b_shape}];
  int l = threadIdx.x;
  for (int i = l; i < 256; i += 32) sa[i / 16][i % 16] = a[i];
  for (int i = l; i < 128; i += 32) sb[i / {b_width}][i % {b_width}] = b[i];
  __syncthreads();
  uint32_t A[4], B[2];
  uint32_t pa = __cvta_generic_to_shared(&sa[l % 16][l / 16 * 8]);
  asm volatile("ldmatrix.sync.aligned.x4.m8n8.shared.b16 {{%0, %1, %2, %3}}, [%4];"
               : "=r"(A[0]), "=r"(A[1]), "=r"(A[2]), "=r"(A[3]) : "r"(pa));
  uint32_t pb = __cvta_generic_to_shared({b_address});
  asm volatile("ldmatrix.sync.aligned.x2{trans}.m8n8.shared.b16 {{%0, %1}}, [%2];"
               : "=r"(B[0]), "=r"(B[1]) : "r"(pb));
  {product}
}}"""
HALVES = """uint32_t C[2] = {0, 0};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"
               : "=r"(C[0]), "=r"(C[1])
               : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]), "r"(C[0]), "r"(C[1]));
  *(uint32_t*)&c[l / 4 * 8 + l % 4 * 2] = C[0];
  *(uint32_t*)&c[(l / 4 + 8) * 8 + l % 4 * 2] = C[1];"""
SINGLES = """float C[4] = {1.0f, 2.0f, 3.0f, 4.0f};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9},"
               "{%10, %11, %12, %13};"
               : "=f"(C[0]), "=f"(C[1]), "=f"(C[2]), "=f"(C[3])
               : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]),
                 "f"(C[0]), "f"(C[1]), "f"(C[2]), "f"(C[3]));
  for (int i = 0; i < 4; ++i) c[(l / 4 + i / 2 * 8) * 8 + l % 4 * 2 + i % 2] = C[i];"""
ROWS = {"b_shape": "8][16", "b_width": 16, "b_address": "&sb[l % 8][l / 8 % 2 * 8]", "trans": ""}
COLUMNS = {"b_shape": "16][8", "b_width": 8, "b_address": "&sb[l % 16][0]", "trans": ".trans"}


@pytest.mark.parametrize("is_transposed", [False, True], ids=["rows", "columns"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_tiles_are_loaded_spread_and_multiplied(is_transposed: bool, dtype: type) -> None:
    is_half = dtype is np.float16
    layout = COLUMNS if is_transposed else ROWS
    text = MMA.format(result="half" if is_half else "float", product=HALVES if is_half else SINGLES, **layout)
    random = np.random.default_rng(3)
    a = random.integers(-8, 8, (16, 16)).astype(np.float16)
    b = random.integers(-8, 8, (16, 8) if is_transposed else (8, 16)).astype(np.float16)
    run = executed(text, {"a": a, "b": b, "c": np.zeros((16, 8), dtype)}, 1, 32)
    product = a.astype(np.float32) @ (b if is_transposed else b.T).astype(np.float32)
    added = np.zeros((16, 8)) if is_half else np.tile([[1, 2]], (16, 4)) + np.repeat([0, 2], 8)[:, None]
    assert not run.faults
    np.testing.assert_array_equal(run.arrays["c"].reshape(16, 8), product + added)


OTHER_SHAPES = {
    "bytes": ("m16n8k32", "s8", "s32", np.int8, np.int32, 32, 4, 2),
    "bytes of half the depth": ("m16n8k16", "s8", "s32", np.int8, np.int32, 16, 2, 1),
    "doubles": ("m8n8k4", "f64", "f64", np.float64, np.float64, 4, 1, 1),
    "halves of half the depth": ("m16n8k8", "f16", "f32", np.float16, np.float32, 8, 2, 1),
    "short floats": ("m16n8k8", "tf32", "f32", np.float32, np.float32, 8, 4, 2),
}


@pytest.mark.parametrize("name", OTHER_SHAPES)
def test_products_of_other_shapes(name: str) -> None:
    shape, word, result, dtype, out, depth, left, right = OTHER_SHAPES[name]
    rows = int(shape[1 : shape.index("n")])
    size = np.dtype(dtype).itemsize
    per = max(1, 4 // size)
    register, constraint = ("double", "d") if size == 8 else ("unsigned", "r")
    count = rows * 8 // 32
    outputs, out_constraint = {"s32": ("int", "r"), "f32": ("float", "f"), "f64": ("double", "d")}[result]
    names = [f"%{count + number}" for number in range(left + right + count)]
    text = f"""__global__ void k(const {register}* a, const {register}* b, {outputs}* c) {{
      int l = threadIdx.x;
      {register} A[{left}], B[{right}];
      for (int i = 0; i < {left}; ++i) A[i] = a[l * {left} + i];
      for (int i = 0; i < {right}; ++i) B[i] = b[l * {right} + i];
      {outputs} C[{count}] = {{0}};
      asm("mma.sync.aligned.{shape}.row.col.{result}.{word}.{word}.{result} "
          "{{{", ".join(f"%{i}" for i in range(count))}}}, {{{", ".join(names[:left])}}}, "
          "{{{", ".join(names[left : left + right])}}}, {{{", ".join(names[left + right :])}}};"
          : {", ".join(f'"={out_constraint}"(C[{i}])' for i in range(count))}
          : {", ".join(f'"{constraint}"(A[{i}])' for i in range(left))},
            {", ".join(f'"{constraint}"(B[{i}])' for i in range(right))},
            {", ".join(f'"{out_constraint}"(C[{i}])' for i in range(count))});
      for (int i = 0; i < {count}; ++i) c[(l / 4 + i / 2 * 8) * 8 + l % 4 * 2 + i % 2] = C[i];
    }}"""
    random = np.random.default_rng(4)
    a, b = (random.integers(-8, 8, extents).astype(dtype) for extents in ((rows, depth), (depth, 8)))
    spread_a = np.zeros((32, left * per), dtype)
    spread_b = np.zeros((32, right * per), dtype)
    for lane in range(32):
        for i in range(left * per):
            row, column = _left_place(name, lane, i, per)
            spread_a[lane, i] = a[row, column]
        for i in range(right * per):
            inner = lane % 4 * per + i % per + i // per * 4 * per
            spread_b[lane, i] = b[inner, lane // 4]
    words = np.float64 if size == 8 else np.uint32
    run = executed(text, {"a": spread_a.view(words), "b": spread_b.view(words), "c": np.zeros(rows * 8, out)}, 1, 32)
    assert not run.faults
    np.testing.assert_array_equal(run.arrays["c"].reshape(rows, 8), a.astype(np.float64) @ b.astype(np.float64))


def _left_place(name: str, lane: int, i: int, per: int) -> tuple[int, int]:
    """Row and column of element `i` of a lane: registers go down eight rows first, then further along the row."""
    register, part = divmod(i, per)
    down, along = (0, 0) if name == "doubles" else (register % 2, register // 2)
    return lane // 4 + 8 * down, lane % 4 * per + part + along * 4 * per


def test_fragments_are_loaded_multiplied_and_stored() -> None:
    text = """#include <mma.h>
    using namespace nvcuda;
    template <int TILES>
    __global__ void k(const half* a, const half* b, float* c, int n) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right[TILES];
      wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[TILES];
      for (int t = 0; t < TILES; ++t) wmma::fill_fragment(sums[t], 1.0f);
      for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(left, a + k, n);
        for (int t = 0; t < TILES; ++t) {
          wmma::load_matrix_sync(right[t], b + 16 * t * n + k, n);
          wmma::mma_sync(sums[t], left, right[t], sums[t]);
        }
      }
      for (int t = 0; t < TILES; ++t) {
        for (int i = 0; i < sums[t].num_elements; ++i) sums[t].x[i] *= 2.0f;
        wmma::store_matrix_sync(c + 16 * t, sums[t], 32, wmma::mem_row_major);
      }
    }
    void launch(const half* a, const half* b, float* c, int n) { k<2><<<1, 32>>>(a, b, c, n); }"""
    random = np.random.default_rng(5)
    a, b = (random.integers(-8, 8, (rows, 48)).astype(np.float16) for rows in (16, 32))
    run = executed(text, {"a": a, "b": b, "c": np.zeros((16, 32), np.float32), "n": 48})
    assert not run.faults
    expected = 2 * (a.astype(np.float32) @ b.T.astype(np.float32) + 1)
    np.testing.assert_array_equal(run.arrays["c"].reshape(16, 32), expected)


COMPLEX: dict[str, tuple[str, Callable[[Array, Array], Array]]] = {
    "a product": ("cuCmulf(a, b)", lambda a, b: a * b),
    "a quotient": ("cuCdivf(a, b)", lambda a, b: a / b),
    "a sum with a product": ("cuCfmaf(a, b, cuCsubf(a, b))", lambda a, b: a * b + a - b),
    "a conjugate and a size": (
        "cuCaddf(cuConjf(a), make_cuFloatComplex(cuCabsf(b), cuCimagf(a)))", lambda a, b: a.real + np.abs(b) + 0j,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("expression", "reference"), COMPLEX.values(), ids=COMPLEX)
def test_function_of_complex_numbers(expression: str, reference: Callable[[Array, Array], Array]) -> None:
    text = f"""#include <cuComplex.h>
    __global__ void k(const cuFloatComplex* x, cuFloatComplex* y) {{
      cuFloatComplex a = x[threadIdx.x], b = x[threadIdx.x + {LANES}];
      y[threadIdx.x] = {expression};
    }}"""
    x = np.random.default_rng(6).uniform(-2, 2, 4 * LANES).astype(np.float32)
    run = executed(text, {"x": x, "y": np.zeros(2 * LANES, np.float32)}, 1, LANES)
    assert not run.faults
    pairs = x[0::2].astype(np.float64) + 1j * x[1::2]
    expected = reference(pairs[:LANES], pairs[LANES:])
    found = run.arrays["y"][0::2] + 1j * run.arrays["y"][1::2]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_halves_that_are_no_number_are_passed_on_or_not_as_the_name_says() -> None:
    text = """__global__ void k(const half* x, half* y) {
      int t = threadIdx.x;
      y[t] = __hmax_nan(x[t], x[t + 4]);
      y[t + 4] = __hmax(x[t], x[t + 4]);
    }"""
    nan = np.nan
    x = np.array([1, nan, 2, nan, 0, 3, nan, nan], np.float16)
    run = executed(text, {"x": x, "y": np.zeros(8, np.float16)}, 1, 4)
    np.testing.assert_array_equal(run.arrays["y"], np.array([1, nan, nan, nan, 1, 3, 2, nan], np.float16))


def test_variables_are_swapped_and_handed_on() -> None:
    text = """__global__ void k(float* x) {
      float a = x[0], b = x[1];
      std::swap(a, b);
      x[0] = std::move(a);
      x[1] = std::forward<float>(b);
    }"""
    run = executed(text, {"x": np.array([1, 2], np.float32)}, 1, 1)
    np.testing.assert_array_equal(run.arrays["x"], [2, 1])


def test_number_in_eight_bits_saturates_where_it_is_asked_to() -> None:
    text = """__global__ void k(const float* x, unsigned char* y) {
      y[threadIdx.x] = __nv_cvt_float_to_fp8(x[threadIdx.x], __NV_SATFINITE, __NV_E4M3);
    }"""
    x = np.array([1.0, -2.0, 1000.0, 0.0], np.float32)
    run = executed(text, {"x": x, "y": np.zeros(4, np.uint8)}, 1, 4)
    assert not run.faults
    np.testing.assert_array_equal(run.arrays["y"], [0x38, 0xC0, 0x7E, 0])
