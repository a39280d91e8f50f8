// SPDX-License-Identifier: Apache-2.0
// 12 unroll_last_warp -- builds on 11 add_on_load
// Fixes:   the last six levels pay a block barrier although only one warp still works.
// How:     one warp finishes alone, unrolled, with a warp barrier after each level: lock-step ended with Volta.
// Expect:  faster: at 256 threads 3 block barriers instead of 9.
// Order:   fixed, the same as 11.
#pragma once

#include "backends/cuda/stages/11_add_on_load.cuh"

namespace fanin::cuda {

template <class A>
__global__ void __launch_bounds__(most_threads) unroll_last_warp_kernel(stage_arguments<A> a) {
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
  store_first<A>(a, watch, values, blockDim.x);
}

struct unroll_last_warp : add_on_load {
  static constexpr stage_text text{12, "unroll-last-warp", "add-on-load",
                                   "one warp finishes alone, without block barriers"};
  template <class A>
  static auto kernel(unsigned) {
    return &unroll_last_warp_kernel<A>;
  }
};

}  // namespace fanin::cuda
