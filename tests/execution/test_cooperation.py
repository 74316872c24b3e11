"""Kernels whose threads work together: shared memory, lanes, votes, atomics, groups, several launches."""

import numpy as np
import pytest
from tests.execution.orders import Array, doubling, halving, in_turn, strided
from tests.execution.running import executed

from portcheck.execution import Uninitialised

BLOCKS, THREADS = 16, 256
N = BLOCKS * THREADS
RANDOM = np.random.default_rng(5)
X = RANDOM.standard_normal(N).astype(np.float32)
K = RANDOM.integers(0, 100, N).astype(np.int32)
LANE = np.arange(N) % 32


def ran(body: str, y: Array | None = None, x: Array = X, head: str = "", **options: object) -> Array:
    """Runs a body over one element a thread; there are no faults."""
    y = np.zeros(N, np.float32) if y is None else y
    types = {"f": "float", "i": "int", "u": "unsigned"}
    text = f"""{head}
    __global__ void f(const {types[x.dtype.kind]}* x, {types[y.dtype.kind]}* y, int n) {{
      int t = threadIdx.x;
      int i = blockIdx.x * blockDim.x + t;
      {body}
    }}"""
    done = executed(text, {"x": x, "y": y, "n": N}, BLOCKS, THREADS, **options)
    assert done.faults == (), done.faults
    found: Array = done.arrays["y"]
    return found


def ints(count: int = N) -> Array:
    return np.zeros(count, np.int32)


def same(found: Array, wanted: Array) -> None:
    np.testing.assert_array_equal(found, np.asarray(wanted).astype(found.dtype))


def rows(values: Array, width: int = 32) -> Array:
    return values.reshape(-1, width)


SHUFFLES = {
    "xor": ("__shfl_xor_sync(0xffffffff, x[i], 5)", X[np.arange(N) ^ 5]),
    "down": ("__shfl_down_sync(0xffffffff, x[i], 3)", X[np.where(LANE + 3 < 32, np.arange(N) + 3, np.arange(N))]),
    "up": ("__shfl_up_sync(0xffffffff, x[i], 4)", X[np.where(LANE >= 4, np.arange(N) - 4, np.arange(N))]),
    "index": ("__shfl_sync(0xffffffff, x[i], t * 7)", X[np.arange(N) - LANE + np.arange(N) * 7 % 32]),
    "index beyond the warp": ("__shfl_sync(0xffffffff, x[i], 35)", X[np.arange(N) - LANE + 3]),
    "in eights": (
        "__shfl_down_sync(0xffffffff, x[i], 1, 8)",
        X[np.where(LANE % 8 < 7, np.arange(N) + 1, np.arange(N))],
    ),
}


@pytest.mark.parametrize("name", SHUFFLES)
def test_shuffles(name: str) -> None:
    call, wanted = SHUFFLES[name]
    same(ran(f"y[i] = {call};"), wanted)


