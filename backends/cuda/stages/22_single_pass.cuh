// SPDX-License-Identifier: Apache-2.0
// 22 single_pass -- builds on 20 vectorized
// Fixes:   the second launch, and the time between the two.
// How:     blocks count their arrivals; the last one to arrive adds the partials, in the order of the blocks.
// Expect:  latency falls by one launch; nothing at large n, where a launch is 1 % of the time.
// Order:   fixed whichever block is last, so run-to-run reproducible.
#pragma once

#include <fanin/cuda/grid_fold.cuh>
#include "backends/cuda/stages/20_vectorized.cuh"

namespace fanin::cuda {

/// Stores the block's sum, which thread 0 has. The last block of the grid writes the sum of all. All threads call it.
/// The counter of arrivals is back at 0 afterwards, ready for the next launch in the stream.
template <class A>
__device__ void finish_in_last_block(const stage_arguments<A>& a, const stopwatch& watch, typename A::state s) {
  store_partial<A>(a, watch, s);
  if (!is_last_block(a.arrivals)) return;
  s = block_fold<A>(fold_partials<A, 4>(a.partials, gridDim.x));
  if (threadIdx.x == 0) *a.result = s;
}

/// One block of 1024 threads on a multiprocessor is enough: with registers for two, fewer loads would be under way.
template <class A>
__global__ void __launch_bounds__(most_threads, 1) single_pass_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  finish_in_last_block<A>(a, watch, block_fold<A>(fold_vectors<A>(a)));
}

struct single_pass : vectorized {
  static constexpr stage_text text{22, "single-pass", "vectorized",
                                   "the last block to finish folds the partials, in order"};
  static constexpr stage_ending ending = stage_ending::none;
  template <class A>
  static auto kernel(unsigned) {
    return &single_pass_kernel<A>;
  }
};

}  // namespace fanin::cuda
