"""Planted faults are found, with block, thread and line; their correct twins are silent."""

import numpy as np
import pytest
from tests.execution.running import executed

from portcheck.execution import Event, EventKind, Execution, Uninitialised

N = 2048

NEIGHBOUR = """
__global__ void shift(const float* x, float* y, int n) {
  __shared__ float tile[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  tile[t] = i < n ? x[i] : 0.f;
  %s
  float v = tile[(t + 1) %% 256];
  if (i < n) y[i] = v;
}
"""
REUSED = """
__global__ void twice(const float* x, float* y) {
  __shared__ float tile[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  float sum = 0.f;
  for (int k = 0; k < 3; ++k) {
    tile[t] = x[i] + k;
    __syncthreads();
    sum += tile[255 - t];
    %s
  }
  y[i] = sum;
}
"""
WARP_ONLY = """
__global__ void lanes(const float* x, float* y) {
  __shared__ float tile[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  tile[t] = x[i];
  %s
  y[i] = tile[t ^ %d];
}
"""
COUNTED = """
__global__ void count(const float* x, float* y) {
  __shared__ int total;
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  if (t == 0) total = 0;
  __syncthreads();
  %s
  __syncthreads();
  y[i] = total;
}
"""
SAME_VALUE = """
__global__ void flag(const float* x, float* y) {
  __shared__ int seen;
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  if (t == 0) seen = 0;
  __syncthreads();
  if (x[i] > 0.f) seen = %s;
  __syncthreads();
  y[i] = seen;
}
"""
BROADCAST = """
__global__ void spread(const float* x, float* y) {
  __shared__ float one;
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  if (t == 0) one = x[i];
  __syncthreads();
  float v = one;
  %s
  if (t == 0) one = v + 1.f;
  __syncthreads();
  y[i] = v + one;
}
"""
RACES = {
    "a missing barrier between write and read": (NEIGHBOUR % "", NEIGHBOUR % "__syncthreads();"),
    "a missing barrier before the buffer is reused": (REUSED % "", REUSED % "__syncthreads();"),
    "lanes of a warp without __syncwarp": (WARP_ONLY % ("", 1), WARP_ONLY % ("__syncwarp();", 1)),
    "__syncwarp between different warps": (WARP_ONLY % ("__syncwarp();", 32), WARP_ONLY % ("__syncthreads();", 32)),
    "a sum without an atomic": (COUNTED % "total += 1;", COUNTED % "atomicAdd(&total, 1);"),
    "different values in one operation": (SAME_VALUE % "t", SAME_VALUE % "1"),
    "a write after others read": (BROADCAST % "", BROADCAST % "__syncthreads();"),
    "a write by the one who read last": (
        (BROADCAST % "").replace("if (t == 0) one = v", "if (t == 255) one = v"),
        (BROADCAST % "__syncthreads();").replace("if (t == 0) one = v", "if (t == 255) one = v"),
    ),
    "a plain read beside atomics": (
        COUNTED % "atomicAdd(&total, 1); if (t == 7 && total > 300) y[i] = 1.f;",
        COUNTED % "atomicAdd(&total, 1); __syncthreads(); if (t == 7 && total > 300) y[i] = 1.f;",
    ),
}


