// SPDX-License-Identifier: Apache-2.0
// 06 shared_modulo -- builds on 01 global_neighbored
// Fixes:   every level of the tree goes through global memory.
// How:     each thread loads one value into shared memory; the tree of 01 runs there.
// Expect:  faster than 01: global memory is read once. Warps still diverge, and each thread divides at each level.
// Order:   fixed, the same as 01.
#pragma once

#include "backends/cuda/stages/common.cuh"

namespace fanin::cuda {

template <class A>
__global__ void __launch_bounds__(most_threads) shared_modulo_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  __shared__ typename A::state values[most_threads];
  const unsigned thread = threadIdx.x;
  values[thread] = load_one<A>(a);
  __syncthreads();
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    if (thread % (2 * stride) == 0 && thread + stride < blockDim.x) A::merge(values[thread], values[thread + stride]);
    __syncthreads();
  }
  store_first<A>(a, watch, values, blockDim.x);
}

struct shared_modulo : stage_defaults {
  static constexpr stage_text text{6, "shared-modulo", "global-neighbored",
                                   "the tree of neighbours in shared memory"};
  template <class A>
  static auto kernel(unsigned) {
    return &shared_modulo_kernel<A>;
  }
};

}  // namespace fanin::cuda
