// SPDX-License-Identifier: Apache-2.0
// Atomic additions to the ladder's results.
#pragma once

#include <cmath>
#include <cstdint>

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

}  // namespace fanin::cuda
