// SPDX-License-Identifier: Apache-2.0
// The counts of elements that take part, as they are in device memory.
#pragma once

#include <cstdint>

namespace fanin::cuda {

/// What kernels find out about elements that may be absent.
struct presence_counts {
  /// Where another element stands for absent ones, the index of the first element that takes part, or the largest
  /// number if none does. Otherwise 0.
  std::uint64_t first;
  std::uint64_t present;  ///< elements that take part
};

}  // namespace fanin::cuda
