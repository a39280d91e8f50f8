// SPDX-License-Identifier: Apache-2.0
// 09 shared_sequential -- builds on 08 shared_strided
// Fixes:   bank conflicts.
// How:     the stride halves from half the block down to 1, so that threads touch neighbouring words.
// Expect:  faster: neither divergence, but in the last warp, nor conflicts.
// Order:   fixed, so run-to-run reproducible.
#pragma once

#include "backends/cuda/stages/common.cuh"

namespace fanin::cuda {

template <class A>
__global__ void __launch_bounds__(most_threads) shared_sequential_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  __shared__ typename A::state values[most_threads];
  const unsigned thread = threadIdx.x;
  values[thread] = load_one<A>(a);
  __syncthreads();
  for (unsigned stride = steps::first_stride(blockDim.x); stride > 0; stride /= 2) {
    if (thread < stride && thread + stride < blockDim.x) A::merge(values[thread], values[thread + stride]);
    __syncthreads();
  }
  store_first<A>(a, watch, values, blockDim.x);
}

struct shared_sequential : stage_defaults {
  static constexpr stage_text text{9, "shared-sequential", "shared-strided",
                                   "the stride halves: no divergence, no bank conflicts"};
  template <class A>
  static auto kernel(unsigned) {
    return &shared_sequential_kernel<A>;
  }
};

}  // namespace fanin::cuda
