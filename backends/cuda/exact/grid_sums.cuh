// SPDX-License-Identifier: Apache-2.0
// The end of a kernel of exact sums: blocks add their sums to those of the grid.
#pragma once

#include <fanin/cuda/grid_fold.cuh>

#include "backends/cuda/exact/shared_sums.cuh"

namespace fanin::cuda {

/// Adds the block's sums to `total`, in device memory, which is all 0 before and after. The last block calls
/// write(result) with the grid's sums in `result`, in shared memory. All threads call it, after a barrier.
template <int Threads, class Block, class Sums, class Write>
__device__ void finish_grid(Block& block, Sums& result, Sums* total, unsigned* ticket, const Write& write) {
  const bool has_all = gridDim.x == 1 && !block.has_drained();
  block.for_each_chunk(
      [&](int i, std::int64_t sum) { has_all ? void(result.at(i) = sum) : atomic_add(total->at(i), sum); });
  if (has_all) {
    if (threadIdx.x == 0) result.set_flags(block.seen());
  } else {
    if (threadIdx.x == 0) atomicOr(&total->flags(), block.seen());
    __syncthreads();
    if (!is_last_block(ticket)) return;
#pragma unroll 1
    for (int i = threadIdx.x; i < result.count; i += Threads) {
      result.at(i) =
          static_cast<std::int64_t>(atomicExch(reinterpret_cast<unsigned long long*>(&total->at(i)), 0ull));
    }
    if (threadIdx.x == 0) result.set_flags(atomicExch(&total->flags(), 0u));
  }
  __syncthreads();
  write(result);
}

}  // namespace fanin::cuda
