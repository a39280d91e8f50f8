// SPDX-License-Identifier: Apache-2.0
// 13 unroll_complete -- builds on 12 unroll_last_warp
// Fixes:   loop counters, comparisons and bound checks at each level.
// How:     the block size is a template parameter, so that every step is unrolled and tests vanish.
// Expect:  a little faster where the tree counts; nothing where memory does.
// Order:   fixed, the same as 12.
#pragma once

#include "backends/cuda/stages/12_unroll_last_warp.cuh"

namespace fanin::cuda {

template <class A, unsigned Threads>
__global__ void __launch_bounds__(Threads) unroll_complete_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  auto* values = dynamic_shared<typename A::state>();
  const unsigned thread = threadIdx.x;
  values[thread] = load_two<A>(a);
  __syncthreads();
#pragma unroll
  for (unsigned stride = Threads / 2; stride > 32; stride /= 2) {
    if (thread < stride && thread + stride < Threads) A::merge(values[thread], values[thread + stride]);
    __syncthreads();
  }
  if (thread < 32) {
#pragma unroll
    for (unsigned stride = 32; stride > 0; stride /= 2) {
      if (thread < stride && thread + stride < Threads) A::merge(values[thread], values[thread + stride]);
      __syncwarp();
    }
  }
  store_first<A>(a, watch, values, Threads);
}

struct unroll_complete : unroll_last_warp {
  static constexpr stage_text text{13, "unroll-complete", "unroll-last-warp",
                                   "the block size is known to the compiler: every step unrolled",
                                   "block sizes that are powers of two; others are rounded down"};
  static constexpr unsigned rounded(unsigned threads) { return steps::first_stride(threads + 1); }
  template <class A>
  static auto kernel(unsigned threads) {
    switch (threads) {
      case 1024:
        return &unroll_complete_kernel<A, 1024>;
      case 512:
        return &unroll_complete_kernel<A, 512>;
      case 256:
        return &unroll_complete_kernel<A, 256>;
      case 128:
        return &unroll_complete_kernel<A, 128>;
      case 64:
        return &unroll_complete_kernel<A, 64>;
      default:
        return &unroll_complete_kernel<A, 32>;
    }
  }
};

}  // namespace fanin::cuda
