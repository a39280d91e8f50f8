// SPDX-License-Identifier: Apache-2.0
// 01 global_neighbored -- the start of the ladder
// Fixes:   one thread that adds everything: here every block adds its part as a tree.
// How:     in place in global memory; thread t adds its neighbour at stride 1, 2, 4, ... if t % (2 stride) == 0.
// Expect:  slow: in every warp most threads rest, and each level goes through the memory system.
// Order:   fixed, so run-to-run reproducible.
#pragma once

#include "backends/cuda/stages/common.cuh"

namespace fanin::cuda {

template <class A>
__global__ void __launch_bounds__(most_threads) global_neighbored_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  const auto [values, size] = part_of_copy<A>(a);
  const unsigned thread = threadIdx.x;
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    if (thread % (2 * stride) == 0 && thread + stride < size) A::merge(values[thread], values[thread + stride]);
    __syncthreads();
  }
  store_first<A>(a, watch, values, size);
}

struct global_neighbored : stage_defaults {
  static constexpr stage_text text{1, "global-neighbored", "", "pairs of neighbours, in place in global memory"};
  static constexpr bool in_place = true;
  template <class A>
  static auto kernel(unsigned) {
    return &global_neighbored_kernel<A>;
  }
};

}  // namespace fanin::cuda
