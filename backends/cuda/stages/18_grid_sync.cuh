// SPDX-License-Identifier: Apache-2.0
// 18 grid_sync -- builds on 17 cooperative_groups
// Fixes:   the second launch.
// How:     a cooperative launch of no more blocks than fit at once: each adds its tiles, all meet at a grid-wide
//          barrier, block 0 adds the partials.
// Expect:  one launch, but a barrier over all multiprocessors, and a cooperative launch costs more than a plain one.
// Order:   fixed for one number of blocks, so run-to-run reproducible.
#pragma once

#include "backends/cuda/stages/17_cooperative_groups.cuh"

namespace fanin::cuda {

template <class A>
__global__ void __launch_bounds__(most_threads) grid_sync_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  const auto grid = cooperative_groups::this_grid();
  const auto block = cooperative_groups::this_thread_block();
  auto s = A::identity();
  for_each_strided<4>(a.data, grid.thread_rank(), a.count, grid.num_threads(), [&](auto x) { A::add(s, x); });
  store_partial<A>(a, watch, group_fold<A>(block, s));
  grid.sync();
  if (blockIdx.x > 0) return;
  s = group_fold<A>(block, fold_partials<A, 4>(a.partials, gridDim.x));
  if (threadIdx.x == 0) *a.result = s;
}

struct grid_sync : stage_defaults {
  static constexpr stage_text text{18, "grid-sync", "cooperative-groups",
                                   "one cooperative launch and a grid-wide barrier",
                                   "a device with cooperative launches"};
  static constexpr stage_ending ending = stage_ending::none;
  static constexpr bool cooperative = true;
  static constexpr bool resident = true;
  static constexpr unsigned tile(unsigned threads, unsigned) { return threads * 4; }
  template <class A>
  static auto kernel(unsigned) {
    return &grid_sync_kernel<A>;
  }
};

}  // namespace fanin::cuda
