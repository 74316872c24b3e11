"""Blocks and warps that reduce, scan, load, store and exchange items through CUB."""

import numpy as np
import pytest
from tests.execution.running import executed

from portcheck.execution import EventKind, Execution

THREADS = 128
RANDOM = np.random.default_rng(11)
X = RANDOM.integers(-50, 50, 4 * THREADS).astype(np.int32)
ONE, FOUR = X[:THREADS], X.reshape(THREADS, 4)
HEAD = """#include <cub/cub.cuh>
struct Greater { __device__ int operator()(const int& a, const int& b) const { return a > b ? a : b; } };
struct Later { template <typename T> __device__ T operator()(const T& a, const T& b) const { return b; } };
struct Affine { int a, b; };
struct After { __device__ Affine operator()(Affine f, Affine g) const { Affine h; h.a = f.a * g.a;
  h.b = g.a * f.b + g.b; return h; } };
struct Running { int total; __device__ Running(int t) : total(t) {}
  __device__ int operator()(int all) { int before = total; total += all; return before; } };
__device__ int lower(int a, int b) { return a < b ? a : b; }
"""
Array = np.ndarray


def scanned(values: Array, exclusive: bool = False) -> Array:
    found = np.cumsum(values.reshape(-1))
    return (found - values.reshape(-1)) if exclusive else found


def best(values: Array) -> tuple[int, int]:
    return int(values.max()), int(values.argmax())


def affine(count: int) -> tuple[int, int]:
    a, b = 1, 0
    for i in range(count):
        factor, term = int(ONE[i]) % 3 + 1, int(ONE[i])
        a, b = (a * factor) & 0xFFFFFFFF, (factor * b + term) & 0xFFFFFFFF
    return a, b


