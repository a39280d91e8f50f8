// 05 global_unroll_8_warp -- builds on 04 global_unroll
// Fixes:   the last six levels pay a block barrier although only one warp still works.
// How:     those levels are unrolled, with a warp barrier after each: since Volta the lanes of a warp may run apart.
// Expect:  a little faster: fewer barriers.
// Order:   fixed, the same as 04 with 8 tiles.
#pragma once

#include "backends/cuda/stages/04_global_unroll.cuh"
#include "backends/cuda/stages/common.cuh"

namespace fanin::cuda {

/// One warp folds values[0 .. min(size, 2 * First)) into values[0].
template <class A, unsigned First>
__device__ void fold_in_warp(typename A::state* values, unsigned lane, unsigned size) {
#pragma unroll
  for (unsigned stride = First; stride > 0; stride /= 2) {
    const auto step = steps::halving(lane, stride, size);
    if (step.works) A::merge(values[step.into], values[step.from]);
    __syncwarp();
  }
}

template <class A>
__global__ void __launch_bounds__(most_threads) global_unroll_8_warp_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  const auto begin = std::uint64_t{blockIdx.x} * blockDim.x * 8;
  const unsigned size = steps::in_tile(begin, a.count, blockDim.x * 8);
  auto* values = a.copy + begin;
  add_tiles<A, 8>(values, size);
  const unsigned left = size < blockDim.x ? size : blockDim.x;
  for (unsigned stride = steps::first_stride(blockDim.x); stride > 32; stride /= 2) {
    const auto step = steps::halving(threadIdx.x, stride, left);
    if (step.works) A::merge(values[step.into], values[step.from]);
    __syncthreads();
  }
  if (threadIdx.x < 32) fold_in_warp<A, 32>(values, threadIdx.x, left);
  store_first<A>(a, watch, values, size);
}

struct global_unroll_8_warp : stage_defaults {
  static constexpr stage_text text{5, "global-unroll-8-warp", "global-unroll-8",
                                   "the last warp is unrolled, without block barriers"};
  static constexpr bool in_place = true;
  static constexpr unsigned tile(unsigned threads, unsigned) { return threads * 8; }
  template <class A>
  static auto kernel(unsigned) {
    return &global_unroll_8_warp_kernel<A>;
  }
};

}  // namespace fanin::cuda
