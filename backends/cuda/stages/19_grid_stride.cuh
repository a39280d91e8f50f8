// SPDX-License-Identifier: Apache-2.0
// 19 grid_stride -- builds on 16 warp_shuffle
// Fixes:   blocks that live for one tile: their start, their barriers and their partials cost more than their loads.
// How:     as many blocks as fit at once; each thread adds every element that is a grid away from its first,
//          four loads at a time.
// Expect:  a large step at large n: now memory is the limit, and few partials are left to fold.
// Order:   fixed for one number of blocks, so run-to-run reproducible.
#pragma once

#include "backends/cuda/stages/16_warp_shuffle.cuh"

namespace fanin::cuda {

template <class A>
__global__ void __launch_bounds__(most_threads) grid_stride_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  const auto stride = std::uint64_t{gridDim.x} * blockDim.x;
  auto i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  auto s = A::identity();
  typename A::element x[4];
  for (; i + 3 * stride < a.count; i += 4 * stride) {
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) x[k] = a.data[i + k * stride];
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) A::add(s, x[k]);
  }
#pragma unroll
  for (unsigned k = 0; k < 3; ++k)
    if (i + k * stride < a.count) x[k] = a.data[i + k * stride];
#pragma unroll
  for (unsigned k = 0; k < 3; ++k)
    if (i + k * stride < a.count) A::add(s, x[k]);
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