def ran(text: str, **more: object) -> Execution:
    x = np.random.default_rng(3).standard_normal(N).astype(np.float32)
    known = {"x": x, "y": np.zeros(N, np.float32), "n": N, **more}
    names = text[text.index("(") : text.index("{")].replace(")", " ").replace(",", " ").split()
    return executed(text, {name: value for name, value in known.items() if name in names}, N // 256, 256)


def only(done: Execution, kind: EventKind) -> Event:
    assert [event.kind for event in done.faults] == [kind], done.events
    return done.faults[0]


@pytest.mark.parametrize("name", RACES)
def test_races_are_found_and_their_twins_are_silent(name: str) -> None:
    faulty, correct = RACES[name]
    assert ran(correct).events == ()
    assert {event.kind for event in ran(faulty).faults} == {EventKind.RACE}


def test_a_race_names_thread_block_and_line() -> None:
    event = only(ran(NEIGHBOUR % ""), EventKind.RACE)
    assert event.span.start.line == 7
    assert event.block == (0, 0, 0)
    assert event.count == N
    assert "element 1 of tile" in event.message
    assert "thread 1 of" in event.message


def test_a_shuffle_orders_the_lanes_of_a_warp() -> None:
    text = WARP_ONLY % ("float s = __shfl_xor_sync(0xffffffff, 1.f, 1);", 1)
    assert ran(text).faults == ()


def test_volatile_alone_orders_nothing() -> None:
    text = (WARP_ONLY % ("", 1)).replace("__shared__", "volatile __shared__")
    assert only(ran(text), EventKind.RACE).span.start.line == 7


DIVERGENT = """
__global__ void part(const float* x, float* y) {
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  float v = x[i];
  if (%s) {
    __syncthreads();
    v += 1.f;
  }
  y[i] = v;
}
"""


def test_a_barrier_that_only_some_threads_reach_is_found() -> None:
    assert ran(DIVERGENT % "blockIdx.x % 2 == 0").events == ()
    event = only(ran(DIVERGENT % "t < 100"), EventKind.BARRIER_DIVERGENCE)
    assert event.span.start.line == 6
    assert "100 of the 256 threads" in event.message


def test_a_barrier_after_some_returned_is_told_apart() -> None:
    text = """
    __global__ void early(const float* x, float* y, int n) {
      int i = blockIdx.x * 256 + threadIdx.x;
      if (i >= n - 100) return;
      __syncthreads();
      y[i] = x[i];
    }"""
    done = ran(text)
    assert [event.kind for event in done.events] == [EventKind.BARRIER_AFTER_EXIT]
    assert done.faults == ()


def test_a_warp_barrier_that_names_lanes_that_do_not_come_is_found() -> None:
    text = """
    __global__ void part(const float* x, float* y) {
      int t = threadIdx.x, i = blockIdx.x * 256 + t;
      if (t %% 32 < 16) __syncwarp(%s);
      y[i] = x[i];
    }"""
    assert ran(text % "0xffff").events == ()
    assert only(ran(text % "0xfffff"), EventKind.BARRIER_DIVERGENCE).span.start.line == 4


def test_a_shuffle_from_a_lane_that_is_not_there_is_found() -> None:
    text = """
    __global__ void part(const float* x, float* y) {
      int t = threadIdx.x, i = blockIdx.x * 256 + t;
      float v = x[i];
      if (t %% 32 < %d) v = __shfl_sync(0xffffffff, v, 20);
      y[i] = v;
    }"""
    assert ran(text % 32).events == ()
    taken, named = ran(text % 16).faults
    assert {taken.kind, named.kind} == {EventKind.LANE_MISSING}
    assert "takes a value from a lane" in taken.message
    assert "waits for lanes of its warp that do not come" in named.message
    assert taken.count == named.count == N // 2


BOUNDS = """
__global__ void copy(const float* x, float* y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i %s n) y[i] = x[i];
}
"""


def test_accesses_out_of_bounds_are_found_and_change_nothing() -> None:
    n = N - 5
    arrays = {"x": np.ones(n, np.float32), "y": np.zeros(n, np.float32)}
    assert ran(BOUNDS % "<", n=n, **arrays).events == ()
    done = ran(BOUNDS % "<=", n=n, **arrays)
    read, wrote = done.faults
    assert {read.kind, wrote.kind} == {EventKind.OUT_OF_BOUNDS}
    assert read.span.start.line == wrote.span.start.line == 4
    assert (read.block, read.thread) == ((7, 0, 0), (n - 7 * 256, 0, 0))
    assert "element 2043 of x, which has 2043" in read.message
    np.testing.assert_array_equal(done.arrays["y"], np.ones(n, np.float32))


def test_indices_below_zero_are_out_of_bounds() -> None:
    text = "__global__ void f(const float* x, float* y) { int i = threadIdx.x; y[i] = x[i - 1]; }"
    event = only(ran(text), EventKind.OUT_OF_BOUNDS)
    assert "element -1 of x" in event.message


def test_shared_memory_has_bounds_too() -> None:
    text = """
    __global__ void f(const float* x, float* y) {
      __shared__ float tile[256];
      int t = threadIdx.x, i = blockIdx.x * 256 + t;
      tile[t + %d] = x[i];
      y[i] = x[i];
    }"""
    assert ran(text % 0).events == ()
    assert only(ran(text % 1), EventKind.OUT_OF_BOUNDS).count == N // 256


UNWRITTEN = """
__global__ void f(const float* x, float* y) {
  __shared__ float tile[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  if (t < %s) tile[t] = x[i];
  __syncthreads();
  y[i] = tile[255 - t];
}
"""


def test_reads_of_shared_memory_nobody_wrote_are_found() -> None:
    assert ran(UNWRITTEN % "256").events == ()
    event = only(ran(UNWRITTEN % "200"), EventKind.UNINITIALISED_READ)
    assert (event.span.start.line, event.count) == (7, 56 * N // 256)
    assert event.thread == (0, 0, 0)


def test_reads_of_an_output_before_it_is_written_are_found() -> None:
    text = "__global__ void f(const float* x, float* y) { int i = blockIdx.x * 256 + threadIdx.x; y[i] %s x[i]; }"
    assert ran(text % "=", y=Uninitialised((N,))).events == ()
    assert ran(text % "+=").events == ()
    assert only(ran(text % "+=", y=Uninitialised((N,))), EventKind.UNINITIALISED_READ).count == N


def test_reads_of_local_arrays_and_variables_before_they_have_a_value_are_found() -> None:
    text = """
    __global__ void f(const float* x, float* y) {
      int i = blockIdx.x * 256 + threadIdx.x;
      float own[4];
      for (int k = 0; k < %d; ++k) own[k] = x[i] * k;
      float sum = 0.f;
      for (int k = 0; k < 4; ++k) sum += own[k];
      y[i] = sum;
    }"""
    assert ran(text % 4).events == ()
    assert only(ran(text % 3), EventKind.UNINITIALISED_READ).count == N
    text = """
    __global__ void f(const float* x, float* y) {
      int i = blockIdx.x * 256 + threadIdx.x;
      float v;
      if (x[i] > 0.f) v = 1.f;
      y[i] = v;
    }"""
    (event,) = ran(text).events
    assert event.kind is EventKind.UNINITIALISED_VARIABLE
    assert event.span.start.line == 6


def test_a_local_array_is_new_each_time_it_is_declared() -> None:
    text = """
    __global__ void f(const float* x, float* y) {
      int i = blockIdx.x * 256 + threadIdx.x;
      float sum = 0.f;
      for (int k = 0; k < 2; ++k) {
        float own[2];
        if (k %s 0) own[k %% 1] = x[i];
        sum += own[0];
      }
      y[i] = sum;
    }"""
    assert ran(text % ">=").events == ()
    assert only(ran(text % "=="), EventKind.UNINITIALISED_READ).span.start.line == 8


def test_division_of_integers_by_zero_is_found() -> None:
    text = "__global__ void f(const int* x, int* y) { int i = threadIdx.x; y[i] = 100 / x[i]; }"
    x = np.arange(N, dtype=np.int32)
    event = only(ran(text, x=x, y=np.zeros(N, np.int32)), EventKind.DIVISION_BY_ZERO)
    assert event.thread == (0, 0, 0)


def test_a_failed_assertion_is_an_event_and_a_print_has_its_values() -> None:
    text = """
    __global__ void f(const float* x, float* y) {
      int i = blockIdx.x * 256 + threadIdx.x;
      assert(i < 2000);
      if (i == 5) printf("%d is %f\\n", i, 2.5f);
      y[i] = x[i];
    }"""
    done = ran(text)
    assert only(done, EventKind.ASSERTION_FAILED).count == N - 2000
    printed = [event for event in done.events if event.kind is EventKind.PRINT]
    assert [event.values for event in printed] == [(5, 2.5)]
    assert printed[0].thread == (5, 0, 0)


def test_an_endless_loop_ends_with_the_budget() -> None:
    text = """
    __global__ void f(const float* x, float* y) {
      int i = blockIdx.x * 256 + threadIdx.x;
      volatile float* seen = y;
      while (seen[0] == 0.f) {}
      y[i] = x[i];
    }"""
    done = executed(text, {"x": np.ones(N, np.float32), "y": np.zeros(N, np.float32)}, 8, 256, steps=10_000_000)
    assert done.stopped is not None
    assert done.stopped.kind is EventKind.BUDGET_SPENT
    assert done.stopped.span.start.line == 5


def test_without_checks_only_what_is_free_is_found() -> None:
    arguments = {"x": np.ones(N, np.float32), "y": np.zeros(N, np.float32), "n": N}
    assert executed(NEIGHBOUR % "", arguments, 8, 256, is_checked=False).events == ()
