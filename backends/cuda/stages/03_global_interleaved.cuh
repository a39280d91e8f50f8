// SPDX-License-Identifier: Apache-2.0
// 03 global_interleaved -- builds on 02 global_neighbored_less
// Fixes:   threads of a warp touch values 2 * stride apart, so that a warp's access takes many transactions.
// How:     the stride halves from half the block down to 1; neighbouring threads touch neighbouring values.
// Expect:  faster: every access is coalesced.
// Order:   fixed, so run-to-run reproducible.
#pragma once

#include "backends/cuda/stages/02_global_neighbored_less.cuh"

namespace fanin::cuda {

template <class A>
__global__ void __launch_bounds__(most_threads) global_interleaved_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  const auto [values, size] = part_of_copy<A>(a);
  const unsigned thread = threadIdx.x;
  for (unsigned stride = steps::first_stride(blockDim.x); stride > 0; stride /= 2) {
    if (thread < stride && thread + stride < size) A::merge(values[thread], values[thread + stride]);
    __syncthreads();
  }
  store_first<A>(a, watch, values, size);
}

struct global_interleaved : global_neighbored_less {
  static constexpr stage_text text{3, "global-interleaved", "global-neighbored-less",
                                   "the stride halves, so that neighbouring threads touch neighbouring values"};
  template <class A>
  static auto kernel(unsigned) {
    return &global_interleaved_kernel<A>;
  }
};

}  // namespace fanin::cuda