R, S = "typedef cub::BlockReduce<int, 128> R; __shared__ R::TempStorage s;", "cub::BlockScan<int, 128>"
ITEMS = "int v[4]; for (int i = 0; i < 4; ++i) v[i] = x[4 * t + i];"
STRIPED_ITEMS = "int v[4]; for (int i = 0; i < 4; ++i) v[i] = x[128 * i + t];"
OUT = "for (int i = 0; i < 4; ++i) y[4 * t + i] = v[i];"
FIRST = "if (t == 0) y[0] = r;"
REDUCTIONS = {
    "own maximum": (f"{R} int r = R(s).Reduce(x[t], Greater()); {FIRST}", [ONE.max()]),
    "lambda": (f"{R} int r = R(s).Reduce(x[t], [](int a, int b) {{ return a + b; }}); {FIRST}", [ONE.sum()]),
    "function": (f"{R} int r = R(s).Reduce(x[t], lower); {FIRST}", [ONE.min()]),
    "first ones": (f"{R} int r = R(s).Reduce(x[t], cub::Max(), 7); {FIRST}", [ONE[:7].max()]),
    "first ones of its own": (f"{R} int r = R(s).Reduce(x[t], Later(), 7); {FIRST}", [ONE[6]]),
    "in the order of the threads": (f"{R} int r = R(s).Reduce(x[t], Later()); {FIRST}", [ONE[-1]]),
    "several items": (f"{R} {ITEMS} int r = R(s).Sum(v); {FIRST}", [X.sum()]),
    "several items, minimum": (f"{R} {ITEMS} int r = R(s).Reduce(v, cub::Min()); {FIRST}", [X.min()]),
    "without a name for the class": (
        f"__shared__ typename cub::BlockReduce<int, 128>::TempStorage s; "
        f"int r = cub::BlockReduce<int, 128>(s).Sum(x[t]); {FIRST}", [ONE.sum()],
    ),
    "a variable of the class": (
        f"__shared__ cub::BlockReduce<int, 128>::TempStorage s; cub::BlockReduce<int, 128> b(s); "
        f"int r = b.Sum(x[t]); {FIRST}", [ONE.sum()],
    ),
    "memory that is shared by two": (
        "__shared__ union { cub::BlockReduce<int, 128>::TempStorage r; cub::BlockScan<int, 128>::TempStorage s; } m; "
        f"int r = cub::BlockReduce<int, 128>(m.r).Sum(x[t]); {FIRST}", [ONE.sum()],
    ),
    "records": (
        "typedef cub::BlockReduce<Affine, 128> R; __shared__ R::TempStorage s; Affine f; f.a = (x[t] % 3 + 3) % 3 + 1;"
        "f.b = x[t]; Affine g = R(s).Reduce(f, After()); if (t == 0) { y[0] = g.a; y[1] = g.b; }", affine(THREADS),
    ),
    "pairs": (
        "typedef cub::KeyValuePair<int, int> P; typedef cub::BlockReduce<P, 128> R; __shared__ R::TempStorage s;"
        "P p(t, x[t]); P q = R(s).Reduce(p, cub::ArgMax()); if (t == 0) { y[0] = q.value; y[1] = q.key; }", best(ONE),
    ),
    "warps": (
        "typedef cub::WarpReduce<int> R; __shared__ R::TempStorage s[4]; int r = R(s[t / 32]).Reduce(x[t], Greater());"
        "if (t % 32 == 0) y[t / 32] = r;", ONE.reshape(4, 32).max(1),
    ),
    "warps in the order of the lanes": (
        "typedef cub::WarpReduce<int> R; __shared__ R::TempStorage s[4]; int r = R(s[t / 32]).Reduce(x[t], Later(), 9);"
        "if (t % 32 == 0) y[t / 32] = r;", ONE.reshape(4, 32)[:, 8],
    ),
    "half warps": (
        "typedef cub::WarpReduce<int, 16> R; __shared__ R::TempStorage s[8];"
        "int r = R(s[t / 16]).Reduce(x[t], Later()); if (t % 16 == 0) y[t / 16] = r;", ONE.reshape(8, 16)[:, -1],
    ),
}  # fmt: skip
SCANS = {
    "maximum": (f"{S}::TempStorage s; int r; {S}(s).InclusiveScan(x[t], r, cub::Max()); y[t] = r;",
                np.maximum.accumulate(ONE)),
    "after a first value": (f"{S}::TempStorage s; int r; {S}(s).ExclusiveScan(x[t], r, 3, cub::Max()); y[t] = r;",
                            np.maximum.accumulate(np.concatenate(([3], ONE[:-1])))),
    "with the whole": (f"{S}::TempStorage s; int r, a; {S}(s).ExclusiveSum(x[t], r, a); y[t] = r + a;",
                       scanned(ONE, True) + ONE.sum()),
    "several items": (f"{S}::TempStorage s; {ITEMS} {S}(s).InclusiveSum(v, v); {OUT}", scanned(X)),
    "several items before": (f"{S}::TempStorage s; {ITEMS} {S}(s).ExclusiveSum(v, v); {OUT}", scanned(X, True)),
    "several items, own": (
        f"{S}::TempStorage s; {ITEMS} {S}(s).InclusiveScan(v, v, [](int a, int b) {{ return a + b; }}); {OUT}",
        scanned(X),
    ),
    "own that counts the order": (
        f"{S}::TempStorage s; int r; {S}(s).ExclusiveScan(x[t], r, 5, Later()); y[t] = r;",
        np.concatenate(([5], ONE[:-1])),
    ),
    "after what came before": (
        f"{S}::TempStorage s; Running p(10); for (int i = 0; i < 512; i += 128) {{ int v = x[i + t];"
        f"{S}(s).ExclusiveSum(v, v, p); __syncthreads(); y[i + t] = v; }}", scanned(X, True) + 10,
    ),
    "warps": (
        "typedef cub::WarpScan<int> W; __shared__ W::TempStorage s[4]; int r; W(s[t / 32]).InclusiveSum(x[t], r);"
        "y[t] = r;", np.cumsum(ONE.reshape(4, 32), 1).reshape(-1),
    ),
    "warps, own": (
        "typedef cub::WarpScan<int> W; __shared__ W::TempStorage s[4]; int r;"
        "W(s[t / 32]).ExclusiveScan(x[t], r, 7, [](int a, int b) { return a + b; }); y[t] = r;",
        (np.cumsum(ONE.reshape(4, 32), 1) - ONE.reshape(4, 32) + 7).reshape(-1),
    ),
    "a lane for all": (
        "typedef cub::WarpScan<int> W; __shared__ W::TempStorage s[4]; y[t] = W(s[t / 32]).Broadcast(x[t], 5);",
        np.repeat(ONE.reshape(4, 32)[:, 5], 32),
    ),
}  # fmt: skip
for _name, (_body, _expected) in list(SCANS.items()):
    if _body.startswith(S):
        SCANS[_name] = (f"__shared__ {_body}", _expected)
