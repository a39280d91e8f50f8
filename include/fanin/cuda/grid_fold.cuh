// SPDX-License-Identifier: Apache-2.0
// Merges the states of all threads of a grid into one state, in one launch and in a fixed order.
#pragma once

#include <fanin/cuda/atomic.cuh>
#include <fanin/cuda/shape.cuh>
#include <fanin/cuda/shuffle.cuh>
#include <fanin/cuda/strided.cuh>

namespace fanin::device_code {

/// Merges the states of the first `Threads` threads of a warp. The first thread gets the merged state.
template <class A, int Threads = 32>
__device__ typename A::state fold_warp(typename A::state s) {
#pragma unroll
  for (unsigned distance = Threads / 2; distance > 0; distance /= 2) A::merge(s, shuffle_down(s, distance));
  return s;
}

/// Merges the states of the threads of a block. Thread 0 gets the merged state. All threads call the function. A
/// barrier is needed before a second call.
template <class A, int Threads>
__device__ typename A::state fold_block(typename A::state s) {
  constexpr int warps = Threads / 32;
  static_assert(warps * sizeof(typename A::state) <= 48 * 1024,
                "the state is too large: the states of all warps of a block have to fit in 48 KiB of shared memory");
  __shared__ typename A::state of_warp[warps];
  s = fold_warp<A>(s);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x < 32) s = fold_warp<A, warps>(threadIdx.x < warps ? of_warp[threadIdx.x] : A::identity());
  return s;
}

/// Counts the blocks that have written their results. One thread of each block calls the function after the block
/// has written. Returns true in the last block, which then sees the writes of all blocks. The last block sets the
/// ticket to 0 again.
__device__ inline bool take_ticket(unsigned* ticket) {
  const bool last = count_up_to(ticket, gridDim.x - 1);
  if (last) *ticket = 0;
  return last;
}

/// Calls take_ticket() in thread 0, which has written the block's result, and returns the answer in all threads.
__device__ inline bool is_last_block(unsigned* ticket) {
  return __syncthreads_or(threadIdx.x == 0 && take_ticket(ticket)) != 0;
}

/// Merges the states of all threads, and calls write(s) with the merged state s in one thread of the grid.
/// `partials` has room for one state of each block.
template <class A, int Threads, class Write>
__device__ void fold_grid(typename A::state s, typename A::state* partials, unsigned* ticket, const Write& write) {
  s = fold_block<A, Threads>(s);
  if (threadIdx.x >= 32) return;
  if (gridDim.x > 1) {
    bool last = false;
    if (threadIdx.x == 0) {
      partials[blockIdx.x] = s;
      last = take_ticket(ticket);
    }
    if (!__any_sync(0xffffffffu, last)) return;
    __syncwarp();
    s = A::identity();
    for_each_strided<tuning::partials_in_flight>(partials, threadIdx.x, gridDim.x, 32,
                                                 [&](const auto& p) { A::merge(s, p); });
    s = fold_warp<A>(s);
  }
  if (threadIdx.x == 0) write(s);
}

}  // namespace fanin::device_code
