// SPDX-License-Identifier: Apache-2.0
// 19 grid_stride -- builds on 16 warp_shuffle
// Fixes:   blocks that live for one tile: their start, their barriers and their partials cost more than their loads.
// How:     as many blocks as fit at once; each thread folds every element that is a grid away from its first,
//          four loads at a time.
// Expect:  a large step at large n: now memory is the limit, and few partials are left to fold.
// Order:   fixed for one number of blocks, so run-to-run reproducible.
#pragma once

#include "backends/cuda/stages/16_warp_shuffle.cuh"

namespace fanin::cuda {

template <class A>
__global__ void __launch_bounds__(most_threads) grid_stride_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  const auto first = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const auto stride = std::uint64_t{gridDim.x} * blockDim.x;
  auto s = A::identity();
  for_each_strided<4>(a.data, first, a.count, stride, [&](auto x) { A::add(s, x); });
  store_partial<A>(a, watch, block_fold<A>(s));
}

struct grid_stride : stage_defaults {
  static constexpr stage_text text{19, "grid-stride", "warp-shuffle",
                                   "a grid that fits on the device; each thread folds many elements first"};
  static constexpr bool resident = true;
  static constexpr unsigned tile(unsigned threads, unsigned) { return threads * 4; }
  template <class A>
  static auto kernel(unsigned) {
    return &grid_stride_kernel<A>;
  }
};

}  // namespace fanin::cuda
