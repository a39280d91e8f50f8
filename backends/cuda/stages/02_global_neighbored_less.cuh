// 02 global_neighbored_less -- builds on 01 global_neighbored
// Fixes:   a few working threads in every warp: warps diverge and rest in part.
// How:     the same pairs, renumbered: the first threads take all the work, at 2 * stride * thread.
// Expect:  faster: whole warps rest. Addresses of neighbouring threads are now far apart.
// Order:   fixed, the same as 01.
#pragma once

#include "backends/cuda/stages/common.cuh"

namespace fanin::cuda {

template <class A>
__global__ void __launch_bounds__(most_threads) global_neighbored_less_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  const auto begin = std::uint64_t{blockIdx.x} * blockDim.x;
  const unsigned size = steps::in_tile(begin, a.count, blockDim.x);
  auto* values = a.copy + begin;
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    const auto step = steps::strided(threadIdx.x, stride, size);
    if (step.works) A::merge(values[step.into], values[step.from]);
    __syncthreads();
  }
  store_first<A>(a, watch, values, size);
}

struct global_neighbored_less : stage_defaults {
  static constexpr stage_text text{2, "global-neighbored-less", "global-neighbored",
                                   "the same pairs, renumbered so that whole warps work"};
  static constexpr bool in_place = true;
  template <class A>
  static auto kernel(unsigned) {
    return &global_neighbored_less_kernel<A>;
  }
};

}  // namespace fanin::cuda