LOAD, STORE = "typedef cub::BlockLoad<int, 128, 4{}> L; __shared__ L::TempStorage s;", "cub::BlockStore<int, 128, 4{}>"
PARTLY = np.where(np.arange(4 * THREADS) < 301, X, -1)
BY_ITEM = X.reshape(4, THREADS)
MOVES = {
    "loaded": (f"{LOAD.format('')} int v[4]; L(s).Load(x, v); {OUT}", X),
    "loaded in part": (f"{LOAD.format('')} int v[4]; L(s).Load(x, v, 301, -1); {OUT}", PARTLY),
    "the rest is left": (
        f"{LOAD.format(', cub::BLOCK_LOAD_WARP_TRANSPOSE')} int v[4] = {{-1, -1, -1, -1}}; L(s).Load(x, v, 301); {OUT}",
        PARTLY,
    ),
    "loaded in stripes": (f"{LOAD.format(', cub::BLOCK_LOAD_STRIPED')} int v[4]; L(s).Load(x, v); {OUT}",
                          BY_ITEM.T.reshape(-1)),
    "stored": (f"{ITEMS} __shared__ {STORE.format('')}::TempStorage s; {STORE.format('')}(s).Store(y, v, 301);",
               np.where(np.arange(4 * THREADS) < 301, X, 0)),
    "stored in stripes": (
        f"{ITEMS} typedef {STORE.format(', cub::BLOCK_STORE_STRIPED')} W; __shared__ W::TempStorage s;"
        "W(s).Store(y, v);", FOUR.T.reshape(-1),
    ),
    "to stripes": (f"typedef cub::BlockExchange<int, 128, 4> E; __shared__ E::TempStorage s; {ITEMS}"
                   f"E(s).BlockedToStriped(v); {OUT}", BY_ITEM.T.reshape(-1)),
    "from stripes": (f"typedef cub::BlockExchange<int, 128, 4> E; __shared__ E::TempStorage s; {STRIPED_ITEMS}"
                     f"E(s).StripedToBlocked(v, v); {OUT}", X),
    "to stripes of warps": (f"typedef cub::BlockExchange<int, 128, 4> E; __shared__ E::TempStorage s; {ITEMS}"
                            f"E(s).BlockedToWarpStriped(v); {OUT}",
                            X.reshape(4, 4, 32).transpose(0, 2, 1).reshape(-1)),
    "to where it says": (
        f"typedef cub::BlockExchange<int, 128, 4> E; __shared__ E::TempStorage s; {ITEMS} int r[4];"
        f"for (int i = 0; i < 4; ++i) r[i] = 511 - (4 * t + i); E(s).ScatterToBlocked(v, r); {OUT}", X[::-1],
    ),
    "within a warp": (
        f"typedef cub::WarpExchange<int, 4> E; __shared__ E::TempStorage s[4]; {ITEMS}"
        f"E(s[t / 32]).BlockedToStriped(v, v); {OUT}", X.reshape(4, 4, 32).transpose(0, 2, 1).reshape(-1),
    ),
}  # fmt: skip

