// SPDX-License-Identifier: Apache-2.0
// 10 shared_dynamic -- builds on 09 shared_sequential
// Fixes:   shared memory for the largest block, whatever the block.
// How:     the launch sizes it: one value for each thread.
// Expect:  the same speed; wide states and small blocks leave room for more blocks on a multiprocessor.
// Order:   fixed, the same as 09.
#pragma once

#include "backends/cuda/stages/common.cuh"

namespace fanin::cuda {

template <class A>
__global__ void __launch_bounds__(most_threads) shared_dynamic_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  auto* values = dynamic_shared<typename A::state>();
  const unsigned thread = threadIdx.x;
  values[thread] = load_one<A>(a);
  __syncthreads();
  for (unsigned stride = steps::first_stride(blockDim.x); stride > 0; stride /= 2) {
    if (thread < stride && thread + stride < blockDim.x) A::merge(values[thread], values[thread + stride]);
    __syncthreads();
  }
  store_first<A>(a, watch, values, blockDim.x);
}

struct shared_dynamic : stage_defaults {
  static constexpr stage_text text{10, "shared-dynamic", "shared-sequential",
                                   "shared memory sized at launch: one kernel, every block size"};
  static constexpr std::size_t shared_bytes(unsigned threads, unsigned state_bytes) { return threads * state_bytes; }
  template <class A>
  static auto kernel(unsigned) {
    return &shared_dynamic_kernel<A>;
  }
};

}  // namespace fanin::cuda
