// SPDX-License-Identifier: Apache-2.0
// 14 atomic_block -- builds on 12 unroll_last_warp
// Fixes:   the second step that folds the partials.
// How:     thread 0 of each block merges its partial into the result with an atomic operation of the device: sums,
//          min and max. Products have none: they retry compare-and-swap until no other block came between.
// Expect:  no gain: the result must be set to the identity first, by a launch too, and blocks queue for one address.
//          Swapping is far slower: each block waits until the one before it is done.
// Order:   the order in which blocks arrive. Sums and products of floats may differ from run to run.
#pragma once

#include "backends/cuda/stages/12_unroll_last_warp.cuh"
#include "backends/cuda/stages/atomic_merge.cuh"

namespace fanin::cuda {

template <class A>
__device__ void atomic_block_body(const stage_arguments<A>& a) {
  const stopwatch watch(a.cycles);
  auto* values = dynamic_shared<typename A::state>();
  values[threadIdx.x] = load_two<A>(a);
  __syncthreads();
  fold_halving_and_warp<A>(values, blockDim.x);
  if (threadIdx.x == 0) {
    merge_atomically<A>(a.result, values[0]);
    watch.stop();
  }
}

template <class A>
__global__ void __launch_bounds__(most_threads) atomic_block_kernel(stage_arguments<A> a) {
  if constexpr (swaps_16_bytes<A>) {
    NV_IF_TARGET(NV_PROVIDES_SM_90, (atomic_block_body<A>(a);))
  } else {
    atomic_block_body<A>(a);
  }
}

struct atomic_block : unroll_last_warp {
  static constexpr stage_text text{14, "atomic-block", "unroll-last-warp",
                                   "one atomic for each block, no second step",
                                   "compute capability 9.0 for products and squares of integers"};
  static constexpr auto reproducibility = fanin::reproducibility::none;
  static constexpr stage_ending ending = stage_ending::atomics;
  template <class A>
  static constexpr int architecture = swaps_16_bytes<A> ? 90 : 75;
  template <class A>
  static auto kernel(unsigned) {
    return &atomic_block_kernel<A>;
  }
};

}  // namespace fanin::cuda
