// SPDX-License-Identifier: Apache-2.0
// 16 warp_shuffle -- builds on 15 sync_warp
// Fixes:   each level inside a warp stores to shared memory, waits and loads again.
// How:     the threads of a warp shuffle registers; shared memory holds one slot for each warp, around the one
//          block barrier.
// Expect:  fewer clock cycles; latency falls at small n; no change where memory is the limit.
// Order:   fixed, the same as 15.
#pragma once

#include "backends/cuda/stages/11_add_on_load.cuh"

namespace fanin::cuda {

/// The sum over the warp, in its first thread. All threads of the warp call it.
template <class A>
__device__ typename A::state warp_fold(typename A::state s) {
#pragma unroll
  for (unsigned distance = 16; distance > 0; distance /= 2) A::merge(s, shuffle_down(s, distance));
  return s;
}

/// The sum over the block, in thread 0. All threads call it; a block barrier lies between two calls.
template <class A>
__device__ typename A::state block_fold(typename A::state s) {
  __shared__ typename A::state slots[most_threads / 32];
  const unsigned warp_thread = threadIdx.x % 32;
  s = warp_fold<A>(s);
  if (warp_thread == 0) slots[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x < 32) s = warp_fold<A>(warp_thread < blockDim.x / 32 ? slots[warp_thread] : A::identity());
  return s;
}

template <class A>
__global__ void __launch_bounds__(most_threads) warp_shuffle_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  store_partial<A>(a, watch, block_fold<A>(load_two<A>(a)));
}

struct warp_shuffle : stage_defaults {
  static constexpr stage_text text{16, "warp-shuffle", "sync-warp",
                                   "registers instead of shared memory inside a warp"};
  static constexpr unsigned tile(unsigned threads, unsigned) { return threads * 2; }
  template <class A>
  static auto kernel(unsigned) {
    return &warp_shuffle_kernel<A>;
  }
};

}  // namespace fanin::cuda
