// L2-normalise each row; a 32-thread cooperative-groups tile handles one row.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void l2_normalize(const float* __restrict__ v, float* __restrict__ u, int count, int dim,
                             float tiny) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  const int row = blockIdx.x * (blockDim.x / 32) + tile.meta_group_rank();
  if (row >= count) return;

  const float* src = v + (size_t)row * dim;
  float part = 0.0f;
  for (int d = tile.thread_rank(); d < dim; d += tile.size()) part += src[d] * src[d];
  const float norm2 = cg::reduce(tile, part, cg::plus<float>());
  const float inv = rsqrtf(norm2 + tiny);
  for (int d = tile.thread_rank(); d < dim; d += tile.size()) u[(size_t)row * dim + d] = src[d] * inv;
}

void l2_normalize_launch(const float* v, float* u, int count, int dim, float tiny) {
  const int threads = 128;
  const int per_block = threads / 32;
  l2_normalize<<<(count + per_block - 1) / per_block, threads>>>(v, u, count, dim, tiny);
}
