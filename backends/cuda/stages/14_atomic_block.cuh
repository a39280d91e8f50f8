// SPDX-License-Identifier: Apache-2.0
// 14 atomic_block -- builds on 12 unroll_last_warp
// Fixes:   the second step that folds the partials.
// How:     thread 0 of each block adds its partial to the result with an atomic operation of the device.
// Expect:  no gain: the result must be set to the identity first, by a launch too, and blocks queue for one address.
// Order:   the order in which blocks arrive. Sums of floats may differ from run to run.
#pragma once

#include "backends/cuda/stages/12_unroll_last_warp.cuh"

namespace fanin::cuda {

/// Adds x to *total, to which other blocks may add at the same time.
__device__ inline void add_atomically(std::int64_t* total, std::int64_t x) {
  atomicAdd(reinterpret_cast<unsigned long long*>(total), static_cast<unsigned long long>(x));
}
__device__ inline void add_atomically(double* total, double x) { atomicAdd(total, x); }
/// The device's atomic addition of floats takes subnormal numbers, below 2^-126, for 0. From |x| = 2^-101 on that
/// changes nothing: the floats around x lie 2^-125 apart, so that a subnormal total is rounded away, and a total that
/// nearly cancels x is a multiple of 2^-125, as the sum is then. A smaller x is added by compare-and-swap, which is
/// repeated until no other block has changed the total in between.
__device__ inline void add_atomically(float* total, float x) {
  if (!(std::fabs(x) < 0x1p-101f)) {
    atomicAdd(total, x);
    return;
  }
  auto* const bits = reinterpret_cast<int*>(total);
  int expected, seen = atomicAdd(bits, 0);
  do {
    expected = seen;
    seen = atomicCAS(bits, expected, __float_as_int(__int_as_float(expected) + x));
  } while (seen != expected);
}

template <class A>
__global__ void __launch_bounds__(most_threads) atomic_block_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  auto* values = dynamic_shared<typename A::state>();
  const unsigned thread = threadIdx.x;
  values[thread] = load_two<A>(a);
  __syncthreads();
  for (unsigned stride = steps::first_stride(blockDim.x); stride > 32; stride /= 2) {
    if (thread < stride && thread + stride < blockDim.x) A::merge(values[thread], values[thread + stride]);
    __syncthreads();
  }
  if (thread < 32) {
#pragma unroll
    for (unsigned stride = 32; stride > 0; stride /= 2) {
      if (thread < stride && thread + stride < blockDim.x) A::merge(values[thread], values[thread + stride]);
      __syncwarp();
    }
  }
  if (thread == 0) {
    add_atomically(a.result, values[0]);
    watch.stop();
  }
}

struct atomic_block : unroll_last_warp {
  static constexpr stage_text text{14, "atomic-block", "unroll-last-warp",
                                   "one atomic for each block, no second step"};
  static constexpr auto reproducibility = fanin::reproducibility::none;
  static constexpr stage_ending ending = stage_ending::atomics;
  template <class A>
  static auto kernel(unsigned) {
    return &atomic_block_kernel<A>;
  }
};

}  // namespace fanin::cuda
