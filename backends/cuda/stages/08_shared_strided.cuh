// SPDX-License-Identifier: Apache-2.0
// 08 shared_strided -- builds on 07 shared_mask
// Fixes:   working threads are spread over all warps.
// How:     the first threads take all the work, at index 2 * stride * thread.
// Expect:  divergence is gone; threads of a warp now touch the same shared-memory bank, 2 to 32 at once.
// Result:  slower than 07 on an H200: 656 GB/s against 752 for the sum of 2^28 floats. A step is so short that the
//          compiler predicates it: warps that rest issue it all the same, and bank conflicts come on top.
// Order:   fixed, the same as 06.
#pragma once

#include "backends/cuda/stages/common.cuh"

namespace fanin::cuda {

template <class A>
__global__ void __launch_bounds__(most_threads) shared_strided_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  __shared__ typename A::state values[most_threads];
  const unsigned thread = threadIdx.x;
  values[thread] = load_one<A>(a);
  __syncthreads();
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    const unsigned into = 2 * stride * thread;
    if (into + stride < blockDim.x) A::merge(values[into], values[into + stride]);
    __syncthreads();
  }
  store_first<A>(a, watch, values, blockDim.x);
}

struct shared_strided : stage_defaults {
  static constexpr stage_text text{8, "shared-strided", "shared-mask",
                                   "whole warps work, at 2 * stride * thread: bank conflicts appear"};
  template <class A>
  static auto kernel(unsigned) {
    return &shared_strided_kernel<A>;
  }
};

}  // namespace fanin::cuda
