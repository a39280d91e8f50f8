// From one state in each thread to one state for the grid, in one launch and in a fixed order.
#pragma once

#include "backends/cuda/accumulators.cuh"

namespace fanin::cuda {

/// The merge of the first `Lanes` lanes' states, in lane 0.
template <class A, int Lanes = 32>
__device__ typename A::state fold_warp(typename A::state s) {
#pragma unroll
  for (unsigned distance = Lanes / 2; distance > 0; distance /= 2) A::merge(s, shuffle_down(s, distance));
  return s;
}

/// The merge of the block's states, in thread 0. All threads call it; before a second call there is a barrier.
template <class A, int Threads>
__device__ typename A::state fold_block(typename A::state s) {
  constexpr int warps = Threads / 32;
  __shared__ typename A::state of_warp[warps];
  s = fold_warp<A>(s);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x < 32) s = fold_warp<A, warps>(threadIdx.x < warps ? of_warp[threadIdx.x] : A::identity());
  return s;
}

/// Thread 0 has written its block's share; whether this is the last block to say so, which then sees what all wrote.
/// All threads call it, with the same answer. The last one leaves the ticket at 0.
__device__ inline bool is_last_block(unsigned* ticket) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  return last;
}

/// Writes the merge of all threads' states to `out`. `partials` has room for one state a block.
template <class A, int Threads>
__device__ void fold_grid(typename A::state s, typename A::state* partials, unsigned* ticket,
                          typename A::state* out) {
  s = fold_block<A, Threads>(s);
  if (gridDim.x == 1) {
    if (threadIdx.x == 0) *out = s;
    return;
  }
  if (threadIdx.x == 0) partials[blockIdx.x] = s;
  if (!is_last_block(ticket)) return;
  s = A::identity();
  for (unsigned i = threadIdx.x; i < gridDim.x; i += Threads) A::merge(s, partials[i]);
  s = fold_block<A, Threads>(s);
  if (threadIdx.x == 0) *out = s;
}

}  // namespace fanin::cuda
