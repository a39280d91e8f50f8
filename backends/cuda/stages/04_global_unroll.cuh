// SPDX-License-Identifier: Apache-2.0
// 04 global_unroll -- builds on 03 global_interleaved
// Fixes:   one value for each thread: a block starts, waits for memory once and is over.
// How:     every thread first adds the values of 2, 4 or 8 tiles; these loads do not wait for each other.
// Expect:  faster with the number of tiles: more loads in flight, fewer blocks, fewer barriers for each value.
// Order:   fixed, so run-to-run reproducible.
#pragma once

#include "backends/cuda/stages/03_global_interleaved.cuh"

namespace fanin::cuda {

/// Adds the second tile and those after it to the first one.
template <class A, unsigned Tiles>
__device__ void add_tiles(typename A::state* values, unsigned size) {
  const unsigned thread = threadIdx.x;
  if (thread < size) {
    auto total = values[thread];
#pragma unroll
    for (unsigned tile = 1; tile < Tiles; ++tile) {
      const unsigned i = thread + tile * blockDim.x;
      A::merge(total, i < size ? values[i] : A::identity());
    }
    values[thread] = total;
  }
  __syncthreads();
}

template <class A, unsigned Tiles>
__global__ void __launch_bounds__(most_threads) global_unroll_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  const auto [values, size] = part_of_copy<A, Tiles>(a);
  add_tiles<A, Tiles>(values, size);
  const unsigned thread = threadIdx.x, first_tile = min(size, blockDim.x);
  for (unsigned stride = steps::first_stride(blockDim.x); stride > 0; stride /= 2) {
    if (thread < stride && thread + stride < first_tile) A::merge(values[thread], values[thread + stride]);
    __syncthreads();
  }
  store_first<A>(a, watch, values, size);
}

template <unsigned Tiles>
struct global_unroll : global_interleaved {
  static constexpr stage_text text =
      Tiles == 2   ? stage_text{4, "global-unroll-2", "global-interleaved", "each block first adds 2 tiles"}
      : Tiles == 4 ? stage_text{4, "global-unroll-4", "global-unroll-2", "each block first adds 4 tiles"}
                   : stage_text{4, "global-unroll-8", "global-unroll-4", "each block first adds 8 tiles"};
  static constexpr unsigned tile(unsigned threads, unsigned) { return threads * Tiles; }
  template <class A>
  static auto kernel(unsigned) {
    return &global_unroll_kernel<A, Tiles>;
  }
};

}  // namespace fanin::cuda
