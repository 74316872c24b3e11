"""Who has to be there: barriers in branches and loops, lanes that masks name, and whom a partial exchange orders."""

import numpy as np
import pytest
from tests.execution.running import executed

from portcheck.execution import EventKind, Execution

N = 512
KERNEL = """
__global__ void k(const float* x, float* y, int n) {
  __shared__ float box[256];
  __shared__ int one;
  int t = threadIdx.x, i = blockIdx.x * 256 + t, lane = t %% 32;
  float v = x[i];
  %s
  y[i] = v;
}"""
FULL = "0xffffffff"

DIVERGENCE, MISSING, RACE = EventKind.BARRIER_DIVERGENCE, EventKind.LANE_MISSING, EventKind.RACE

PLANTED: dict[str, tuple[EventKind, str, str]] = {
    "a loop that threads leave after different numbers of barriers": (
        DIVERGENCE, "for (int k = 0; k < 1 + t / 128; ++k) __syncthreads();",
        "for (int k = 0; k < 1 + blockIdx.x; ++k) __syncthreads();",
    ),
    "a barrier of its own in each arm": (
        DIVERGENCE, "if (t < 128) __syncthreads(); else __syncthreads();",
        "if (n > 128) __syncthreads(); else __syncthreads();",
    ),
    "threads that break before a barrier": (
        DIVERGENCE, "for (int k = 0; k < 4; ++k) { if (k == t % 4) break; __syncthreads(); }",
        "for (int k = 0; k < 4; ++k) { if (k == n % 4) break; __syncthreads(); }",
    ),
    "threads that go on past a barrier": (
        DIVERGENCE, "for (int k = 0; k < 4; ++k) { if (k == t % 4) continue; __syncthreads(); }",
        "for (int k = 0; k < 4; ++k) { if (k == n % 4) continue; __syncthreads(); }",
    ),
    "a barrier that living threads miss after others have returned": (
        DIVERGENCE, "if (t >= 200) return; if (t < 100) __syncthreads();", "if (t >= 999) return; __syncthreads();"
    ),
    "__syncwarp of all lanes by half of them": (
        DIVERGENCE, "if (lane < 16) __syncwarp();", "if (lane < 16) __syncwarp(0xffff);"
    ),
    "__syncwarp by lanes that its mask does not name": (
        DIVERGENCE, "__syncwarp(0xffff);", "__syncwarp(lane < 16 ? 0xffff : 0xffff0000);"
    ),
    "a shuffle that names lanes that do not come": (
        MISSING, f"if (lane < 16) v = __shfl_down_sync({FULL}, v, 1, 8);",
        "if (lane < 16) v = __shfl_down_sync(0xffff, v, 1, 8);",
    ),
    "a shuffle by lanes that its mask does not name": (
        MISSING, "if (lane < 16) v = __shfl_sync(0xff, v, 5);", "if (lane < 8) v = __shfl_sync(0xff, v, 5);"
    ),
    "a vote that names lanes that do not come": (
        MISSING, f"if (lane < 16) v = __ballot_sync({FULL}, 1);",
        "if (lane < 16) { unsigned here = __activemask(); v = __ballot_sync(here, 1); }",
    ),
    "a reduction that names lanes that do not come": (
        MISSING, f"if (lane < 16) v = __reduce_add_sync({FULL}, lane);",
        "if (lane < 16) v = __reduce_add_sync(0xffff, lane);",
    ),
    "a partial __syncwarp does not order the other lanes": (
        RACE, "box[t] = v; if (lane < 16) __syncwarp(0xffff); v = box[t ^ 16];",
        "box[t] = v; if (lane < 16) __syncwarp(0xffff); else __syncwarp(0xffff0000); v = box[t ^ 8];",
    ),
    "halves of a warp that wait apart do not order each other": (
        RACE, "box[t] = v; __syncwarp(lane < 16 ? 0xffff : 0xffff0000); v = box[t ^ 16];",
        "box[t] = v; __syncwarp(lane < 16 ? 0xffff : 0xffff0000); v = box[t ^ 8];",
    ),
    "a whole warp after its halves": (
        RACE, "box[t] = v; __syncwarp(lane < 16 ? 0xffff : 0xffff0000); v = box[t ^ 16]; __syncwarp();",
        "box[t] = v; __syncwarp(lane < 16 ? 0xffff : 0xffff0000); __syncwarp(); v = box[t ^ 16];",
    ),
    "what is handed on from lane to lane by two exchanges": (
        RACE,
        "if (lane == 0) box[t] = v; if (lane < 2) __syncwarp(3);"
        " if (lane >= 2 && lane < 4) __syncwarp(12); if (lane == 2) v = box[t - 2];",
        "if (lane == 0) box[t] = v; if (lane < 2) __syncwarp(3);"
        " if (lane == 1 || lane == 2) __syncwarp(6); if (lane == 2) v = box[t - 2];",
    ),
    "a barrier of some threads does not order the others": (
        RACE, "box[t] = v; if (t < 128) { __barrier_sync_count(1, 128); v = box[t + 128]; }",
        "box[t] = v; if (t < 128) { __barrier_sync_count(1, 128); v = box[t ^ 64]; }",
    ),
    "all threads after some of them": (
        RACE, "box[t] = v; if (t < 128) { __barrier_sync_count(1, 128); v = box[t + 128]; } __syncthreads();",
        "box[t] = v; if (t < 128) __barrier_sync_count(1, 128); __syncthreads(); v = box[t ^ 128];",
    ),
    "a look at which lanes are active orders nothing": (
        RACE, "box[t] = v; unsigned here = __activemask(); v = box[t ^ 1] + here;",
        f"box[t] = v; unsigned here = __ballot_sync({FULL}, 1); v = box[t ^ 1] + here;",
    ),
    "other values written by several threads": (
        RACE, "if (t < 8) one = 1; if (t >= 8) one = 2; __syncthreads(); v = one;",
        "if (t < 8) one = 1; if (t >= 8) one = 1; __syncthreads(); v = one;",
    ),
    "a plain write of the value that atomics may leave": (
        RACE,
        "if (t == 0) one = 0; __syncthreads(); atomicMax(&one, 5); if (t == 9) one = 5; __syncthreads(); v = one;",
        "if (t == 0) one = 0; __syncthreads(); atomicMax(&one, 5); atomicMin(&one, 7); __syncthreads(); v = one;",
    ),
}  # fmt: skip