def test_a_xor_takes_from_earlier_groups_and_not_from_later_ones() -> None:
    found = ran("y[i] = __shfl_xor_sync(0xffffffff, x[i], 8, 8);")
    same(found, X[np.where(LANE // 8 % 2 == 1, np.arange(N) ^ 8, np.arange(N))])


def test_a_block_that_is_no_whole_number_of_warps_shuffles_in_its_last_warp() -> None:
    text = "__global__ void f(const float* x, float* y) { int i = blockIdx.x * 48 + threadIdx.x; y[i] = %s; }"
    x = X[: 48 * 30]
    done = executed(text % "__shfl_xor_sync(0xffffffff, x[i], 1)", {"x": x, "y": np.zeros_like(x)}, 30, 48)
    assert done.faults == ()
    same(done.arrays["y"], x[np.arange(len(x)) ^ 1])


def test_votes_and_matches() -> None:
    holds = rows(K) > 50
    powers = 1 << np.arange(32, dtype=np.uint64)
    ballots = (holds * powers).sum(axis=1, keepdims=True)
    same(ran("y[i] = __ballot_sync(0xffffffff, x[i] > 50);", np.zeros(N, np.uint32), K), np.repeat(ballots, 32))
    same(ran("y[i] = __any_sync(0xffffffff, x[i] > 97);", ints(), K), np.repeat((rows(K) > 97).any(axis=1), 32))
    same(ran("y[i] = __all_sync(0xffffffff, x[i] < 98);", ints(), K), np.repeat((rows(K) < 98).all(axis=1), 32))
    small = K % 5
    equal = (rows(small)[:, :, None] == rows(small)[:, None, :]) * powers
    same(
        ran("y[i] = __match_any_sync(0xffffffff, x[i]);", np.zeros(N, np.uint32), small), equal.sum(axis=2).reshape(-1)
    )


def test_active_lanes_of_a_branch() -> None:
    found = ran("y[i] = 0; if (x[i] > 50) y[i] = __popc(__activemask());", ints(), K)
    same(found, np.where(K > 50, np.repeat((rows(K) > 50).sum(axis=1), 32), 0))


def test_sums_over_a_warp_by_shuffles_in_both_directions() -> None:
    down = """float v = x[i];
      for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
      if (t % 32 == 0) y[i / 32] = v;"""
    same(ran(down, np.zeros(N // 32, np.float32)), halving(rows(X)))
    up = "float v = x[i]; for (int o = 1; o < 32; o <<= 1) v += __shfl_xor_sync(0xffffffff, v, o); y[i] = v;"
    same(ran(up), np.repeat(doubling(rows(X)), 32))


def test_a_scan_by_shuffles() -> None:
    body = """int v = x[i];
      for (int o = 1; o < 32; o *= 2) { int w = __shfl_up_sync(0xffffffff, v, o); if (t % 32 >= o) v += w; }
      y[i] = v;"""
    same(ran(body, ints(), K), np.cumsum(rows(K), axis=1).reshape(-1))


def test_warp_reductions_of_integers() -> None:
    same(ran("y[i] = __reduce_add_sync(0xffffffff, x[i]);", ints(), K), np.repeat(rows(K).sum(axis=1), 32))
    same(ran("y[i] = __reduce_max_sync(0xffffffff, x[i]);", ints(), K), np.repeat(rows(K).max(axis=1), 32))


GROUPS = "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\nnamespace cg = cooperative_groups;"


def test_groups_of_sixteen_lanes() -> None:
    body = """auto tile = cg::tiled_partition<16>(cg::this_thread_block());
      y[i] = cg::reduce(tile, x[i], cg::plus<float>());"""
    same(ran(body, head=GROUPS), np.repeat(halving(rows(X, 16)), 16))


BLOCK_SUM = """
  __shared__ float box[256];
  box[t] = x[i];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) box[t] += box[t + s];
    __syncthreads();
  }
"""


def test_a_tree_in_shared_memory() -> None:
    found = ran(BLOCK_SUM + "if (t == 0) y[blockIdx.x] = box[0];", np.zeros(BLOCKS, np.float32))
    same(found, halving(X.reshape(BLOCKS, THREADS)))


def test_dynamic_shared_memory_carved_into_two_arrays() -> None:
    text = """
    extern __shared__ char memory[];
    __global__ void f(const float* x, float* y, int n) {
      float* values = (float*)memory;
      int* order = (int*)(values + blockDim.x);
      int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
      values[t] = x[i];
      order[t] = (t * 7) % blockDim.x;
      __syncthreads();
      y[i] = values[order[t]];
    }"""
    done = executed(text, {"x": X, "y": Uninitialised((N,)), "n": N}, BLOCKS, THREADS, 2 * 4 * THREADS)
    assert done.faults == ()
    same(done.arrays["y"], X.reshape(BLOCKS, THREADS)[:, np.arange(THREADS) * 7 % THREADS].reshape(-1))


def test_a_copy_keeps_what_the_variable_had() -> None:
    found = ran("float v = x[i]; if (v > 0.f) v = 1.f; float old = v; if (v < -1.f) v = 2.f; y[i] = old * 10.f + v;")
    old = np.where(X > 0, np.float32(1), X)
    same(found, old * np.float32(10) + np.where(old < -1, np.float32(2), old))


def test_counts_of_a_barrier() -> None:
    blocks = K.reshape(BLOCKS, THREADS)
    same(ran("y[i] = __syncthreads_count(x[i] > 50);", ints(), K), np.repeat((blocks > 50).sum(axis=1), THREADS))
    same(ran("y[i] = __syncthreads_or(x[i] == 7);", ints(), K), np.repeat((blocks == 7).any(axis=1), THREADS))
    same(ran("y[i] = __syncthreads_and(x[i] < 99);", ints(), K), np.repeat((blocks < 99).all(axis=1), THREADS))


INTEGER_ATOMICS = {
    "add": ("atomicAdd(&y[x[i] % 10], x[i]);", lambda y, v: y + v),
    "subtract": ("atomicSub(&y[x[i] % 10], x[i]);", lambda y, v: y - v),
    "minimum": ("atomicMin(&y[x[i] % 10], x[i]);", min),
    "maximum": ("atomicMax(&y[x[i] % 10], x[i]);", max),
    "and": ("atomicAnd(&y[x[i] % 10], x[i] | 1024);", lambda y, v: y & (v | 1024)),
    "or": ("atomicOr(&y[x[i] % 10], x[i]);", lambda y, v: y | v),
    "xor": ("atomicXor(&y[x[i] % 10], x[i]);", lambda y, v: y ^ v),
}


@pytest.mark.parametrize("seed", [None, 1])
@pytest.mark.parametrize("name", INTEGER_ATOMICS)
def test_atomics_whose_order_does_not_matter(name: str, seed: int | None) -> None:
    body, combine = INTEGER_ATOMICS[name]
    wanted = [50] * 10
    for value in K.tolist():
        wanted[value % 10] = combine(wanted[value % 10], value)
    found = ran(body, np.full(10, 50, np.int32), K, seed=seed)
    assert found.tolist() == wanted


@pytest.mark.parametrize("seed", [None, 3])
def test_old_values_are_those_of_one_order(seed: int | None) -> None:
    text = """
    __global__ void ticket(const int* x, int* y, int* counters) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      y[i] = atomicAdd(&counters[x[i] % 3], 1);
    }"""
    arguments = {"x": K, "y": ints(), "counters": ints(3)}
    done = executed(text, arguments, BLOCKS, THREADS, seed=seed)
    for number in range(3):
        taken = done.arrays["y"][number == K % 3]
        same(np.sort(taken), np.arange(len(taken)))
        assert (np.diff(taken) > 0).all() == (seed is None)


def test_float_sums_depend_on_the_seed_and_nothing_else() -> None:
    body = "atomicAdd(&y[0], x[i]);"
    in_order = ran(body, np.zeros(1, np.float32))
    same(in_order, in_turn(X)[None])
    first, again, other = (ran(body, np.zeros(1, np.float32), seed=seed) for seed in (1, 1, 2))
    same(first, again)
    assert len({float(value[0]) for value in (in_order, first, other)}) > 1
    bound = (N - 1) * 2.0**-24 * np.abs(X.astype(float)).sum()
    assert abs(float(other[0]) - X.astype(float).sum()) <= bound


def test_float_sums_whose_old_values_are_used() -> None:
    found = ran("float old = atomicAdd(&y[0], x[i]); if (i == n - 1) y[1] = old;", np.zeros(2, np.float32))
    same(found[:1], in_turn(X)[None])
    same(found[1:], in_turn(X[:-1])[None])


def test_counters_that_start_again() -> None:
    found = ran("atomicInc(&y[0], 6u); atomicDec(&y[1], 6u);", np.zeros(2, np.uint32), K)
    same(found, np.array([N % 7, (-N) % 7]))


def test_exchange_hands_values_on() -> None:
    text = """
    __global__ void pass(const int* x, int* y, int* last) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      y[i] = atomicExch(last, x[i]);
    }"""
    done = executed(text, {"x": K, "y": ints(), "last": np.full(1, -1, np.int32)}, BLOCKS, THREADS)
    same(done.arrays["y"], np.concatenate([[-1], K[:-1]]))


@pytest.mark.parametrize("seed", [None, 4])
def test_a_maximum_of_floats_by_compare_and_swap(seed: int | None) -> None:
    body = """
      int* place = (int*)y;
      int old = *place, assumed;
      do {
        assumed = old;
        if (__int_as_float(assumed) >= x[i]) break;
        old = atomicCAS(place, assumed, __float_as_int(x[i]));
      } while (old != assumed);"""
    found = ran(body, np.full(1, -100, np.float32), seed=seed)
    same(found, X.max()[None])


def test_sums_by_compare_and_swap_lose_nothing() -> None:
    body = "int old = y[0], seen; do { seen = old; old = atomicCAS(&y[0], seen, seen + x[i]); } while (old != seen);"
    same(ran(body, ints(1), K, threads=1024), K.sum()[None])


LAST_BLOCK = """
__device__ unsigned int done;
__global__ void total(const float* x, float* partial, float* out) {
  __shared__ float box[256];
  __shared__ bool is_last;
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  box[t] = x[i];
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) { if (t < s) box[t] += box[t + s]; __syncthreads(); }
  if (t == 0) {
    partial[blockIdx.x] = box[0];
    __threadfence();
    unsigned int ticket = atomicInc(&done, gridDim.x);
    is_last = (ticket == gridDim.x - 1);
  }
  __syncthreads();
  if (is_last && t == 0) {
    float sum = 0.f;
    for (int b = 0; b < gridDim.x; ++b) sum += partial[b];
    out[0] = sum;
    done = 0;
  }
}
"""


@pytest.mark.parametrize("threads", [1, 1024, 1 << 16], ids=["block by block", "some at once", "all at once"])
def test_the_last_block_adds_up_what_the_others_left(threads: int) -> None:
    arguments = {
        "x": X, "partial": Uninitialised((BLOCKS,)), "out": Uninitialised((1,)), "done": np.zeros(1, np.uint32)
    }  # fmt: skip
    done = executed(LAST_BLOCK, arguments, BLOCKS, THREADS, threads=threads)
    assert done.faults == ()
    same(done.arrays["out"], in_turn(halving(X.reshape(BLOCKS, THREADS)))[None])


TWO_KERNELS = """
__global__ void partial(const float* x, float* sums, int n) {
  __shared__ float box[256];
  int t = threadIdx.x;
  float own = 0.f;
  for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) own += x[i];
  box[t] = own;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) { if (t < s) box[t] += box[t + s]; __syncthreads(); }
  if (t == 0) sums[blockIdx.x] = box[0];
}
__global__ void finish(const float* sums, float* out, int count) {
  if (threadIdx.x == 0) {
    float total = 0.f;
    for (int b = 0; b < count; ++b) total += sums[b];
    out[0] = total;
  }
}
void sum(const float* x, float* sums, float* out, int n, int count) {
  partial<<<count, 256>>>(x, sums, n);
  finish<<<1, 32>>>(sums, out, count);
}
"""


def test_two_launches_run_in_order_over_shared_arrays() -> None:
    n = N - 77
    arguments = {"x": X, "sums": Uninitialised((8,)), "out": Uninitialised((1,)), "n": n, "count": 8}
    done = executed(TWO_KERNELS, arguments)
    assert done.faults == ()
    same(done.arrays["out"], in_turn(halving(strided(X[None, :n], 2048).reshape(8, 256)))[None])


def test_a_grid_waits_for_all_its_blocks() -> None:
    body = """auto grid = cg::this_grid();
      y[i] = x[i];
      grid.sync();
      float other = y[n - 1 - i];
      grid.sync();
      y[i] = other;"""
    same(ran(body, head=GROUPS, threads=1024), X[::-1])


def test_a_tiled_product_of_matrices() -> None:
    text = """
    __global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
      __shared__ float left[16][16], right[16][16];
      int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
      float sum = 0.f;
      for (int start = 0; start < k; start += 16) {
        int p = start + threadIdx.x, q = start + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = row < m && p < k ? a[row * k + p] : 0.f;
        right[threadIdx.y][threadIdx.x] = q < k && column < n ? b[q * n + column] : 0.f;
        __syncthreads();
        for (int j = 0; j < 16; ++j) sum += left[threadIdx.y][j] * right[j][threadIdx.x];
        __syncthreads();
      }
      if (row < m && column < n) c[row * n + column] = sum;
    }"""
    m, n, k = 45, 52, 37
    a, b = X[: m * k].reshape(m, k), X[-k * n :].reshape(k, n)
    arguments = {"a": a, "b": b, "c": Uninitialised((m, n)), "m": m, "n": n, "k": k}
    for contracts in (False, True):
        done = executed(text, arguments, (4, 3), (16, 16), contracts=contracts)
        assert done.faults == ()
        total = np.zeros((m, n), np.float32)
        for term in range(k):
            exact = a[:, term, None].astype(float) * b[None, term].astype(float)
            total = (total + exact).astype(np.float32) if contracts else total + exact.astype(np.float32)
        same(done.arrays["c"], total)
