// 03 global_interleaved -- builds on 02 global_neighbored_less
// Fixes:   threads of a warp touch values 2 * stride apart, so that a warp's access takes many transactions.
// How:     the stride halves from half the block down to 1; neighbouring threads touch neighbouring values.
// Expect:  faster: every access is coalesced.
// Order:   fixed, so run-to-run reproducible.
#pragma once

#include "backends/cuda/stages/common.cuh"

namespace fanin::cuda {

template <class A>
__global__ void __launch_bounds__(most_threads) global_interleaved_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  const auto begin = std::uint64_t{blockIdx.x} * blockDim.x;
  const unsigned size = steps::in_tile(begin, a.count, blockDim.x);
  auto* values = a.copy + begin;
  for (unsigned stride = steps::first_stride(blockDim.x); stride > 0; stride /= 2) {
    const auto step = steps::halving(threadIdx.x, stride, size);
    if (step.works) A::merge(values[step.into], values[step.from]);
    __syncthreads();
  }
  store_first<A>(a, watch, values, size);
}

struct global_interleaved : stage_defaults {
  static constexpr stage_text text{3, "global-interleaved", "global-neighbored-less",
                                   "the stride halves, so that neighbouring threads touch neighbouring values"};
  static constexpr bool in_place = true;
  template <class A>
  static auto kernel(unsigned) {
    return &global_interleaved_kernel<A>;
  }
};

}  // namespace fanin::cuda