def ran(body: str) -> Execution:
    arguments = {"x": np.arange(N, dtype=np.float32), "y": np.zeros(N, np.float32), "n": N}
    return executed(KERNEL % body, arguments, N // 256, 256)


@pytest.mark.parametrize("name", PLANTED)
def test_planted_faults_are_found_and_their_twins_are_silent(name: str) -> None:
    kind, faulty, correct = PLANTED[name]
    assert ran(correct).events == ()
    assert {event.kind for event in ran(faulty).faults} == {kind}


def test_lanes_that_have_returned_need_not_come() -> None:
    done = ran(f"if (lane >= 16) return; v = __shfl_down_sync({FULL}, v, 1, 8); __syncwarp();")
    assert done.events == ()
    done = ran(f"if (lane >= 16) return; if (t < 64) {{ v = __shfl_down_sync({FULL}, v, 1, 8); __syncwarp(); }}")
    assert done.events == ()


def test_what_a_whole_warp_waited_for_is_known_after_a_part_of_it_waits() -> None:
    assert ran("box[t] = v; __syncwarp(); if (lane < 16) __syncwarp(0xffff); v = box[t ^ 16];").events == ()


def test_shuffles_of_before_volta_take_the_lanes_that_are_there() -> None:
    assert ran("if (lane < 16) v = __shfl_down(v, 1, 16);").events == ()


def test_a_block_that_is_no_whole_number_of_warps_has_no_lanes_to_wait_for() -> None:
    text = f"""
    __global__ void k(float* y) {{
      __shared__ float box[48];
      int t = threadIdx.x;
      box[t] = t;
      __syncwarp();
      y[t] = __shfl_xor_sync({FULL}, box[t ^ 1], 1);
    }}"""
    done = executed(text, {"y": np.zeros(48, np.float32)}, 1, 48)
    assert done.events == ()
    assert done.arrays["y"].tolist() == list(range(48))
