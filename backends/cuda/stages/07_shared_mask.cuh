// SPDX-License-Identifier: Apache-2.0
// 07 shared_mask -- builds on 06 shared_modulo
// Fixes:   a division by a stride that is only known at run time, at each level.
// How:     the same tree with a bit mask: thread t works if (t & (2 stride - 1)) == 0.
// Expect:  fewer clock cycles in each block than 06; the divergence stays.
// Order:   fixed, the same as 06.
#pragma once

#include "backends/cuda/stages/common.cuh"

namespace fanin::cuda {

template <class A>
__global__ void __launch_bounds__(most_threads) shared_mask_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  __shared__ typename A::state values[most_threads];
  const unsigned thread = threadIdx.x;
  values[thread] = load_one<A>(a);
  __syncthreads();
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    const unsigned mask = 2 * stride - 1;
    if ((thread & mask) == 0 && thread + stride < blockDim.x) A::merge(values[thread], values[thread + stride]);
    __syncthreads();
  }
  store_first<A>(a, watch, values, blockDim.x);
}

struct shared_mask : stage_defaults {
  static constexpr stage_text text{7, "shared-mask", "shared-modulo",
                                   "the same tree, a bit mask instead of a division"};
  template <operation, class>
  static constexpr bool serves = true;
  template <class A>
  static auto kernel(unsigned) {
    return &shared_mask_kernel<A>;
  }
};

}  // namespace fanin::cuda
