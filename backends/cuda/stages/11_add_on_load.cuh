// SPDX-License-Identifier: Apache-2.0
// 11 add_on_load -- builds on 10 shared_dynamic
// Fixes:   half of the threads load one value and never add.
// How:     each thread adds two elements while loading.
// Expect:  faster: half the blocks, and two loads in flight for each thread.
// Order:   fixed, so run-to-run reproducible.
#pragma once

#include "backends/cuda/stages/10_shared_dynamic.cuh"

namespace fanin::cuda {

/// The sum of this thread's two elements. A block reads two elements for each thread.
template <class A>
__device__ typename A::state load_two(const stage_arguments<A>& a) {
  const auto i = std::uint64_t{blockIdx.x} * blockDim.x * 2 + threadIdx.x;
  auto s = load<A>(a, i);
  if (i + blockDim.x < a.count) A::add(s, a.data[i + blockDim.x]);
  return s;
}

template <class A>
__global__ void __launch_bounds__(most_threads) add_on_load_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  auto* values = dynamic_shared<typename A::state>();
  const unsigned thread = threadIdx.x;
  values[thread] = load_two<A>(a);
  __syncthreads();
  for (unsigned stride = steps::first_stride(blockDim.x); stride > 0; stride /= 2) {
    if (thread < stride && thread + stride < blockDim.x) A::merge(values[thread], values[thread + stride]);
    __syncthreads();
  }
  store_first<A>(a, watch, values, blockDim.x);
}

struct add_on_load : shared_dynamic {
  static constexpr stage_text text{11, "add-on-load", "shared-dynamic",
                                   "each thread adds two elements while loading"};
  static constexpr unsigned tile(unsigned threads, unsigned) { return threads * 2; }
  template <class A>
  static auto kernel(unsigned) {
    return &add_on_load_kernel<A>;
  }
};

}  // namespace fanin::cuda
