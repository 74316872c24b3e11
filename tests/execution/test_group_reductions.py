"""Reductions of groups: with functions of the program's own, over records, and over tiles of several warps."""

from __future__ import annotations

import numpy as np
from tests.execution.running import executed, lowered

from portcheck.core.source import SourceFile
from portcheck.frontends.cuda import CudaOptions, read_cuda
from portcheck.ir import Opaque, operations

RECORDS = """
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
struct Best { float value; int place; };
__device__ Best better(Best a, Best b) {
  bool first = a.value > b.value || (a.value == b.value && a.place < b.place);
  return first ? a : b;
}
__global__ void k(float* values, int* places, const float* x, int columns) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
  Best best;
  best.value = -1e30f;
  best.place = -1;
  for (int c = warp.thread_rank(); c < columns; c += warp.size()) best = better(best, {x[row * columns + c], c});
  Best total = cg::reduce(warp, best, better);
  if (warp.thread_rank() == 0) { values[row] = total.value; places[row] = total.place; }
}
"""
WIDE = """
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(int* out, const int* x) {
  __shared__ cg::block_tile_memory<256> memory;
  auto block = cg::this_thread_block(memory);
  auto tile = cg::tiled_partition<64>(block);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int total = cg::reduce(tile, x[i], cg::plus<int>());
  out[i] = total * 1000 + tile.thread_rank() + 100000 * tile.meta_group_rank() + SYNC tile.meta_group_size();
}
"""


def test_records_are_reduced_with_a_function() -> None:
    x = np.random.default_rng(8).integers(0, 40, (36, 101)).astype(np.float32)
    arguments = {"values": np.zeros(36, np.float32), "places": np.zeros(36, np.int32), "x": x, "columns": 101}
    done = executed(RECORDS, arguments, 9, 128)
    assert done.faults == ()
    np.testing.assert_array_equal(done.arrays["values"], x.max(1))
    np.testing.assert_array_equal(done.arrays["places"], x.argmax(1))
    assert any("its order is not stated" in note for note in lowered(RECORDS).notes)


def test_tile_of_several_warps_is_reduced_apart_from_the_others() -> None:
    x = np.random.default_rng(9).integers(-9, 9, 5 * 256).astype(np.int32)
    done = executed(WIDE.replace("SYNC", ""), {"out": np.zeros(5 * 256, np.int32), "x": x}, 5, 256)
    rank = np.arange(5 * 256)
    wanted = np.repeat(x.reshape(-1, 64).sum(1), 64) * 1000 + rank % 64 + 100000 * (rank % 256 // 64) + 4
    assert done.faults == ()
    np.testing.assert_array_equal(done.arrays["out"], wanted)


def test_barrier_of_a_tile_of_several_warps_is_not_that_of_the_block() -> None:
    text = WIDE.replace("SYNC", "").replace("int total", "tile.sync(); int total")
    program = read_cuda(SourceFile("kernel.cu", text), CudaOptions()).lower(["k"])
    reasons = [op.reason for op in operations(program.kernels[0].body) if isinstance(op, Opaque)]
    assert reasons == ["barrier of a tile of several warps"]
