// SPDX-License-Identifier: Apache-2.0
// The counts of elements that take part, as they are in device memory.
#pragma once

#include <cstdint>

namespace fanin::cuda {

/// The facts that kernels find out about elements that may be absent.
struct presence_counts {
  /// The index of the first element that takes part, or the largest number if no element does. It is 0 if no other
  /// element stands for absent elements.
  std::uint64_t first;
  std::uint64_t present;  ///< elements that take part
};

}  // namespace fanin::cuda
