// SPDX-License-Identifier: Apache-2.0
// 17 cooperative_groups -- builds on 16 warp_shuffle
// Fixes:   masks, thread numbers and shuffle distances spelled by hand.
// How:     the same two levels with tiled_partition and reduce.
// Expect:  the same speed, if the abstraction costs nothing.
// Result:  2112 GB/s against 2171 of 16 for the sum of 2^28 floats on an H200: every thread
//          computes ranks and sizes as they are in blocks of three dimensions.
// Order:   fixed by the library, so run-to-run reproducible.
#pragma once

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "backends/cuda/stages/16_warp_shuffle.cuh"

namespace fanin::cuda {

/// The sum over the block, in every thread of its first warp. All threads call it; a block barrier lies between two
/// calls.
template <class A>
__device__ typename A::state group_fold(const cooperative_groups::thread_block& block, typename A::state s) {
  __shared__ typename A::state slots[most_threads / 32];
  const auto warp = cooperative_groups::tiled_partition<32>(block);
  const cooperative_groups::plus<typename A::state> plus;
  s = cooperative_groups::reduce(warp, s, plus);
  if (warp.thread_rank() == 0) slots[warp.meta_group_rank()] = s;
  block.sync();
  if (warp.meta_group_rank() > 0) return s;
  const bool mine = warp.thread_rank() < warp.meta_group_size();
  s = mine ? slots[warp.thread_rank()] : A::identity();
  return cooperative_groups::reduce(warp, s, plus);
}

template <class A>
__global__ void __launch_bounds__(most_threads) cooperative_groups_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  store_partial<A>(a, watch, group_fold<A>(cooperative_groups::this_thread_block(), load_two<A>(a)));
}

struct cooperative_groups_reduce : warp_shuffle {
  static constexpr stage_text text{17, "cooperative-groups", "warp-shuffle",
                                   "the same with tiled_partition and reduce"};
  template <class A>
  static auto kernel(unsigned) {
    return &cooperative_groups_kernel<A>;
  }
};

}  // namespace fanin::cuda
