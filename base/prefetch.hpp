// SPDX-License-Identifier: Apache-2.0
// Reading ahead, for input that comes from memory.
#pragma once

#include <hwy/base.h>

#include <cstddef>

namespace fanin {

/// The bytes from the line that is read to the line that is prefetched, into the L2 cache. From the memory of a Xeon
/// with 16 threads, exact sums have 0.60 to 0.65 of the read ceiling without prefetches, 0.70 to 0.80 at a distance
/// of 1 KiB into the L1 cache, 0.81 to 0.93 at 4 KiB, and 0.93 to 0.97 so. Plain sums gain 9 % over 4 KiB into L1.
constexpr std::size_t prefetch_distance = 8192;

/// Input of this size does not stay in the L1 and L2 caches, and its lines are prefetched. Input that stays there is
/// read more slowly with prefetches.
constexpr std::size_t least_prefetched_bytes = std::size_t{5} << 18;

/// Prefetches the line that is read prefetch_distance after the line at x, which need not exist.
/// GCC drops calls of a function that only prefetches unless it has to inline them.
HWY_INLINE void prefetch_line(const void* x) {
  __builtin_prefetch(static_cast<const char*>(x) + prefetch_distance, 0, 2);
}

}  // namespace fanin
