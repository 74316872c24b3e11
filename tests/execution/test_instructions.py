"""Instructions of inline assembly compute what the PTX document says, or stay whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.execution.running import executed
from tests.frontends.cuda.reading import body, not_understood

Array = np.ndarray[Any, np.dtype[Any]]
RANDOM = np.random.default_rng(3)
A = RANDOM.integers(0, 2**32, 256, dtype=np.uint32)
B = RANDOM.integers(0, 2**32, 256, dtype=np.uint32)
PLACES, LENGTHS = A % 40, B % 40
F = RANDOM.standard_normal(256).astype(np.float32)
G = np.where(np.arange(256) % 7 == 0, np.nan, RANDOM.standard_normal(256)).astype(np.float32)
MASK = 0xFFFFFFFF


def _fields(sign: bool) -> Array:
    found = []
    for word, start, length in zip(A, PLACES, LENGTHS, strict=True):
        bits = [int(word) >> min(place, 31 if sign else place) & 1 if place < 32 or sign else 0
                for place in range(int(start), int(start) + int(length))][:32]  # fmt: skip
        last = bits[-1] if bits and sign else 0
        whole = bits + [last] * (32 - len(bits))
        found.append(sum(bit << place for place, bit in enumerate(whole)))
    return np.array(found, np.uint32)


def _inserted() -> Array:
    mask = [((1 << int(length)) - 1) << int(start) & MASK for start, length in zip(PLACES, LENGTHS, strict=True)]
    moved = [int(word) << int(start) & MASK for word, start in zip(A, PLACES, strict=True)]
    found = [new & here | int(old) & ~here & MASK for new, here, old in zip(moved, mask, B, strict=True)]
    return np.array(found, np.uint32)


def _dotted(first: str, second: str) -> Array:
    left, right = A.view(first).reshape(-1, 4 // np.dtype(first).itemsize), B.view(second).reshape(-1, 4)
    start = right.shape[1] - left.shape[1]
    total = (left.astype(np.int64) * right[:, start:].astype(np.int64)).sum(1) + 7
    return (total & MASK).astype(np.uint32)


WORDS: dict[str, tuple[str, Array]] = {
    "a field where it says": ('"bfe.u32 %0, %1, %3, %4;"', _fields(False)),
    "a field with its sign": ('"bfe.s32 %0, %1, %3, %4;"', _fields(True)),
    "a field put in": ('"bfi.b32 %0, %1, %2, %3, %4;"', _inserted()),
    "products of bytes": ('"dp4a.s32.u32 %0, %1, %2, 7;"', _dotted("i1", "u1")),
    "products of halves and bytes": ('"dp2a.hi.u32.s32 %0, %1, %2, 7;"', _dotted("u2", "i1")),
    "whether it is zero": ('"{ .reg .b32 a; and.b32 a, %1, 1; cnot.b32 %0, a; }"', 1 - A % 2),
    "the first unless the third is negative": ('"slct.u32.s32 %0, %1, %2, %1;"', np.where(A < 2**31, A, B)),
    "distances of signed bytes": (
        '"vabsdiff4.s32.s32.s32.add %0, %1, %2, 0;"',
        np.abs(A.view("i1").astype(int) - B.view("i1")).reshape(-1, 4).sum(1).astype(np.uint32),
    ),
    "two floats at once": (
        '"{ .reg .b64 a, b; mov.b64 a, {%1, %2}; add.rn.f32x2 b, a, a; mov.b64 {%0, _}, b; }"',
        (2 * (A & 0x3FFFFFFF | 0x20000000).view(np.float32)).view(np.uint32),
    ),
    "half of them": ('"{ .reg .b64 a; cvt.u64.u32 a, %1; shl.b64 a, a, 4; cvt.u32.u64 %0, a; }"', A << 4),
}  # fmt: skip


@pytest.mark.parametrize("name", WORDS)
def test_instructions_on_words(name: str) -> None:
    code, expected = WORDS[name]
    first = "u[t] & 0x3fffffffu | 0x20000000u" if "floats" in name else "u[t]"
    text = f"""__global__ void k(const unsigned* u, const unsigned* v, unsigned* y) {{
      int t = threadIdx.x; unsigned r;
      asm({code} : "=r"(r) : "r"({first}), "r"(v[t]), "r"(u[t] % 40), "r"(v[t] % 40));
      y[t] = r; }}"""
    done = executed(text, {"u": A, "v": B, "y": np.zeros(256, np.uint32)}, 1, 256)
    np.testing.assert_array_equal(done.arrays["y"], expected)


def _relu(values: Array) -> Array:
    return np.where(values < 0, np.float32(0), values)


FLOATS: dict[str, tuple[str, Callable[[], Array]]] = {
    "maximum that keeps NaN": ("max.NaN.f32 %0, %1, %2;", lambda: np.maximum(F, G)),
    "maximum that drops NaN": ("max.f32 %0, %1, %2;", lambda: np.fmax(F, G)),
    "not below zero": (
        "{ .reg .b16 h; cvt.rn.relu.f16.f32 h, %1; cvt.f32.f16 %0, h; }",
        lambda: _relu(F.astype(np.float16)).astype(np.float32),
    ),
    "saturated": ("mul.sat.f32 %0, %1, 0f40000000;", lambda: np.clip(2 * F, 0, 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", FLOATS)
def test_instructions_on_floats(name: str) -> None:
    code, expected = FLOATS[name]
    text = f"""__global__ void k(const float* a, const float* b, float* y) {{
      int t = threadIdx.x; float r; asm("{code}" : "=f"(r) : "f"(a[t]), "f"(b[t])); y[t] = r; }}"""
    done = executed(text, {"a": F, "b": G, "y": np.zeros(256, np.float32)}, 1, 256)
    np.testing.assert_array_equal(done.arrays["y"], expected())


WHOLE = {
    "a saturating sum of integers": ('asm("add.sat.s32 %0, %1, 1;" : "=r"(d) : "r"(n));', "add.sat.s32"),
    "a product that saturates": ('asm("mad.hi.sat.s32 %0, %1, 1, 2;" : "=r"(d) : "r"(n));', "mad.hi.sat.s32"),
    "a reduction that keeps NaN": (
        'float r; asm("redux.sync.max.NaN.f32 %0, %1, -1;" : "=f"(r) : "f"(x[0])); x[1] = r;', "redux.sync.max.NaN.f32",
    ),
    "a maximum of three": ('float r; asm("max.f32 %0, %1, %1, %1;" : "=f"(r) : "f"(x[0])); x[1] = r;', "max.f32"),
    "distances that are not added": (
        'asm("vabsdiff4.u32.u32.u32 %0, %1, %1, %1;" : "=r"(d) : "r"(n));', "vabsdiff4.u32.u32.u32",
    ),
    "a bulk reduction": (
        'asm("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 16;" :: "l"(x), "l"(x));',
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32",
    ),
    "an arrival without a wait": ('asm volatile("bar.arrive 1, 64;");', "bar.arrive"),
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_what_would_be_something_else_stays_whole(name: str) -> None:
    code, instruction = WHOLE[name]
    found = not_understood(body(f"int d; {code} u[0] = d;", "float* x, unsigned* u, int n"))
    assert found == [f"assembly: {instruction} is not modelled"]


def test_threads_agree_at_a_barrier() -> None:
    text = """__global__ void k(const int* x, int* y) {
      int t = threadIdx.x, many, some, all;
      asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 0; barrier.red.popc.u32 %0, 0, p; }" : "=r"(many) : "r"(x[t]));
      asm volatile("{ .reg .pred p, q; setp.gt.s32 p, %1, 90; bar.red.or.pred q, 0, p; selp.s32 %0, 1, 0, q; }"
        : "=r"(some) : "r"(x[t]));
      asm volatile("{ .reg .pred p, q; setp.gt.s32 p, %1, 0; bar.red.and.pred q, 0, p; selp.s32 %0, 1, 0, q; }"
        : "=r"(all) : "r"(x[t]));
      y[t] = many * 100 + some * 10 + all; }"""
    x = RANDOM.integers(-50, 50, 128).astype(np.int32)
    done = executed(text, {"x": x, "y": np.zeros(128, np.int32)}, 1, 128)
    assert done.faults == ()
    assert (done.arrays["y"] == 100 * (x > 0).sum()).all()


def test_some_warps_wait_at_a_barrier_of_their_own() -> None:
    text = """__global__ void k(const int* x, int* y) {
      __shared__ int s[128]; int t = threadIdx.x;
      if (t < 64) { s[t] = x[t]; asm volatile("bar.sync 1, 64;" ::: "memory"); y[t] = s[63 - t]; }
      else { s[t] = 2 * x[t]; asm volatile("bar.sync %0, %1;" :: "r"(2), "r"(64) : "memory"); y[t] = s[191 - t]; } }"""
    x = np.arange(128, dtype=np.int32)
    done = executed(text, {"x": x, "y": np.zeros(128, np.int32)}, 1, 128)
    assert done.faults == ()
    np.testing.assert_array_equal(done.arrays["y"], np.concatenate([x[:64][::-1], 2 * x[64:][::-1]]))


def test_one_lane_is_elected() -> None:
    text = """__global__ void k(int* y) {
      unsigned who, is; int t = threadIdx.x;
      asm volatile("{ .reg .pred p; .reg .b32 l; elect.sync l|p, %2; selp.b32 %1, 1, 0, p; mov.b32 %0, l; }"
        : "=r"(who), "=r"(is) : "r"(0xfffffff0u));
      y[t] = 10 * who + is; }"""
    done = executed(text, {"y": np.zeros(64, np.int32)}, 1, 64)
    np.testing.assert_array_equal(done.arrays["y"], np.where(np.arange(64) % 32 == 4, 41, 40))


def test_one_thread_moves_bytes_in_bulk() -> None:
    text = """__global__ void k(const float* x, float* y) {
      __shared__ alignas(16) float s[64]; int t = threadIdx.x;
      unsigned a = (unsigned)__cvta_generic_to_shared(s);
      if (t == 0) {
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
          :: "r"(a), "l"(x), "r"(256), "r"(a)); }
      __syncthreads(); s[t] *= 2.0f;
      asm volatile("fence.proxy.async.shared::cta;"); __syncthreads();
      if (t == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" :: "l"(y), "r"(a), "r"(256));
        asm volatile("cp.async.bulk.commit_group;"); asm volatile("cp.async.bulk.wait_group.read 0;"); } }"""
    done = executed(text, {"x": F[:64], "y": np.zeros(64, np.float32)}, 1, 64)
    np.testing.assert_array_equal(done.arrays["y"], 2 * F[:64])


def test_numbers_side_by_side_are_added_to_memory() -> None:
    text = """__global__ void k(float* y) {
      asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
        :: "l"(y), "f"(1.0f), "f"(2.0f), "f"(3.0f), "f"(4.0f) : "memory"); }"""
    done = executed(text, {"y": np.zeros(4, np.float32)}, 2, 32)
    np.testing.assert_array_equal(done.arrays["y"], 64 * np.arange(1, 5))
