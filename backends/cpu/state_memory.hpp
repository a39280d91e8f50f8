// SPDX-License-Identifier: Apache-2.0
// Memory for raw states, and for elements that are copied before they are folded.
#pragma once

#include <cstddef>
#include <vector>

#include <fanin/loop.hpp>

namespace fanin::cpu {

/// Memory for raw states, aligned to detail::state_alignment.
class state_memory {
 public:
  /// Memory of at least `bytes`, whose previous contents may be lost.
  std::byte* get(std::size_t bytes) {
    if (lines_.size() < bytes / sizeof(line) + 1) lines_ = std::vector<line>(bytes / sizeof(line) + 1);
    return lines_.data()->bytes;
  }

 private:
  struct alignas(detail::state_alignment) line {
    std::byte bytes[detail::state_alignment];
  };
  std::vector<line> lines_;
};

}  // namespace fanin::cpu
