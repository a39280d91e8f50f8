// SPDX-License-Identifier: Apache-2.0
// 02 global_neighbored_less -- builds on 01 global_neighbored
// Fixes:   a few working threads in every warp: warps diverge and rest in part.
// How:     the same pairs, renumbered: the first threads take all the work, at 2 * stride * thread.
// Expect:  faster: whole warps rest. Addresses of neighbouring threads are now far apart.
// Order:   fixed, the same as 01.
#pragma once

#include "backends/cuda/stages/01_global_neighbored.cuh"

namespace fanin::cuda {

template <class A>
__global__ void __launch_bounds__(most_threads) global_neighbored_less_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  const auto [values, size] = part_of_copy<A>(a);
  const unsigned thread = threadIdx.x;
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    const unsigned into = 2 * stride * thread;
    if (into + stride < size) A::merge(values[into], values[into + stride]);
    __syncthreads();
  }
  store_first<A>(a, watch, values, size);
}

struct global_neighbored_less : global_neighbored {
  static constexpr stage_text text{2, "global-neighbored-less", "global-neighbored",
                                   "the same pairs, renumbered so that whole warps work"};
  template <class A>
  static auto kernel(unsigned) {
    return &global_neighbored_less_kernel<A>;
  }
};

}  // namespace fanin::cuda
