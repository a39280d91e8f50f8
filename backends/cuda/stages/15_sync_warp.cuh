// SPDX-License-Identifier: Apache-2.0
// 15 sync_warp -- builds on 12 unroll_last_warp
// Fixes:   block barriers that couple warps which have nothing to tell each other yet.
// How:     every warp adds its own 32 values in shared memory with warp barriers; one block barrier, then one warp
//          adds the warps' results. Nothing relies on lock-step, which independent thread scheduling took away.
// Expect:  as fast as 12, at 256 threads with two block barriers fewer and two levels more. Slower than 13, which it
//          does not build on: the compiler does not know the block size.
// Order:   fixed, so run-to-run reproducible.
#pragma once

#include "backends/cuda/stages/12_unroll_last_warp.cuh"

namespace fanin::cuda {

template <class A>
__global__ void __launch_bounds__(most_threads) sync_warp_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  auto* values = dynamic_shared<typename A::state>();
  const unsigned thread = threadIdx.x, warp_thread = thread % 32, warps = blockDim.x / 32;
  values[thread] = load_two<A>(a);
  __syncwarp();
#pragma unroll
  for (unsigned stride = 16; stride > 0; stride /= 2) {
    if (warp_thread < stride) A::merge(values[thread], values[thread + stride]);
    __syncwarp();
  }
  __syncthreads();
  if (thread < 32) {
    const auto total = warp_thread < warps ? values[32 * warp_thread] : A::identity();
    __syncwarp();
    values[warp_thread] = total;
    __syncwarp();
#pragma unroll
    for (unsigned stride = 16; stride > 0; stride /= 2) {
      if (warp_thread < stride && warp_thread + stride < warps)
        A::merge(values[warp_thread], values[warp_thread + stride]);
      __syncwarp();
    }
  }
  store_first<A>(a, watch, values, blockDim.x);
}

struct sync_warp : unroll_last_warp {
  static constexpr stage_text text{15, "sync-warp", "unroll-last-warp",
                                   "every warp folds its own values with warp barriers; one block barrier"};
  template <class A>
  static auto kernel(unsigned) {
    return &sync_warp_kernel<A>;
  }
};

}  // namespace fanin::cuda
