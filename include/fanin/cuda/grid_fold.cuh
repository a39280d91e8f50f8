// From one state in each thread to one state for the grid, in one launch and in a fixed order.
#pragma once

#include <cuda/atomic>

#include <fanin/cuda/shape.cuh>
#include <fanin/cuda/shuffle.cuh>
#include <fanin/cuda/strided.cuh>

namespace fanin::device_code {

/// Returns, in lane 0, the merge of the states of the first `Lanes` lanes.
template <class A, int Lanes = 32>
__device__ typename A::state fold_warp(typename A::state s) {
#pragma unroll
  for (unsigned distance = Lanes / 2; distance > 0; distance /= 2) A::merge(s, shuffle_down(s, distance));
  return s;
}

/// Returns, in thread 0, the merge of the states of all threads of the block, which all call fold_block(). Two calls
/// need a barrier between them, because they share the array of_warp.
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

/// Called by one thread of each block, after that thread has written its block's partial state. Returns true in the
/// last block to call, which then sees the partial states of all blocks, and sets the ticket back to 0.
__device__ inline bool take_ticket(unsigned* ticket) {
  const ::cuda::atomic_ref<unsigned, ::cuda::thread_scope_device> taken(*ticket);
  const bool last = taken.fetch_add(1, ::cuda::memory_order_acq_rel) == gridDim.x - 1;
  if (last) *ticket = 0;
  return last;
}

/// As take_ticket(), but called by all threads of each block, after thread 0 has written; all threads get the result.
__device__ inline bool is_last_block(unsigned* ticket) {
  return __syncthreads_or(threadIdx.x == 0 && take_ticket(ticket)) != 0;
}

/// Calls write(state) in one thread of the grid, with the merge of the states of all threads. `partials` has room for
/// one state per block.
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