RADIX = "typedef cub::BlockRadixSort<int, 128, 4> E; __shared__ E::TempStorage s;"
FLOATS = "for (int i = 0; i < 4; ++i) f[i] = x[4 * t + i] % 2 ? x[4 * t + i] * 0.5f : -x[4 * t + i] * 0.25f;"
FLOATING = np.where(X % 2 != 0, X * np.float32(0.5), -X * np.float32(0.25)).astype(np.float32)
NEXT = "int v[2] = {x[2 * t], x[2 * t + 1]}; int f[2];"
PAIRS = "y[2 * t] = f[0]; y[2 * t + 1] = f[1];"
EVEN = X[: 2 * THREADS] & ~3
ORDERED = {
    "ascending": (f"{RADIX} {ITEMS} E(s).Sort(v); {OUT}", np.sort(X)),
    "descending": (f"{RADIX} {ITEMS} E(s).SortDescending(v); {OUT}", np.sort(X)[::-1]),
    "in stripes": (f"{RADIX} {ITEMS} E(s).SortBlockedToStriped(v); for (int i = 0; i < 4; ++i) y[128 * i + t] = v[i];",
                   np.sort(X)),
    "with values, alike ones as they were": (
        f"typedef cub::BlockRadixSort<int, 128, 4, int> E; __shared__ E::TempStorage s; {ITEMS} int w[4];"
        f"for (int i = 0; i < 4; ++i) {{ w[i] = 4 * t + i; v[i] &= 7; }} E(s).Sort(v, w);"
        "for (int i = 0; i < 4; ++i) y[4 * t + i] = w[i];", np.argsort(X & 7, kind="stable"),
    ),
    "floats": (
        "typedef cub::BlockRadixSort<float, 128, 4> E; __shared__ E::TempStorage s; float f[4];"
        f"{FLOATS} E(s).Sort(f); for (int i = 0; i < 4; ++i) y[4 * t + i] = __float_as_int(f[i] + 0.0f);",
        np.sort(FLOATING + np.float32(0)).view(np.int32),
    ),
    "by a function": (
        f"typedef cub::BlockMergeSort<int, 128, 4> E; __shared__ E::TempStorage s; {ITEMS}"
        f"E(s).Sort(v, [](const int& a, const int& b) {{ return a > b; }}); {OUT}", np.sort(X)[::-1],
    ),
    "in a warp, with values": (
        "typedef cub::WarpMergeSort<int, 4> E; __shared__ E::TempStorage s[4];"
        f"{ITEMS} int w[4]; for (int i = 0; i < 4; ++i) {{ w[i] = (4 * t + i) % 128; v[i] &= 7; }}"
        "E(s[t / 32]).StableSort(v, w, cuda::std::less<int>{}); for (int i = 0; i < 4; ++i) y[4 * t + i] = w[i];",
        np.argsort((X & 7).reshape(4, 128), axis=1, kind="stable"),
    ),
    "where something new begins": (
        f"typedef cub::BlockDiscontinuity<int, 128> D; __shared__ D::TempStorage s; {NEXT} v[0] &= ~3; v[1] &= ~3;"
        f"D(s).FlagHeads(f, v, cub::Inequality()); {PAIRS}", np.concatenate([[1], EVEN[1:] != EVEN[:-1]]),
    ),
    "where it ends": (
        f"typedef cub::BlockDiscontinuity<int, 128> D; __shared__ D::TempStorage s; {NEXT}"
        f"D(s).FlagTails(f, v, [](int a, int b) {{ return a < b; }}, 7); {PAIRS}",
        np.concatenate([X[:255] < X[1:256], [X[255] < 7]]),
    ),
    "differences": (
        f"typedef cub::BlockAdjacentDifference<int, 128> D; __shared__ D::TempStorage s; {NEXT}"
        f"D(s).SubtractLeft(v, f, cub::Difference()); {PAIRS}", np.concatenate([X[:1], np.diff(X[:256])]),
    ),
    "differences with what is before": (
        f"typedef cub::BlockAdjacentDifference<int, 128> D; __shared__ D::TempStorage s; {NEXT}"
        f"D(s).SubtractLeft(v, v, [](int a, int b) {{ return a - b; }}, 100); y[2 * t] = v[0]; y[2 * t + 1] = v[1];",
        np.diff(np.concatenate([[100], X[:256]])),
    ),
    "from a thread further on": (
        "typedef cub::BlockShuffle<int, 128> D; __shared__ D::TempStorage s; int r = -1;"
        "D(s).Offset(x[t], r, 3); y[t] = r;", np.concatenate([ONE[3:], [-1, -1, -1]]),
    ),
    "round": (
        "typedef cub::BlockShuffle<int, 128> D; __shared__ D::TempStorage s; int r;"
        "D(s).Rotate(x[t], r, 3); y[t] = r;", np.roll(ONE, -3),
    ),
    "both running sums": (
        "typedef cub::WarpScan<int> W; __shared__ W::TempStorage s[4]; int i, e;"
        "W(s[t / 32]).Scan(x[t], i, e, cub::Sum()); y[t] = i - e;", ONE,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ORDERED)
def test_items_are_ordered_and_compared(name: str) -> None:
    check(*ORDERED[name])


def done_by(body: str) -> Execution:
    """A run of a body in a block of as many threads as there are."""
    text = f"{HEAD}__global__ void k(const int* x, int* y) {{ int t = threadIdx.x; {body} }}"
    return executed(text, {"x": X, "y": np.zeros(4 * THREADS, np.int32)}, 1, THREADS)


def check(body: str, expected: object) -> None:
    """Runs a body in a block of as many threads as there are; there are no faults."""
    wanted = np.asarray(expected).reshape(-1).astype(np.int64).astype(np.uint32).view(np.int32)
    done = done_by(body)
    assert done.faults == (), done.faults
    np.testing.assert_array_equal(done.arrays["y"][: wanted.size], wanted)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_threads_reduce(name: str) -> None:
    check(*REDUCTIONS[name])


@pytest.mark.parametrize("name", REDUCTIONS)
def test_only_the_first_thread_uses_what_only_it_is_given(name: str) -> None:
    assert done_by(REDUCTIONS[name][0]).events == ()


W = "typedef cub::WarpReduce<int> W; __shared__ W::TempStorage s[4];"
USED_BY_OTHERS = {
    "thread 1": (f"{R} int r = R(s).Sum(x[t]); if (t == 1) y[0] = r;", 1),
    "thread 1, in place of what it had": (f"{R} int r = x[t]; r = R(s).Sum(r); if (t == 1) y[0] = r;", 1),
    "all threads, without a variable": (f"{R} y[t] = R(s).Sum(x[t]);", THREADS - 1),
    "all threads, in a sum": (f"{R} y[t] = R(s).Sum(x[t]) + 1;", THREADS - 1),
    "thread 1, by a function of its own": (f"{R} int r = R(s).Reduce(x[t], Later()); if (t == 1) y[0] = r;", 1),
    "lane 1 of each warp": (f"{W} int r = W(s[t / 32]).Sum(x[t]); if (t % 32 == 1) y[t] = r;", 4),
    "lane 1 of each warp, by a function of its own": (
        f"{W} int r = W(s[t / 32]).Reduce(x[t], Later()); if (t % 32 == 1) y[t] = r;", 4,
    ),
    "a lane that goes on": (f"{W} int r = W(s[t / 32]).Sum(x[t]); if (t % 32 < 2) {{ if (t % 2) y[t] = r; }}", 4),
}  # fmt: skip


@pytest.mark.parametrize("name", USED_BY_OTHERS)
def test_what_only_the_first_thread_is_given_is_not_there_for_others(name: str) -> None:
    body, count = USED_BY_OTHERS[name]
    (event,) = done_by(body).events
    assert (event.kind, event.count) == (EventKind.UNINITIALISED_VARIABLE, count)


@pytest.mark.parametrize("name", SCANS)
def test_threads_scan(name: str) -> None:
    check(*SCANS[name])


@pytest.mark.parametrize("name", MOVES)
def test_items_are_moved(name: str) -> None:
    check(*MOVES[name])
