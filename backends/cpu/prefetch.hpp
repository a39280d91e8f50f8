// SPDX-License-Identifier: Apache-2.0
// What the loops prefetch of input that comes from memory.
#pragma once

#include <hwy/base.h>

#include <cstddef>

#include "base/prefetch.hpp"

namespace fanin::cpu {

/// Whether an array of `count` elements is prefetched. Kernels with many operations for each line
/// (Kernel::always_prefetches) gain from prefetches at any size.
template <class T>
constexpr bool is_long(std::size_t count) {
  return count >= least_prefetched_bytes / sizeof(T);
}

/// The number of elements that stay in the L1 cache between two passes.
template <class T>
consteval std::size_t twice_read() {
  return 16384 / sizeof(T);
}

/// Rows that are far apart are prefetched so many rows before they are read: the processor does not foresee them.
constexpr std::ptrdiff_t rows_ahead = 16;
/// Prefetches a row of so many bytes, which need not exist.
HWY_INLINE void prefetch_row(const void* row, std::size_t bytes) {
  for (std::size_t b = 0; b < bytes; b += 64) __builtin_prefetch(static_cast<const char*>(row) + b);
}

}  // namespace fanin::cpu
