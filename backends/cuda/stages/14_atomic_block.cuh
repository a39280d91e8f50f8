// SPDX-License-Identifier: Apache-2.0
// 14 atomic_block -- builds on 12 unroll_last_warp
// Fixes:   the second step that adds the partials.
// How:     thread 0 of each block adds its partial to the result with an atomic operation of the device.
// Expect:  no gain: the result must be set to the identity first, by a launch too, and blocks queue for one address.
// Order:   the order in which blocks arrive. Sums of floats may differ from run to run.
#pragma once

#include "backends/cuda/stages/12_unroll_last_warp.cuh"
#include "backends/cuda/stages/add_atomically.cuh"

namespace fanin::cuda {

template <class A>
__global__ void __launch_bounds__(most_threads) atomic_block_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  auto* values = dynamic_shared<typename A::state>();
  const unsigned thread = threadIdx.x;
  values[thread] = load_two<A>(a);
  __syncthreads();
  for (unsigned stride = steps::first_stride(blockDim.x); stride > 32; stride /= 2) {
    if (thread < stride && thread + stride < blockDim.x) A::merge(values[thread], values[thread + stride]);
    __syncthreads();
  }
  if (thread < 32) {
#pragma unroll
    for (unsigned stride = 32; stride > 0; stride /= 2) {
      if (thread < stride && thread + stride < blockDim.x) A::merge(values[thread], values[thread + stride]);
      __syncwarp();
    }
  }
  if (thread == 0) {
    add_atomically(a.result, values[0]);
    watch.stop();
  }
}

struct atomic_block : unroll_last_warp {
  static constexpr stage_text text{14, "atomic-block", "unroll-last-warp",
                                   "one atomic for each block, no second step"};
  static constexpr auto reproducibility = fanin::reproducibility::none;
  static constexpr stage_ending ending = stage_ending::atomics;
  template <class A>
  static auto kernel(unsigned) {
    return &atomic_block_kernel<A>;
  }
};

}  // namespace fanin::cuda
